/** What variables are where nobody sets them. */
const defaults = new Map<string, string>();

/** STICKPIN_VAR_NAME of the environment, else what the script says. */
function variable(name: string, otherwise?: string): string {
  const value = process.env[`STICKPIN_VAR_${name}`] ?? defaults.get(name) ?? otherwise;
  if (value === undefined) throw new Error(`STICKPIN_VAR_${name} is not set`);
  return value;
}

