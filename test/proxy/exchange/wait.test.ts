import { describe, expect, jest, test } from '@jest/globals';

import { waitWithin } from '../../../proxy/exchange/wait.ts';
import { ManualClock, untraced } from './build.ts';

describe('waitWithin', () => {
  test('ends when the time has passed and leaves nothing behind', async () => {
    const clock = new ManualClock();
    const waited = waitWithin(untraced(), 100, clock);
    clock.advance(99);
    expect(clock.pending).toBe(1);
    clock.advance(1);
    expect(await waited).toBe('elapsed');
    expect(clock.pending).toBe(0);
  });

  test('ends at the deadline', async () => {
    const clock = new ManualClock();
    const exchange = untraced();
    exchange.deadlineAt = clock.now() + 50;
    const waited = waitWithin(exchange, 100, clock);
    clock.advance(50);
    expect(await waited).toBe('deadline');
    expect(await waitWithin(exchange, 100, clock)).toBe('deadline');
  });

  test('ends when the client leaves, taking its timer back', async () => {
    const clock = new ManualClock();
    const exchange = untraced();
    const waited = waitWithin(exchange, 100, clock);
    exchange.clientLeft();
    expect(await waited).toBe('clientGone');
    expect(clock.pending).toBe(0);
    expect(await waitWithin(exchange, 100, clock)).toBe('clientGone');
  });
});

describe('an exchange', () => {
  test('tells every listener once that the client left, and late ones at once', () => {
    const exchange = untraced();
    const [first, second, off, late] = [jest.fn(), jest.fn(), jest.fn(), jest.fn()];
    exchange.onClientGone(first);
    exchange.onClientGone(second);
    exchange.onClientGone(off)();
    exchange.clientLeft();
    exchange.onClientGone(late);
    expect([first, second, off, late].map((each) => each.mock.calls.length)).toEqual([1, 1, 0, 1]);
  });
});
