/** The default values of variables. */
const defaults = new Map<string, string>();

/** Returns the environment variable STICKPIN_VAR_NAME, otherwise the default in the script. */
function variable(name: string, otherwise?: string): string {
  const value = process.env[`STICKPIN_VAR_${name}`] ?? defaults.get(name) ?? otherwise;
  if (value === undefined) throw new Error(`STICKPIN_VAR_${name} is not set`);
  return value;
}

