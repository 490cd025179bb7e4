import { Recent } from './recent.ts';

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
  /** What has less than this left is used while another is fetched; 0, the default, fetches nothing ahead. */
  readonly refreshMs?: number | undefined;
  readonly now?: (() => number) | undefined;
}

/** Of all tokens of one definition in one thread. */
const MAX_CHARACTERS = 32 * 1024 * 1024;
/** After a failure nothing is fetched ahead for so long. */
const REFRESH_AGAIN_MS = 5000;

interface Entry<T> {
  readonly value: T;
  readonly expiresAtMs: number;
  refreshAtMs: number;
}

/** Remembers tokens; those who ask for one while it is fetched share the answer. Failures are not remembered. */
export class TokenCache<T extends object | string> {
  readonly #options: TokenCacheOptions;
  readonly #now: () => number;
  readonly #known: Recent<Entry<T>> | null;
  readonly #underWay = new Map<string, Promise<T>>();

  constructor(options: TokenCacheOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#known =
      options.maxEntries === 0 ? null : new Recent<Entry<T>>({ ...options, maxSize: MAX_CHARACTERS }, sizeOf);
  }

  /** Without a promise when it is known. */
  get(key: string, fetch: () => Promise<Expiring<T>>): T | Promise<T> {
    const known = this.#known?.get(key);
    if (known !== undefined) {
      const now = this.#now();
      if (known.expiresAtMs - now > this.#options.marginMs) {
        if (now >= known.refreshAtMs) this.#refresh(key, known, fetch);
        return known.value;
      }
      this.#known?.delete(key);
    }
    return this.#underWay.get(key) ?? this.#fetch(key, fetch);
  }

  /** Nobody waits for it, and its failure is nobody's yet. */
  #refresh(key: string, known: Entry<T>, fetch: () => Promise<Expiring<T>>): void {
    known.refreshAtMs = this.#now() + REFRESH_AGAIN_MS;
    if (!this.#underWay.has(key)) this.#fetch(key, fetch).catch(() => {});
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
    const { marginMs, refreshMs = 0 } = this.#options;
    if (end - now > marginMs)
      this.#known?.set(key, { value, expiresAtMs: end, refreshAtMs: refreshAt(now, end, refreshMs) });
    return value;
  }
}

function sizeOf({ value }: Entry<object | string>): number {
  return typeof value === 'string' ? value.length : 1;
}

/** Short lives are not spent fetching: never before the middle. */
function refreshAt(now: number, end: number, refreshMs: number): number {
  return refreshMs === 0 ? Number.POSITIVE_INFINITY : Math.max(end - refreshMs, now + (end - now) / 2);
}
