import type { RateLimitBucket } from '../../../src/config/ir/policy/local-rate-limit.ts';
import { field, threadOffsetMs, wordOf } from './bucket-rows.ts';

/** Budgets by identity. */
export interface Buckets {
  open(identity: string, limit: RateLimitBucket): Bucket;
}

/** What a data thread sees of the budgets of the replica. */
export class BucketView {
  readonly #words: BigInt64Array;
  readonly #offsetMs: number;

  constructor(memory: SharedArrayBuffer, offsetMs: number = threadOffsetMs()) {
    this.#words = new BigInt64Array(memory);
    this.#offsetMs = offsetMs;
  }

  /** The budgets of a configuration, whose rows the control thread has acquired. */
  among(rows: ReadonlyMap<string, number>): Buckets {
    return {
      open: (identity, limit) => {
        const row = rows.get(identity);
        if (row === undefined) throw new Error(`no row for the rate limit ${identity}`);
        return this.#open(row, limit);
      },
    };
  }

  #open(row: number, limit: RateLimitBucket): Bucket {
    const epochMs = Number(Atomics.load(this.#words, wordOf(row, field.epoch))) / 1000;
    return new Bucket(limit, { words: this.#words, at: wordOf(row, field.level), epochMs: epochMs - this.#offsetMs });
  }
}

interface BucketPlace {
  readonly words: BigInt64Array;
  readonly at: number;
  /** On the thread's own `performance.now()` scale. */
  readonly epochMs: number;
}

/**
 * One token bucket, shared with the other threads. Nothing waits for another thread: who loses the race for a token looks
 * again. What the last call found stays readable until the next.
 */
export class Bucket {
  readonly limit: RateLimitBucket;
  /** Tokens left after the last call. */
  remaining = 0;
  /** Milliseconds from the last call to the next fill; infinite when there is none. */
  untilFillMs = 0;
  readonly #place: BucketPlace;
  readonly #max: bigint;
  readonly #perFill: bigint;

  constructor(limit: RateLimitBucket, place: BucketPlace) {
    this.limit = limit;
    this.#place = place;
    this.#max = BigInt(limit.maxTokens);
    this.#perFill = BigInt(limit.tokensPerFill);
  }

  /** Takes tokens; false, and nothing taken, when there are not so many. `nowMs` is of `performance.now()`. */
  take(nowMs: number, count: number = 1): boolean {
    const { words, at } = this.#place;
    const filled = this.#filledAt(nowMs);
    const wanted = BigInt(count);
    for (;;) {
      const level = Atomics.load(words, at);
      const tokens = this.#tokens(level, filled);
      if (tokens < wanted) {
        this.remaining = Number(tokens);
        return false;
      }
      const left = tokens - wanted;
      if (Atomics.compareExchange(words, at, level, left - filled) !== level) continue;
      this.remaining = Number(left);
      return true;
    }
  }

  /** Tokens in the bucket now; takes none. */
  look(nowMs: number): number {
    const { words, at } = this.#place;
    this.remaining = Number(this.#tokens(Atomics.load(words, at), this.#filledAt(nowMs)));
    return this.remaining;
  }

  /** Takes what was used after all, down to nothing; what is negative comes back, up to the size. */
  settle(nowMs: number, used: number): void {
    if (used === 0) return;
    const { words, at } = this.#place;
    const filled = this.#filledAt(nowMs);
    for (;;) {
      const level = Atomics.load(words, at);
      const rest = this.#tokens(level, filled) - BigInt(used);
      const left = rest < 0n ? 0n : rest > this.#max ? this.#max : rest;
      if (Atomics.compareExchange(words, at, level, left - filled) !== level) continue;
      this.remaining = Number(left);
      return;
    }
  }

  #tokens(level: bigint, filled: bigint): bigint {
    return level + filled > this.#max ? this.#max : level + filled;
  }

  /** What all fills together have brought; notes when the next comes. */
  #filledAt(nowMs: number): bigint {
    const { fillIntervalMs, tokensPerFill } = this.limit;
    // Clocks of threads differ by microseconds: a bucket may seem to be made in the future.
    const sinceMade = Math.max(0, nowMs - this.#place.epochMs);
    const fills = Math.floor(sinceMade / fillIntervalMs);
    this.untilFillMs = tokensPerFill === 0 ? Number.POSITIVE_INFINITY : (fills + 1) * fillIntervalMs - sinceMade;
    return this.#perFill * BigInt(fills);
  }
}
