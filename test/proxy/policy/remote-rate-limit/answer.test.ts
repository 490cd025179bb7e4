import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { budgetOf, carryOut } from '../../../../proxy/policy/remote-rate-limit/answer.ts';
import type { RateLimitResponse } from '../../../../proxy/services/messages/rate-limit.ts';
import { untraced } from '../../exchange/build.ts';

const statuses: RateLimitResponse['statuses'] = [
  { currentLimit: { requestsPerUnit: 100 }, limitRemaining: 50, durationUntilReset: { seconds: 3 } },
  { currentLimit: { requestsPerUnit: 10 }, limitRemaining: 4, durationUntilReset: { seconds: 30, nanos: 1 } },
  { limitRemaining: 0 },
];

function answered(response: RateLimitResponse, queue: Record<string, string> = {}) {
  const exchange = untraced({ headers: Headers.from([['x-tier', 'forged']]) });
  for (const [name, value] of Object.entries(queue)) exchange.queued.addDefault(name, value);
  const outcome = carryOut(response, exchange);
  const headers = new Headers();
  exchange.mergeQueued({ status: 200, headers, body: exchange.request.body });
  return { outcome, exchange, queued: Object.fromEntries(headers) };
}

describe('the budget that is told', () => {
  test('is the one with the least left, its reset rounded up', () => {
    expect(budgetOf(statuses)).toEqual({ limit: 10, remaining: 4, resetSeconds: 31 });
    expect(budgetOf([{ limitRemaining: 1 }])).toBeNull();
  });

  test('goes to the client when the request is within its limits', () => {
    const { outcome, queued } = answered({ overallCode: 'OK', statuses });
    expect(outcome.kind).toBe('next');
    expect(queued).toEqual({ 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': '31' });
  });

  test('is left to the service when it supplies any of the three headers', () => {
    const responseHeadersToAdd = [{ key: 'X-RateLimit-Limit', value: '10, 10;w=60' }];
    const { queued } = answered({ overallCode: 'OK', statuses, responseHeadersToAdd });
    expect(queued).toEqual({ 'x-ratelimit-limit': '10, 10;w=60' });
  });

  test('is left to the limit that told of one before', () => {
    const local = { 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '2' };
    expect(answered({ overallCode: 'OK', statuses }, local).queued).toEqual(local);
  });
});

describe('a request within its limits', () => {
  test('gets the headers of the service in the place of those that the client sent', () => {
    const { exchange } = answered({
      overallCode: 'OK',
      requestHeadersToAdd: [
        { key: 'X-Tier', value: 'gold' },
        { key: 'x-tier', value: 'silver' },
        { key: ':path', value: '/evil' },
        { key: 'x-bad', value: 'a\nb' },
      ],
    });
    expect([...exchange.request.headers]).toEqual([
      ['X-Tier', 'gold'].map((text) => text.toLowerCase()),
      ['x-tier', 'silver'],
    ]);
    expect(exchange.request.target).toBe('/');
  });
});

describe('a request over its limits', () => {
  test('is answered with what the service has written, and the budget', () => {
    const { outcome } = answered({
      overallCode: 'OVER_LIMIT',
      statuses,
      rawBody: Buffer.from('slow down'),
      responseHeadersToAdd: [{ key: 'x-why', value: 'tier' }],
    });
    if (outcome.kind !== 'fail') throw new Error(outcome.kind);
    const { refusal } = outcome;
    expect(refusal).toMatchObject({ status: 429, reason: 'RateLimit' });
    expect(Buffer.from(refusal.body ?? []).toString()).toBe('slow down');
    expect([...(refusal.headers ?? [])].map(([name]) => name)).toEqual([
      'x-why',
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
    ]);
  });

  test.each(['UNKNOWN', undefined, 77] as const)('is what the code %s means', (overallCode) => {
    const { outcome } = answered(overallCode === undefined ? {} : { overallCode });
    expect(outcome).toMatchObject({ kind: 'fail', refusal: { status: 429, body: new Uint8Array(0) } });
  });
});
