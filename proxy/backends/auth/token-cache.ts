import { LRUCache } from 'lru-cache';

/** Something that is good until a time (epoch milliseconds); null leaves the time to the cache. */
export interface Expiring<T> {
  readonly value: T;
  readonly expiresAtMs: number | null;
}

export interface TokenCacheOptions {
  /** 0 remembers nothing. */
  readonly maxEntries: number;
  /** For what does not say how long it is good. */
  readonly defaultTtlMs: number;
  /** What has less than this left is neither used nor kept. */
  readonly marginMs: number;
  readonly now?: (() => number) | undefined;
}

/** Remembers tokens; those who ask for one while it is fetched share the answer. Failures are not remembered. */
export class TokenCache<T extends object | string> {
  readonly #options: TokenCacheOptions;
  readonly #now: () => number;
  readonly #known: LRUCache<string, { readonly value: T; readonly expiresAtMs: number }> | null;
  readonly #underWay = new Map<string, Promise<T>>();

  constructor(options: TokenCacheOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#known = options.maxEntries === 0 ? null : new LRUCache({ max: options.maxEntries });
  }

  /** Without a promise when it is known. */
  get(key: string, fetch: () => Promise<Expiring<T>>): T | Promise<T> {
    const known = this.#known?.get(key);
    if (known !== undefined) {
      if (known.expiresAtMs - this.#now() > this.#options.marginMs) return known.value;
      this.#known?.delete(key);
    }
    return this.#underWay.get(key) ?? this.#fetch(key, fetch);
  }

  #fetch(key: string, fetch: () => Promise<Expiring<T>>): Promise<T> {
    const fetching = fetch()
      .then((fetched) => this.#keep(key, fetched))
      .finally(() => this.#underWay.delete(key));
    if (this.#known !== null) this.#underWay.set(key, fetching);
    return fetching;
  }

  #keep(key: string, { value, expiresAtMs }: Expiring<T>): T {
    const now = this.#now();
    const end = expiresAtMs ?? now + this.#options.defaultTtlMs;
    if (end - now > this.#options.marginMs) this.#known?.set(key, { value, expiresAtMs: end });
    return value;
  }
}
