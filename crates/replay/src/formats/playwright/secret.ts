/** STICKPIN_SECRET_NAME of the environment. */
function secret(name: string): string {
  const value = process.env[`STICKPIN_SECRET_${name}`];
  if (value === undefined) throw new Error(`STICKPIN_SECRET_${name} is not set`);
  return value;
}

