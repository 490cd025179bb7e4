import { hash } from 'node:crypto';

import type { ApiKeys, KeyOwner } from './ir/policy/api-key.ts';

/** 32-bit words of a SHA-256. */
const DIGEST_WORDS = 8;
/** Of one key: its digest, and the number of its owner. */
const ROW_WORDS = DIGEST_WORDS + 1;

export interface KnownKey {
  /** SHA-256, 64 hexadecimal digits. */
  readonly digest: string;
  readonly owner: KeyOwner;
}

/**
 * Packs keys into one table: a row for each key in the order given, then a hash table of at least two places for each row,
 * which hold the number of a row from 1 on, or 0.
 */
export function packKeys(keys: readonly KnownKey[]): ApiKeys {
  const owners: KeyOwner[] = [];
  const known = new Map<string, number>();
  const places = 2 ** Math.ceil(Math.log2(2 * Math.max(1, keys.length)));
  const table = new SharedArrayBuffer(4 * (keys.length * ROW_WORDS + places));
  const words = new Uint32Array(table);
  for (const [row, { digest, owner }] of keys.entries()) {
    const text = JSON.stringify(owner);
    const number = known.get(text) ?? owners.push(owner) - 1;
    known.set(text, number);
    const bytes = Buffer.from(digest, 'hex');
    for (let word = 0; word < DIGEST_WORDS; word++) words[row * ROW_WORDS + word] = bytes.readUInt32BE(4 * word);
    words[row * ROW_WORDS + DIGEST_WORDS] = number;
    place(words, { row, rows: keys.length });
  }
  return { count: keys.length, table, owners };
}

/** What is known of each key, in the order in which they are listed. */
export function ownersOf({ count, table, owners }: ApiKeys): KeyOwner[] {
  const words = new Uint32Array(table);
  return Array.from({ length: count }, (_, row) => owners[words[row * ROW_WORDS + DIGEST_WORDS] ?? 0] ?? {});
}

function place(words: Uint32Array, { row, rows }: { readonly row: number; readonly rows: number }): void {
  const start = rows * ROW_WORDS;
  const mask = words.length - start - 1;
  let at = (words[row * ROW_WORDS] ?? 0) & mask;
  while (words[start + at] !== 0) at = (at + 1) & mask;
  words[start + at] = row + 1;
}

/**
 * Finds the owner of a key. The time that it takes tells nothing of a known key: what is compared is the SHA-256 of what
 * was presented, which nobody can choose, and digests are compared to their end.
 */
export class KeyFinder {
  readonly #words: Uint32Array;
  readonly #owners: readonly KeyOwner[];
  /** Where the places begin. */
  readonly #start: number;
  readonly #mask: number;

  constructor({ count, table, owners }: ApiKeys) {
    this.#words = new Uint32Array(table);
    this.#owners = owners;
    this.#start = count * ROW_WORDS;
    this.#mask = this.#words.length - this.#start - 1;
  }

  /** Undefined when the key is not known. */
  find(presented: string): KeyOwner | undefined {
    // A string of octets costs less than a buffer.
    const digest = hash('sha256', presented, 'binary');
    const words = this.#words;
    for (let at = wordOf(digest, 0) & this.#mask; ; at = (at + 1) & this.#mask) {
      const row = words[this.#start + at] ?? 0;
      if (row === 0) return undefined;
      const first = (row - 1) * ROW_WORDS;
      if (this.#isAt(first, digest)) return this.#owners[words[first + DIGEST_WORDS] ?? 0];
    }
  }

  #isAt(first: number, digest: string): boolean {
    let difference = 0;
    for (let word = 0; word < DIGEST_WORDS; word++) {
      difference |= (this.#words[first + word] ?? 0) ^ wordOf(digest, word);
    }
    return difference === 0;
  }
}

function wordOf(octets: string, word: number): number {
  const at = 4 * word;
  return (
    (octets.charCodeAt(at) << 24) |
    (octets.charCodeAt(at + 1) << 16) |
    (octets.charCodeAt(at + 2) << 8) |
    octets.charCodeAt(at + 3)
  );
}
