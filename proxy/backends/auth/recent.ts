interface Kept<T> {
  readonly value: T;
  readonly size: number;
}

export interface RecentLimits {
  readonly maxEntries: number;
  /** Of all entries together, in whatever `sizeOf` counts. */
  readonly maxSize: number;
}

/** What was used most recently, as much as fits. Takes no memory for entries that it does not have. */
export class Recent<T> {
  /** Oldest first. */
  readonly #entries = new Map<string, Kept<T>>();
  readonly #limits: RecentLimits;
  readonly #sizeOf: (value: T) => number;
  #size = 0;

  constructor(limits: RecentLimits, sizeOf: (value: T) => number) {
    this.#limits = limits;
    this.#sizeOf = sizeOf;
  }

  get(key: string): T | undefined {
    const kept = this.#entries.get(key);
    // While there is room for as many again, their order does not matter.
    if (kept !== undefined && this.#entries.size * 2 > this.#limits.maxEntries) {
      this.#entries.delete(key);
      this.#entries.set(key, kept);
    }
    return kept?.value;
  }

  set(key: string, value: T): void {
    this.delete(key);
    const size = this.#sizeOf(value);
    this.#entries.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limits.maxEntries && this.#size <= this.#limits.maxSize) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const kept = this.#entries.get(key);
    if (kept === undefined) return;
    this.#entries.delete(key);
    this.#size -= kept.size;
  }
}
