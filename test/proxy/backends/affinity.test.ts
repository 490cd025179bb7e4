import { describe, expect, test } from '@jest/globals';

import { type Bound, chooseBound, hash64 } from '../../../proxy/backends/affinity.ts';
import { compileBuckets } from '../../../proxy/backends/balance.ts';

interface Named extends Bound {
  readonly name: string;
}

const candidate = (name: string, capacity = 1): Named => ({
  name,
  capacity,
  hash: hash64(name),
  endpoint: { identity: name, name, row: 0, health: undefined },
});
const named = (count: number): Named[] => Array.from({ length: count }, (_, i) => candidate(`10.0.0.${i}:8080`));

function bound(
  groups: readonly (readonly Named[])[],
  value: string,
  evicted: readonly string[] = [],
): string | undefined {
  const isEvicted = ({ name }: Named): boolean => evicted.includes(name);
  return chooseBound(compileBuckets(groups), value, { isEvicted, viable: null })?.name;
}

const values = Array.from({ length: 20_000 }, (_, i) => `user-${i}`);

describe('binding requests to endpoints', () => {
  test('gives equal values the same endpoint, whatever the order of the endpoints', () => {
    const endpoints = named(7);
    const turned = endpoints.toReversed();
    for (const value of values.slice(0, 500)) expect(bound([turned], value)).toBe(bound([endpoints], value));
  });

  test('is the same in every release: sessions survive an upgrade', () => {
    expect(['a', 'b', 'user-1', 'größe'].map((value) => bound([named(5)], value))).toEqual([
      '10.0.0.1:8080',
      '10.0.0.1:8080',
      '10.0.0.1:8080',
      '10.0.0.3:8080',
    ]);
  });

  test('spreads values evenly', () => {
    const counts = new Map<string, number>();
    for (const value of values) {
      const name = bound([named(8)], value) ?? '';
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    // 2,500 expected for each; a fair draw strays by 47 (one sigma).
    expect(counts.size).toBe(8);
    for (const count of counts.values()) expect(Math.abs(count - 2500)).toBeLessThan(5 * 47);
  });

  test('moves only the values of an endpoint that goes, and spreads those over the others', () => {
    const all = named(6);
    const rest = all.slice(0, 5);
    const gone = all[5]?.name;
    const moved = new Map<string, number>();
    let strayed = 0;
    for (const value of values) {
      const before = bound([all], value);
      const after = bound([rest], value) ?? '';
      if (before === gone) moved.set(after, (moved.get(after) ?? 0) + 1);
      else if (after !== before) strayed += 1;
    }
    expect(strayed).toBe(0);
    expect(moved.size).toBe(5);
    for (const count of moved.values()) expect(Math.abs(count - 20_000 / 30)).toBeLessThan(130);
  });

  test('leaves evicted endpoints to others and returns to them, and uses them when there are no others', () => {
    const endpoints = named(3);
    const home = bound([endpoints], 'ann') ?? '';
    const away = bound([endpoints], 'ann', [home]);
    expect(away).not.toBe(home);
    expect(bound([endpoints], 'ann')).toBe(home);
    expect(
      bound(
        [endpoints],
        'ann',
        endpoints.map(({ name }) => name),
      ),
    ).toBe(home);
  });

  test('takes the first group with an active endpoint, and never a drained one', () => {
    const near = candidate('near');
    const far = candidate('far');
    expect(bound([[near], [far]], 'ann')).toBe('near');
    expect(bound([[near], [far]], 'ann', ['near'])).toBe('far');
    expect(bound([[near], [far]], 'ann', ['near', 'far'])).toBe('near');
    expect(bound([[candidate('drained', 0), near]], 'ann')).toBe('near');
    expect(bound([], 'ann')).toBeUndefined();
  });

  test('hashes texts that differ in one character to numbers that differ in half their bits', () => {
    let bits = 0;
    for (const value of values.slice(0, 1000)) {
      const [a, b] = [hash64(value), hash64(`${value}x`)];
      bits += ones(a.high ^ b.high) + ones(a.low ^ b.low);
    }
    expect(bits / 1000).toBeGreaterThan(31);
    expect(bits / 1000).toBeLessThan(33);
  });

  test('gives different texts different hashes', () => {
    expect(new Set(values.map((value) => `${hash64(value).high} ${hash64(value).low}`)).size).toBe(values.length);
  });
});

function ones(bits: number): number {
  let count = 0;
  for (let left = bits >>> 0; left !== 0; left >>>= 1) count += left & 1;
  return count;
}
