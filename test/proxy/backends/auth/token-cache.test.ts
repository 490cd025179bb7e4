import { describe, expect, jest, test } from '@jest/globals';

import { type Expiring, TokenCache } from '../../../../proxy/backends/auth/token-cache.ts';

interface Rig {
  readonly cache: TokenCache<string>;
  /** Epoch milliseconds, as the cache sees them. */
  now: number;
}

function rig(options: { maxEntries?: number; defaultTtlMs?: number; marginMs?: number; refreshMs?: number } = {}): Rig {
  const settings = { maxEntries: 10, defaultTtlMs: 1000, marginMs: 100, ...options };
  const made: Rig = { now: 5000, cache: new TokenCache({ ...settings, now: () => made.now }) };
  return made;
}

/** Numbered tokens that end at a time, or do not say when. */
function numbered(expiresAtMs: number | null = null) {
  let count = 0;
  return jest.fn(() => Promise.resolve<Expiring<string>>({ value: `t${++count}`, expiresAtMs }));
}

describe('a token that is known', () => {
  test('is there without a promise', async () => {
    const { cache } = rig();
    const fetch = numbered();
    const first = cache.get('a', fetch);
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toBe('t1');
    expect(cache.get('a', fetch)).toBe('t1');
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test('is another for another key', async () => {
    const { cache } = rig();
    const fetch = numbered();
    await cache.get('a', fetch);
    expect(await cache.get('b', fetch)).toBe('t2');
    expect(cache.get('a', fetch)).toBe('t1');
  });

  test.each([
    ['its end', 8000, 7899, 7900],
    ['the default, when it does not say', null, 5899, 5900],
  ])('is used until the margin before %s', async (_name, end, last, over) => {
    const own = rig();
    const fetch = numbered(end);
    await own.cache.get('a', fetch);
    own.now = last;
    expect(own.cache.get('a', fetch)).toBe('t1');
    own.now = over;
    expect(await own.cache.get('a', fetch)).toBe('t2');
  });

  test.each([
    ['has ended', 4000],
    ['ends at once', 5000],
    ['ends within the margin', 5100],
  ])('is used by those who waited and by nobody else when it %s', async (_name, end) => {
    const { cache } = rig();
    const fetch = numbered(end);
    expect(await Promise.all([cache.get('a', fetch), cache.get('a', fetch)])).toEqual(['t1', 't1']);
    expect(await cache.get('a', fetch)).toBe('t2');
  });

  test('counts from the time at which it came, not from that at which it was asked for', async () => {
    const own = rig();
    const asked = Promise.withResolvers<Expiring<string>>();
    const waiting = own.cache.get('a', () => asked.promise);
    own.now = 20_000;
    asked.resolve({ value: 'late', expiresAtMs: null });
    expect(await waiting).toBe('late');
    own.now = 20_899;
    expect(own.cache.get('a', numbered())).toBe('late');
  });

  test('gives way to newer ones when there are too many', async () => {
    const { cache } = rig({ maxEntries: 2 });
    const fetch = numbered();
    await cache.get('a', fetch);
    await cache.get('b', fetch);
    cache.get('a', fetch);
    await cache.get('c', fetch);
    expect(cache.get('a', fetch)).toBe('t1');
    expect(await cache.get('b', fetch)).toBe('t4');
  });
});

describe('a token that ends soon', () => {
  const settings = { marginMs: 10_000, refreshMs: 60_000 };

  async function known(end: number) {
    const own = rig(settings);
    await own.cache.get('a', () => Promise.resolve({ value: 'old', expiresAtMs: own.now + end }));
    own.now += end - 60_000;
    return own;
  }

  test('is used while another is fetched, once', async () => {
    const own = await known(600_000);
    own.now -= 1;
    const fetch = numbered(1_000_000);
    expect(own.cache.get('a', fetch)).toBe('old');
    expect(fetch).not.toHaveBeenCalled();
    own.now += 1;
    expect([own.cache.get('a', fetch), own.cache.get('a', fetch)]).toEqual(['old', 'old']);
    expect(fetch).toHaveBeenCalledTimes(1);
    await fetch.mock.results[0]?.value;
    expect(own.cache.get('a', fetch)).toBe('t1');
  });

  test('is used on when that fails, which is tried again after a while', async () => {
    const own = await known(600_000);
    const failing = jest.fn(() => Promise.reject<Expiring<string>>(new Error('no')));
    for (const [later, calls] of [
      [0, 1],
      [4999, 1],
      [1, 2],
      [44_999, 3],
    ] as const) {
      own.now += later;
      expect(own.cache.get('a', failing)).toBe('old');
      await Promise.allSettled(failing.mock.results.map(({ value }) => value));
      expect(failing).toHaveBeenCalledTimes(calls);
    }
    own.now += 1;
    await expect(own.cache.get('a', failing)).rejects.toThrow('no');
  });

  test('and was good for a short time only is fetched again from the middle on', async () => {
    const own = rig(settings);
    await own.cache.get('a', () => Promise.resolve({ value: 'short', expiresAtMs: own.now + 30_000 }));
    const fetch = numbered(1_000_000);
    own.now += 14_999;
    own.cache.get('a', fetch);
    expect(fetch).not.toHaveBeenCalled();
    own.now += 1;
    expect(own.cache.get('a', fetch)).toBe('short');
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

describe('a token that is being fetched', () => {
  test('is fetched once for all who ask', async () => {
    const { cache } = rig();
    const asked = Promise.withResolvers<Expiring<string>>();
    const fetch = jest.fn(() => asked.promise);
    const waiting = [cache.get('a', fetch), cache.get('a', fetch), cache.get('a', fetch)];
    asked.resolve({ value: 'one', expiresAtMs: null });
    expect(await Promise.all(waiting)).toEqual(['one', 'one', 'one']);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test('fails for all who wait, and is tried again by the next', async () => {
    const { cache } = rig();
    const failing = jest.fn(() => Promise.reject<Expiring<string>>(new Error('no')));
    const waiting = [cache.get('a', failing), cache.get('a', failing)];
    expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(failing).toHaveBeenCalledTimes(1);
    expect(await cache.get('a', numbered())).toBe('t1');
  });

  test('does not hold up those who ask for another', async () => {
    const { cache } = rig();
    const never = cache.get('a', () => new Promise(() => {}));
    expect(never).toBeInstanceOf(Promise);
    expect(await cache.get('b', numbered())).toBe('t1');
  });
});

test('a cache of no entries fetches each time, also at the same time', async () => {
  const { cache } = rig({ maxEntries: 0 });
  const fetch = numbered();
  expect(await Promise.all([cache.get('a', fetch), cache.get('a', fetch)])).toEqual(['t1', 't2']);
  expect(await cache.get('a', fetch)).toBe('t3');
});
