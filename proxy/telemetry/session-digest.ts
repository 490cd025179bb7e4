import { hash } from 'node:crypto';

const CHARACTERS = 16;

/** What logs and traces show of the id of a session: the same for the same id, and of no use to anybody who reads it. */
export function sessionDigest(id: string): string {
  return hash('sha256', id).slice(0, CHARACTERS);
}
