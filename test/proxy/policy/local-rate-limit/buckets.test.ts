import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { describe, expect, test } from '@jest/globals';

import { BucketStore } from '../../../../proxy/policy/local-rate-limit/bucket-store.ts';
import { type Bucket, BucketView } from '../../../../proxy/policy/local-rate-limit/bucket-view.ts';
import type { RateLimitBucket } from '../../../../src/config/ir/policy/local-rate-limit.ts';
import type { HammerData } from './hammer.ts';

const HOUR_MS = 3_600_000;

function open(limit: RateLimitBucket, store = new BucketStore(4)): { bucket: Bucket; store: BucketStore } {
  const rows = store.acquireAll(['b']);
  return { bucket: new BucketView(store.buffer).among(rows).open('b', limit), store };
}

function taken(bucket: Bucket, tries: number, nowMs: number): number {
  return Array.from({ length: tries }, () => bucket.take(nowMs)).filter(Boolean).length;
}

describe('a bucket of tokens', () => {
  test('pays for what was used down to nothing, and owes nothing', () => {
    const { bucket } = open({ type: 'tokens', maxTokens: 100, tokensPerFill: 100, fillIntervalMs: 1000 });
    const made = performance.now();
    bucket.settle(made, 30);
    expect(bucket.look(made)).toBe(70);
    bucket.settle(made, 500);
    expect(bucket.look(made)).toBe(0);
    expect(bucket.look(made + 1001)).toBe(100);
  });

  test('takes many at once or none, and takes back what was too much, up to its size', () => {
    const { bucket } = open({ type: 'tokens', maxTokens: 100, tokensPerFill: 0, fillIntervalMs: 1000 });
    const now = performance.now();
    expect(bucket.take(now, 101)).toBe(false);
    expect(bucket.remaining).toBe(100);
    expect(bucket.take(now, 60)).toBe(true);
    expect(bucket.remaining).toBe(40);
    bucket.settle(now, -20);
    expect(bucket.look(now)).toBe(60);
    bucket.settle(now, -1000);
    expect(bucket.look(now)).toBe(100);
  });
});

describe('a bucket', () => {
  test('starts full, and is empty after as many as it holds', () => {
    const { bucket } = open({ maxTokens: 3, tokensPerFill: 1, fillIntervalMs: HOUR_MS });
    const now = performance.now();
    expect(bucket.take(now)).toBe(true);
    expect(bucket.remaining).toBe(2);
    expect(taken(bucket, 10, now)).toBe(2);
    expect(bucket.remaining).toBe(0);
    expect(bucket.untilFillMs).toBeLessThanOrEqual(HOUR_MS);
    expect(bucket.untilFillMs).toBeGreaterThan(HOUR_MS - 60_000);
  });

  test('gains what a fill adds with each interval, and never holds more than its size', () => {
    const { bucket } = open({ maxTokens: 5, tokensPerFill: 2, fillIntervalMs: 1000 });
    const made = performance.now();
    expect(taken(bucket, 9, made)).toBe(5);
    expect(taken(bucket, 9, made + 1001)).toBe(2);
    expect(taken(bucket, 9, made + 3001)).toBe(4);
    expect(taken(bucket, 9, made + 1_000_000)).toBe(5);
  });

  test('is never filled by fills of nothing, and holds nothing at size 0', () => {
    const { bucket } = open({ maxTokens: 1, tokensPerFill: 0, fillIntervalMs: 1 });
    const made = performance.now();
    expect(taken(bucket, 2, made)).toBe(1);
    expect(bucket.take(made + 10 * HOUR_MS)).toBe(false);
    expect(bucket.untilFillMs).toBe(Number.POSITIVE_INFINITY);
    expect(open({ maxTokens: 0, tokensPerFill: 0, fillIntervalMs: 1 }).bucket.take(made)).toBe(false);
  });

  test('stays exact at the largest numbers, for years', () => {
    const max = 4_294_967_295;
    const { bucket } = open({ maxTokens: max, tokensPerFill: max, fillIntervalMs: 1000 });
    const made = performance.now();
    for (const days of [0, 1, 400, 4000]) {
      expect(taken(bucket, 3, made + days * 24 * HOUR_MS)).toBe(3);
      expect(bucket.remaining).toBe(max - 3);
    }
  });

  test('takes a clock that lags behind for the time of the last fill', () => {
    const { bucket } = open({ maxTokens: 2, tokensPerFill: 1, fillIntervalMs: 1000 });
    const made = performance.now();
    expect(taken(bucket, 3, made + 5000)).toBe(2);
    expect(taken(bucket, 3, made - 5000)).toBe(0);
  });

  test('gives what a bucket of plain arithmetic gives, whatever the times', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const random = generator(seed);
      const maxTokens = 1 + Math.floor(random() * 20);
      const limit = { maxTokens, tokensPerFill: Math.floor(random() * (maxTokens + 1)), fillIntervalMs: 10 };
      const { bucket } = open(limit);
      const model = { tokens: maxTokens, fills: 0 };
      const made = performance.now();
      let at = 0;
      const wrong: unknown[] = [];
      for (let i = 0; i < 200; i++) {
        at += Math.floor(random() * 30) / 2;
        // In the middle of an interval, so that the time of making the bucket does not matter.
        const fills = Math.floor(at / 10);
        model.tokens = Math.min(maxTokens, model.tokens + (fills - model.fills) * limit.tokensPerFill);
        model.fills = fills;
        const admitted = model.tokens > 0;
        if (admitted) model.tokens -= 1;
        if (bucket.take(made + fills * 10 + 5) !== admitted || bucket.remaining !== model.tokens)
          wrong.push({ seed, i, left: bucket.remaining, expected: model.tokens });
      }
      expect(wrong).toEqual([]);
    }
  });
});

describe('a bucket that threads share', () => {
  async function hammer(limit: RateLimitBucket, options: { tries: number; frozen: boolean }) {
    const store = new BucketStore(1);
    const rows = store.acquireAll(['b']);
    const threads = 4;
    const counters = new SharedArrayBuffer((2 + threads) * 4);
    const counts = new Int32Array(counters);
    const began = performance.now();
    const workers = Array.from({ length: threads }, (_, thread) => {
      const workerData: HammerData = {
        memory: store.buffer,
        rows,
        limit,
        counters,
        thread,
        tries: options.tries,
        frozen: options.frozen,
      };
      return new Worker(new URL('./hammer.ts', import.meta.url), { workerData });
    });
    const ends = workers.map((worker) => once(worker, 'exit'));
    while (Atomics.load(counts, 0) < threads) {
      const waiting = Atomics.waitAsync(counts, 0, Atomics.load(counts, 0), 1000);
      if (waiting.async) await waiting.value;
    }
    Atomics.store(counts, 1, 1);
    Atomics.notify(counts, 1);
    await Promise.all(ends);
    const left = new BucketView(store.buffer).among(rows).open('b', limit);
    return { admitted: Array.from(counts.slice(2)), elapsedMs: performance.now() - began, left };
  }

  test('admits exactly as many as it holds, over all of them', async () => {
    const maxTokens = 50_000;
    const limit = { maxTokens, tokensPerFill: 1, fillIntervalMs: 10 * HOUR_MS };
    const { admitted, left } = await hammer(limit, { tries: 40_000, frozen: true });
    expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(maxTokens);
    expect(left.take(performance.now())).toBe(false);
  });

  test('loses none when there are more than enough', async () => {
    const limit = { maxTokens: 1_000_000, tokensPerFill: 0, fillIntervalMs: HOUR_MS };
    const { admitted, left } = await hammer(limit, { tries: 20_000, frozen: true });
    expect(admitted).toEqual([20_000, 20_000, 20_000, 20_000]);
    left.take(performance.now());
    expect(left.remaining).toBe(1_000_000 - 80_001);
  });

  test('admits no more than its size and the fills of the time that passed', async () => {
    const limit = { maxTokens: 100, tokensPerFill: 7, fillIntervalMs: 1 };
    const { admitted, elapsedMs } = await hammer(limit, { tries: 200_000, frozen: false });
    const total = admitted.reduce((sum, count) => sum + count, 0);
    expect(total).toBeGreaterThanOrEqual(100);
    expect(total).toBeLessThanOrEqual(100 + 7 * Math.ceil(elapsedMs + 1));
  });
});

describe('the store of buckets', () => {
  test('keeps what was spent for as long as somebody holds the identity, and starts anew after', () => {
    const store = new BucketStore(2);
    const limit = { maxTokens: 1, tokensPerFill: 0, fillIntervalMs: 1 };
    expect(open(limit, store).bucket.take(performance.now())).toBe(true);
    const again = open(limit, store);
    expect(again.bucket.take(performance.now())).toBe(false);
    store.releaseAll(['b']);
    store.releaseAll(['b']);
    expect(open(limit, store).bucket.take(performance.now())).toBe(true);
  });

  test('has room for so many and no more; a failed acquisition takes none', () => {
    const store = new BucketStore(1);
    expect(() => store.acquireAll(['a', 'b'])).toThrow('more than 1 local rate limits');
    expect([...store.acquireAll(['c']).values()]).toEqual([0]);
  });
});

/** Numbers from 0 to 1 that depend on the seed alone. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
