import { describe, expect, test } from '@jest/globals';

import type { Expression } from '../../../../proxy/expression/contract.ts';
import { DecisionCache } from '../../../../proxy/policy/ext-authz/cache.ts';
import { cacheKey } from '../../../../proxy/policy/ext-authz/cache-key.ts';
import { plainDenial } from '../../../../proxy/policy/ext-authz/decision.ts';
import { ttlOf } from '../../../../proxy/policy/ext-authz/ttl.ts';
import { Double, Duration, Masked, Timestamp, Uint } from '../../../../src/cel/value/value.ts';
import { ManualClock, untraced } from '../../exchange/build.ts';
import { fakeExpressions } from '../fake-expressions.ts';

const denied = plainDenial();
const other = plainDenial(401);

describe('remembered decisions', () => {
  test('hold for their time, and not a moment longer', () => {
    const clock = new ManualClock();
    const cache = new DecisionCache(10, clock);
    expect(cache.look('k').kind).toBe('miss');
    cache.store('k', denied, 10_000);
    clock.advance(8999);
    expect(cache.look('k')).toEqual({ kind: 'hit', decision: denied });
    clock.advance(1001);
    expect(cache.look('k').kind).toBe('miss');
    expect(cache.size).toBe(0);
  });

  test('that end soon are asked for again by one request, while the others still hit', () => {
    const clock = new ManualClock();
    const cache = new DecisionCache(10, clock);
    cache.store('k', denied, 10_000);
    clock.advance(9000);
    expect(cache.look('k').kind).toBe('refresh');
    expect(cache.look('k').kind).toBe('hit');
    cache.store('k', other, 10_000);
    expect(cache.look('k')).toEqual({ kind: 'hit', decision: other });
  });

  test('are refreshed in their last five seconds when they hold for long', () => {
    const clock = new ManualClock();
    const cache = new DecisionCache(10, clock);
    cache.store('k', denied, 3_600_000);
    clock.advance(3_594_999);
    expect(cache.look('k').kind).toBe('hit');
    clock.advance(1);
    expect(cache.look('k').kind).toBe('refresh');
  });

  test('let the next request refresh when a refresh came to nothing', () => {
    const clock = new ManualClock();
    const cache = new DecisionCache(10, clock);
    cache.store('k', denied, 10_000);
    clock.advance(9500);
    expect(cache.look('k').kind).toBe('refresh');
    expect(cache.keep('k')).toBe(denied);
    expect(cache.look('k').kind).toBe('refresh');
    clock.advance(500);
    expect(cache.keep('k')).toBeNull();
  });

  test('make room for newer ones', () => {
    const cache = new DecisionCache(2, new ManualClock());
    for (const key of ['a', 'b', 'c']) cache.store(key, denied, 1000);
    expect(['a', 'b', 'c'].map((key) => cache.look(key).kind)).toEqual(['miss', 'hit', 'hit']);
  });
});

describe('the key of a decision', () => {
  const keyOf = (...values: unknown[]): string | null => {
    const meanings = Object.fromEntries(values.map((value, index) => [`v${index}`, () => value]));
    const expressions = fakeExpressions(meanings);
    const parts: Expression[] = values.map((_value, index) => expressions.compile(`v${index}`, 'key'));
    return cacheKey(parts, untraced());
  };

  test('differs whenever a value or its type does', () => {
    const keys = [
      keyOf('1'),
      keyOf(1),
      keyOf(new Uint(1)),
      keyOf(new Double(1)),
      keyOf(true),
      keyOf('t'),
      keyOf(null),
      keyOf(Buffer.from('1')),
      keyOf('ab', 'c'),
      keyOf('a', 'bc'),
      keyOf('a2:sb', 'c'),
      keyOf(9007199254740993n),
      keyOf(9007199254740992n),
    ];
    expect(keys).not.toContain(null);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('does not exist for failures, lists, maps, secrets, and without parts', () => {
    const opaque = [
      undefined,
      [],
      { kind: 'map' },
      new Masked(() => 'secret'),
      new Duration(1n),
      new Double(Number.NaN),
    ];
    expect(opaque.map((value) => keyOf(value))).toEqual(opaque.map(() => null));
    expect(cacheKey([], untraced())).toBeNull();
  });
});

describe('the time that a decision holds', () => {
  const now = 1_700_000_000_000;
  const seconds = now / 1000;

  test.each([
    ['a duration', new Duration(1_500_000_000n), 1500],
    ['a timestamp', new Timestamp(BigInt(now + 30_000) * 1_000_000n), 30_000],
    ['Unix seconds', seconds + 60, 60_000],
    ['unsigned Unix seconds', new Uint(seconds + 60), 60_000],
    ['a numeric date with a fraction', new Double(seconds + 0.5), 500],
  ])('is given by %s', (_name, value, ttlMs) => {
    expect(ttlOf(value, now)).toBe(ttlMs);
  });

  test.each([
    ['the past', new Timestamp(BigInt(now) * 1_000_000n)],
    ['a negative duration', new Duration(-1n)],
    ['an old date', seconds - 1],
    ['text', '5m'],
    ['nothing', undefined],
    ['null', null],
    ['infinity', new Double(Number.POSITIVE_INFINITY)],
  ])('is none for %s', (_name, value) => {
    expect(ttlOf(value, now)).toBeNull();
  });
});
