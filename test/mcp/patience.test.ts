import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Patience } from '../../src/mcp/patience.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function start() {
  let ended = 0;
  const patience = new Patience(1000, () => (ended += 1));
  return { patience, ended: () => ended };
}

test('patience ends when nothing comes, and begins anew with whatever comes', () => {
  const { patience, ended } = start();
  jest.advanceTimersByTime(5000);
  patience.renew();
  jest.advanceTimersByTime(900);
  patience.renew();
  jest.advanceTimersByTime(900);
  expect(ended()).toBe(0);
  jest.advanceTimersByTime(100);
  expect(ended()).toBe(1);
});

test('the time in which a person is asked does not count, of several questions neither', async () => {
  const { patience, ended } = start();
  patience.renew();
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const asked = [first, second].map(({ promise }) => patience.during(() => promise));
  patience.renew();
  jest.advanceTimersByTime(5000);
  first.resolve('a');
  await asked[0];
  jest.advanceTimersByTime(5000);
  expect(ended()).toBe(0);
  second.resolve('b');
  expect(await Promise.all(asked)).toEqual(['a', 'b']);
  jest.advanceTimersByTime(1000);
  expect(ended()).toBe(1);
});

test('patience that has ended waits for nothing', () => {
  const { patience, ended } = start();
  patience.renew();
  patience.end();
  patience.renew();
  jest.advanceTimersByTime(5000);
  expect(ended()).toBe(0);
});
