/** Closes a switch over a union: a variant that is added later fails to compile here. */
export function assertNever(value: never): never {
  throw new Error(`unexpected variant: ${JSON.stringify(value)}`);
}
