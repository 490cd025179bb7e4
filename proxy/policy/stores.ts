import type { LastingState, Stores } from './contract.ts';

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
    for (const [key, { value, lastAsked }] of this.#entries) {
      if (lastAsked >= this.#generation) {
        if (isLasting(value)) value.settled?.();
        continue;
      }
      if (isLasting(value)) value.retired();
      if (lastAsked < this.#generation - 1) this.#drop(key, value);
    }
    this.#generation += 1;
  }

  /** The thread ends. */
  async close(): Promise<void> {
    const values = [...this.#entries.values()].map(({ value }) => value);
    this.#entries.clear();
    await Promise.all(values.filter(isLasting).map((value) => value.close()));
  }

  #drop(key: string, value: unknown): void {
    this.#entries.delete(key);
    if (isLasting(value)) void value.close();
  }
}

function isLasting(value: unknown): value is LastingState {
  if (typeof value !== 'object' || value === null || !('retired' in value && 'close' in value)) return false;
  return typeof value.retired === 'function' && typeof value.close === 'function';
}
