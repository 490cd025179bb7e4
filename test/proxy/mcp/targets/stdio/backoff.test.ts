import { expect, test } from '@jest/globals';

import { Backoff } from '../../../../../proxy/mcp/targets/stdio/backoff.ts';
import { ManualClock } from '../../session/manual-clock.ts';

test('each failure makes the next try wait longer, up to half a minute', () => {
  const backoff = new Backoff(new ManualClock());
  expect(backoff.leftMs).toBe(0);
  const waits = Array.from({ length: 10 }, () => {
    backoff.failed();
    return backoff.leftMs;
  });
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test('a success begins anew', () => {
  const backoff = new Backoff(new ManualClock());
  backoff.failed();
  backoff.failed();
  backoff.succeeded();
  expect(backoff.leftMs).toBe(0);
  backoff.failed();
  expect(backoff.leftMs).toBe(250);
});

test('time passes', () => {
  const clock = new ManualClock();
  const backoff = new Backoff(clock);
  backoff.failed();
  clock.pass(200);
  expect(backoff.leftMs).toBe(50);
  clock.pass(200);
  expect(backoff.leftMs).toBe(0);
});

test('the first failures may be forgiven', () => {
  const backoff = new Backoff(new ManualClock(), 1);
  backoff.failed();
  expect(backoff.leftMs).toBe(0);
  backoff.failed();
  expect(backoff.leftMs).toBe(250);
});
