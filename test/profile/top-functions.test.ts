import { expect, test } from '@jest/globals';
import { formatValue } from '../../src/profile/format-value.ts';
import { readProfile } from '../../src/profile/read-profile.ts';
import { topFunctions } from '../../src/profile/top-functions.ts';
import { encodeProfile } from './sample-profile.ts';

const profile = readProfile(
  encodeProfile([
    { stack: 'main;serve;parse', values: [1, 600] },
    { stack: 'main;serve;parse;parse', values: [2, 200] },
    { stack: 'main;serve', values: [4, 100] },
    { stack: 'main;log', values: [8, 100] },
  ]),
);

test('costs of a function are its own and, counted once when it calls itself, those of its calls', () => {
  const top = topFunctions(profile, 2);
  expect(top.total).toBe(1000);
  expect(top.measure).toEqual({ type: 'cpu', unit: 'nanoseconds' });
  expect(top.functions).toEqual([
    { name: 'parse', file: '/src/parse.go', flat: 800, cumulative: 800, flatShare: 0.8, cumulativeShare: 0.8 },
    { name: 'serve', file: '/src/serve.go', flat: 100, cumulative: 900, flatShare: 0.1, cumulativeShare: 0.9 },
  ]);
});

test('another sample type can be asked for', () => {
  expect(topFunctions(profile, 1, 0).functions[0]).toMatchObject({ name: 'log', flat: 8 });
});

test('a profile without samples has no costs', () => {
  expect(topFunctions(readProfile(encodeProfile([])), 5)).toMatchObject({ total: 0, functions: [] });
});

test.each([
  [1_250_000_000, 'nanoseconds', '1.25s'],
  [13_107_200, 'bytes', '12.5 MiB'],
  [42, 'count', '42'],
  [7, 'widgets', '7 widgets'],
])('%d %s is shown as %s', (value, unit, shown) => {
  expect(formatValue(value, unit)).toBe(shown);
});
