import { createHash } from 'node:crypto';

const ALLOWED = /^[A-Za-z0-9_-]{1,64}$/;
const MAX = 64;
const KEPT_BEFORE_HASH = 57;

/**
 * Names as Bedrock takes them (`[A-Za-z0-9_-]{1,64}`), unique within one request, and the way back. The same names, asked for
 * in the same order, always become the same: what is cached stays valid.
 */
export class SafeNames {
  readonly #safe = new Map<string, string>();
  readonly #original = new Map<string, string>();
  readonly #empty: string;

  /** `empty` is what a name without a character becomes. */
  constructor(empty: string) {
    this.#empty = empty;
  }

  of(name: string): string {
    const known = this.#safe.get(name);
    if (known !== undefined) return known;
    const safe = this.#free(name);
    this.#safe.set(name, safe);
    this.#original.set(safe, name);
    return safe;
  }

  /** What a name of the service's answer was before. */
  restored(safe: string): string {
    return this.#original.get(safe) ?? safe;
  }

  #free(name: string): string {
    const plain = ALLOWED.test(name) ? name : name.replace(/[^A-Za-z0-9_-]/gu, '_') || this.#empty;
    if (plain.length <= MAX && !this.#original.has(plain)) return plain;
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 6);
    const hashed = `${plain.slice(0, KEPT_BEFORE_HASH)}_${hash}`;
    for (let count = 1; ; count += 1) {
      const suffix = count === 1 ? '' : `_${count}`;
      const tried = `${hashed.slice(0, MAX - suffix.length)}${suffix}`;
      if (!this.#original.has(tried)) return tried;
    }
  }
}
