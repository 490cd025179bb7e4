import type { Stores } from './contract.ts';

interface Entry {
  readonly value: unknown;
  lastAsked: number;
}

/** Named state of one data thread; what neither the live engine nor the one before it asked for is dropped. */
export class NamedStores implements Stores {
  readonly #entries = new Map<string, Entry>();
  #generation = 0;

  get<T>(key: string, make: () => T): T {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.lastAsked = this.#generation;
      // `as`: a key names one definition of one policy, whose state has one type.
      return known.value as T;
    }
    const value = make();
    this.#entries.set(key, { value, lastAsked: this.#generation });
    return value;
  }

  /** A new engine is live. */
  settle(): void {
    for (const [key, entry] of this.#entries) if (entry.lastAsked < this.#generation - 1) this.#entries.delete(key);
    this.#generation += 1;
  }
}
