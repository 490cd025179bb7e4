import type { JsonObject } from '../../exchange/attributes.ts';
import type { Notes } from './contract.ts';

/** Reports the fields that have no place in the other format. A null asks for nothing. */
export function noteUncarried(body: JsonObject, carried: ReadonlySet<string>, notes: Notes, under = ''): void {
  for (const field in body) {
    if (body[field] !== null && !carried.has(field)) notes.dropped(`${under}${field}`);
  }
}
