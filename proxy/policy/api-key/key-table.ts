import { hash } from 'node:crypto';

import type { KnownApiKey } from '../../../src/config/ir/index.ts';
import type { JsonObject } from '../../exchange/attributes.ts';

const nothing: JsonObject = {};

/**
 * Keys by their SHA-256. The time of a look-up tells nothing of a key: what is compared is the hash of what was presented,
 * which nobody can choose. Keys without metadata share one entry.
 */
export class KeyTable {
  readonly #metadata = new Map<string, JsonObject>();

  constructor(keys: readonly KnownApiKey[]) {
    // `metadata` is JSON, as the schema has it.
    for (const key of keys) this.#metadata.set(binary(key.hash.reveal()), key.metadata ?? nothing);
  }

  /** What is known of the owner of a key; undefined when the key is none of the table. */
  find(presented: string): JsonObject | undefined {
    return this.#metadata.get(hash('sha256', presented, 'binary'));
  }
}

/** Half the memory of hexadecimal digits. */
function binary(hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1');
}
