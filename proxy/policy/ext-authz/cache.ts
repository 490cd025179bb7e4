import { LRUCache } from 'lru-cache';

import type { Clock } from '../../exchange/wait.ts';
import type { Decision } from './decision.ts';

/** What the cache says about a request. */
export type Looked =
  | { readonly kind: 'hit'; readonly decision: Decision }
  /** Still good, but soon not: the one who gets this asks again. */
  | { readonly kind: 'refresh'; readonly decision: Decision }
  | { readonly kind: 'miss' };

interface Entry {
  readonly decision: Decision;
  readonly expiresAt: number;
  readonly refreshFrom: number;
  refreshing: boolean;
}

/** All decisions of one definition in one data thread together; denials carry bodies. */
const MAX_BYTES = 64 * 1024 * 1024;
const ENTRY_BYTES = 512;
const REFRESH_SHARE = 0.1;
const REFRESH_MS = 5000;
const miss: Looked = { kind: 'miss' };

/** Decisions for a time. Times are of the clock, milliseconds. */
export class DecisionCache {
  readonly #clock: Clock;
  readonly #entries: LRUCache<string, Entry>;

  constructor(maxEntries: number, clock: Clock) {
    this.#clock = clock;
    this.#entries = new LRUCache({ max: maxEntries, maxSize: MAX_BYTES, sizeCalculation: sizeOf });
  }

  get size(): number {
    return this.#entries.size;
  }

  look(key: string): Looked {
    const entry = this.#entries.get(key);
    if (entry === undefined) return miss;
    const now = this.#clock.now();
    if (now >= entry.expiresAt) {
      this.#entries.delete(key);
      return miss;
    }
    if (now < entry.refreshFrom || entry.refreshing) return { kind: 'hit', decision: entry.decision };
    entry.refreshing = true;
    return { kind: 'refresh', decision: entry.decision };
  }

  store(key: string, decision: Decision, ttlMs: number): void {
    const now = this.#clock.now();
    const expiresAt = now + ttlMs;
    const refreshFrom = expiresAt - Math.min(ttlMs * REFRESH_SHARE, REFRESH_MS);
    this.#entries.set(key, { decision, expiresAt, refreshFrom, refreshing: false });
  }

  /** The service has decided anew, and not for keeping. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  /** A refresh came to nothing: the next request may try again. Gives what is still good, or null. */
  keep(key: string): Decision | null {
    const entry = this.#entries.peek(key);
    if (entry === undefined || this.#clock.now() >= entry.expiresAt) return null;
    entry.refreshing = false;
    return entry.decision;
  }
}

function sizeOf({ decision }: Entry, key: string): number {
  const held = decision.kind === 'denied' ? decision.refusal : null;
  const headers = held?.headers?.values.reduce((sum, value) => sum + value.length, 0) ?? 0;
  const changes =
    decision.kind === 'allowed'
      ? [...decision.changes.headers, ...decision.responseHeaders].reduce((sum, { value }) => sum + value.length, 0)
      : 0;
  const metadata = decision.metadata === null ? 0 : JSON.stringify(decision.metadata).length;
  return ENTRY_BYTES + 2 * (key.length + headers + changes + metadata) + (held?.body?.byteLength ?? 0);
}
