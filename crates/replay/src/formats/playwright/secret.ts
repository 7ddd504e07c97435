/** Returns the environment variable STICKPIN_SECRET_NAME. */
function secret(name: string): string {
  const value = process.env[`STICKPIN_SECRET_${name}`];
  if (value === undefined) throw new Error(`STICKPIN_SECRET_${name} is not set`);
  return value;
}

