import { describe, expect, test } from '@jest/globals';
import { formatMicros, slowestStep, spanOf } from '../../../ui/trace/timing.ts';
import { factsOf, requestLine, statusText } from '../../../ui/trace/request.ts';
import { recording } from '../recordings.ts';

describe('timing', () => {
  test('durations are short at any size', () => {
    expect([0, 361, 1234, 80_322, 5_000_302].map(formatMicros)).toEqual(['0s', '361µs', '1.23ms', '80.32ms', '5s']);
  });

  test('bars stay on their axis', () => {
    const event = { eventStart: 950, eventEnd: 1200, severity: 'info', message: { type: 'requestStarted' } } as const;
    expect(spanOf(event, 1000, 10)).toEqual({ kind: 'bar', from: 9, to: 10 });
    expect(spanOf({ ...event, eventStart: null }, 0, 10)).toEqual({ kind: 'tick', from: 0, to: 1 });
  });

  test('the slowest step is a call or a silence', () => {
    expect(slowestStep(recording('plain-200'))).toEqual({ kind: 'step', index: 13, us: 707 });
    expect(slowestStep(recording('retry'))).toMatchObject({ kind: 'gap', us: 50_091 });
    expect(slowestStep(recording('timeout-504'))).toMatchObject({ kind: 'step', us: 5_000_013 });
  });
});

describe('facts of a request', () => {
  test.each([
    ['plain-200', 'GET shop.test/cart?user=42&lang=ja', '200', 'shop/cart.00.http', '10.1.2.3:8080'],
    ['no-route-404', 'GET shop.test/nowhere/at/all', '404', null, undefined],
    ['retry', 'POST shop.test/orders', '201', 'shop/orders.00.http', '10.1.2.9:8080'],
    ['policies-403', 'GET shop.test/admin', '403', 'shop/admin.00.http', undefined],
  ])('%s', (name, line, status, route, backend) => {
    const facts = factsOf(recording(name));
    expect([requestLine(facts), statusText(facts), facts.route, facts.backend]).toEqual([line, status, route, backend]);
  });
});
