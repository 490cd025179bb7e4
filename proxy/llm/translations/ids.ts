import { randomBytes } from 'node:crypto';

/** An id of the gateway's own, for what the other format does not name: the prefix and 16 hexadecimal digits. */
export function newId(prefix: string): string {
  return `${prefix}${randomBytes(8).toString('hex')}`;
}
