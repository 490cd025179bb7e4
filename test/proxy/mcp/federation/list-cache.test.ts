import { describe, expect, test } from '@jest/globals';
import { ListBudget, ListCache } from '../../../../proxy/mcp/federation/list-cache.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import { untraced } from '../../exchange/build.ts';

const list = (count: number) => ({ tools: Array.from({ length: count }, (_, at) => ({ name: `t${at}` })) });
const method = 'tools/list';

/** A cache whose target 0 tells of changes and is heard, with a clock that stands. */
function heard(budget = new ListBudget()) {
  const clock = { now: 0 };
  const cache = new ListCache(budget, () => clock.now);
  cache.announces(0, method);
  cache.watch(0, 1);
  const exchange = untraced();
  const store = (count = 1): void => cache.store(0, method, exchange, { result: list(count), generation: 0 });
  const read = (use: 'list' | 'look-up' = 'list') => cache.read(0, method, exchange, use);
  return { cache, clock, store, read };
}

describe('a cached list', () => {
  test('is believed for ten seconds while the target is heard', () => {
    const { clock, store, read } = heard();
    store();
    clock.now = 9_999;
    expect(read()).toEqual(list(1));
    clock.now = 10_000;
    expect(read()).toBeNull();
  });

  test('serves look-ups alone, for two seconds, when the target is not heard', () => {
    const { cache, clock, store, read } = heard();
    cache.watch(0, -1);
    store();
    expect(read()).toBeNull();
    expect(read('look-up')).toEqual(list(1));
    clock.now = 2_000;
    expect(read('look-up')).toBeNull();
  });

  test('is for the credentials that it was read with', () => {
    const { cache, store } = heard();
    store();
    const other = untraced({ headers: Headers.from([['authorization', 'Bearer x']]) });
    expect(cache.read(0, method, other, 'list')).toBeNull();
  });

  test('is for the cookies that it was read with', () => {
    const { cache, store } = heard();
    store();
    const other = untraced({ headers: Headers.from([['cookie', 'user=x']]) });
    expect(cache.read(0, method, other, 'list')).toBeNull();
  });

  test('takes as much room as it has text', () => {
    const budget = new ListBudget(100);
    const [first, second] = [heard(budget), heard(budget)];
    const named = (length: number) => ({ result: { tools: [{ name: 'x'.repeat(length) }] }, generation: 0 });
    first.cache.store(0, method, untraced(), named(60_000));
    expect(first.read()).not.toBeNull();
    second.cache.store(0, method, untraced(), named(60_000));
    expect([first.read(), second.read()?.['tools']]).toEqual([null, expect.any(Array)]);
    first.cache.store(0, method, untraced(), named(10_000_000));
    expect([first.read(), second.read()]).toEqual([null, null]);
  });

  test('is gone once streams begin or end, as changes may have been missed', () => {
    const { cache, store, read } = heard();
    store();
    cache.watch(0, 1);
    expect(read()).toBeNull();
  });

  test('is not kept when the list has changed since it was asked for', () => {
    const { cache, store, read } = heard();
    cache.heard(0, 'notifications/tools/list_changed');
    store();
    expect(read()).toBeNull();
  });

  test('makes room for those of other sessions, and all go with their session', () => {
    const budget = new ListBudget(25);
    const sessions = Array.from({ length: 3 }, () => heard(budget));
    for (const { store } of sessions) store(10);
    expect(sessions.map(({ read }) => read() !== null)).toEqual([false, true, true]);
    sessions[1]?.cache.clear();
    sessions[0]?.store(10);
    expect(sessions.map(({ read }) => read() !== null)).toEqual([true, false, true]);
    sessions[0]?.store(1000);
    expect(sessions.map(({ read }) => read() !== null)).toEqual([false, false, false]);
  });
});
