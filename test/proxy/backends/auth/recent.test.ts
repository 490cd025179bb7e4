import { describe, expect, test } from '@jest/globals';

import { Recent } from '../../../../proxy/backends/auth/recent.ts';

const made = (maxEntries: number, maxSize = 1000): Recent<string> =>
  new Recent<string>({ maxEntries, maxSize }, (value) => value.length);

const KEYS = ['a', 'b', 'c', 'd'];
const known = (recent: Recent<string>): string => KEYS.filter((key) => recent.get(key) !== undefined).join('');

describe('what was used recently', () => {
  test('is forgotten, the oldest first, when there are too many', () => {
    const recent = made(2);
    for (const key of ['a', 'b', 'c']) recent.set(key, key);
    expect(known(recent)).toBe('bc');
  });

  test('stays when it was looked at', () => {
    const recent = made(2);
    recent.set('a', 'a');
    recent.set('b', 'b');
    recent.get('a');
    recent.set('c', 'c');
    expect(known(recent)).toBe('ac');
  });

  test('stays when it was written again, with its new value', () => {
    const recent = made(2);
    recent.set('a', 'a');
    recent.set('b', 'b');
    recent.set('a', 'A');
    recent.set('c', 'c');
    expect([known(recent), recent.get('a')]).toEqual(['ac', 'A']);
  });

  test('is forgotten when it is too large together, and counts what it has now', () => {
    const recent = made(10, 10);
    recent.set('a', 'xxxxxx');
    recent.set('b', 'xxxx');
    expect(known(recent)).toBe('ab');
    recent.set('b', 'xxxxx');
    expect(known(recent)).toBe('b');
    recent.set('c', 'xxxxx');
    expect(known(recent)).toBe('bc');
    recent.delete('b');
    recent.delete('b');
    recent.set('d', 'xxxxx');
    expect(known(recent)).toBe('cd');
  });

  test('is not kept when it is too large alone', () => {
    const recent = made(10, 10);
    recent.set('a', 'x'.repeat(11));
    expect(known(recent)).toBe('');
    recent.set('b', 'x'.repeat(10));
    expect(known(recent)).toBe('b');
  });
});
