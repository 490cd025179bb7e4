/** Clients write names as long as a message may be, and errors repeat them. */
const MAX_CHARACTERS = 1024;

/** As much of a text as a line of log has room for. */
export function short<T>(value: T): T | string {
  return typeof value === 'string' && value.length > MAX_CHARACTERS ? `${value.slice(0, MAX_CHARACTERS)}…` : value;
}
