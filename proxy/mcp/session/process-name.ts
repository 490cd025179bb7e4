import { createHash } from 'node:crypto';

/** The same in every data thread of a process, and in no other process. */
export function processNameOf(ticketSecret: SharedArrayBuffer): string {
  const secret = Buffer.from(new Uint8Array(ticketSecret));
  return createHash('sha256').update('mcp sessions of ').update(secret).digest('hex').slice(0, 16);
}
