import { describe, expect, test } from '@jest/globals';

import { localRateLimit } from '../../../../proxy/policy/local-rate-limit/compile.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { HttpResponse } from '../../../../proxy/exchange/message.ts';
import { emptyBody } from '../../../../proxy/exchange/body.ts';
import type { LocalRateLimit, RateLimitBucket } from '../../../../src/config/ir/policy/local-rate-limit.ts';
import { traced, untraced } from '../../exchange/build.ts';
import { context, deps } from '../build.ts';
import { fakeExpressions } from '../fake-expressions.ts';

const MINUTE = 60_000;
const per = (maxTokens: number, tokensPerFill = maxTokens): RateLimitBucket => ({
  maxTokens,
  tokensPerFill,
  fillIntervalMs: MINUTE,
});

function step(...entries: LocalRateLimit['entries']) {
  const own = deps();
  return { own, run: localRateLimit({ owner: 'o', entries }, context({ ...own, expressions: fakeExpressions() })) };
}

function responseHeaders(exchange: ReturnType<typeof untraced>, headers = new Headers()): Record<string, string> {
  const response: HttpResponse = { status: 200, headers, body: emptyBody };
  exchange.mergeQueued(response);
  return Object.fromEntries(response.headers);
}

describe('a local rate limit', () => {
  test('admits what the bucket holds, then refuses with the numbers of the bucket', () => {
    const { run } = step({ settings: [per(2, 1)] });
    const first = untraced();
    expect(run(first)).toEqual({ kind: 'next' });
    expect(responseHeaders(first)).toEqual({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': '60',
    });
    run(untraced());
    const outcome = run(untraced());
    expect(outcome).toMatchObject({
      kind: 'fail',
      refusal: { status: 429, reason: 'RateLimit', message: 'rate limit exceeded' },
    });
    if (outcome instanceof Promise || outcome.kind !== 'fail') throw new Error('admitted');
    expect(Object.fromEntries(outcome.refusal.headers ?? [])).toEqual({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '60',
    });
  });

  test('tells the budget of the bucket that has least left', () => {
    const exchange = untraced();
    step({ settings: [per(10), per(3), per(7)] }).run(exchange);
    expect(responseHeaders(exchange)).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' });
  });

  test('keeps what the upstream or an earlier policy says about limits', () => {
    const exchange = untraced();
    step({ settings: [per(10)] }).run(exchange);
    const headers = Headers.from([['x-ratelimit-limit', '99']]);
    expect(responseHeaders(exchange, headers)).toMatchObject({ 'x-ratelimit-limit': '99' });
    const other = untraced();
    other.queued.addDefault('x-ratelimit-remaining', '5');
    step({ settings: [per(10)] }).run(other);
    expect(responseHeaders(other)).toEqual({ 'x-ratelimit-remaining': '5' });
  });

  test('does not give back what earlier buckets gave when a later one is empty', () => {
    const { run } = step({ settings: [per(3), per(1)] });
    run(untraced());
    run(untraced());
    const { exchange, policies } = traced();
    run(exchange);
    run(exchange);
    expect(policies).toEqual([
      expect.stringContaining('refused: bucket 0: 0 of 3 left'),
      expect.stringContaining('refused: bucket 0 is empty, holds 3'),
    ]);
  });

  test('says nothing about a reset that never comes', () => {
    const exchange = untraced();
    step({ settings: [per(1, 0)] }).run(exchange);
    expect(responseHeaders(exchange)).toEqual({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' });
  });

  test('fills again as time passes', () => {
    const { own, run } = step({ settings: [per(1)] });
    expect(run(untraced())).toMatchObject({ kind: 'next' });
    expect(run(untraced())).toMatchObject({ kind: 'fail' });
    own.clock.advance(MINUTE + 1000);
    expect(run(untraced())).toMatchObject({ kind: 'next' });
  });

  test('takes the bucket whose condition holds, and lets through what meets none', () => {
    const { run } = step({ condition: 'false', settings: [per(0)] }, { condition: 'true', settings: [per(1)] });
    expect(run(untraced())).toMatchObject({ kind: 'next' });
    expect(run(untraced())).toMatchObject({ kind: 'fail' });
    const { exchange, policies } = traced();
    expect(step({ condition: 'false', settings: [per(0)] }).run(exchange)).toEqual({ kind: 'next' });
    expect(policies).toEqual(['local_rate_limit: no condition holds']);
  });

  test('tells a trace what is left in each bucket', () => {
    const { exchange, policies } = traced();
    step({ settings: [per(10), per(3)] }).run(exchange);
    expect(policies).toEqual([
      expect.stringMatching(
        /^local_rate_limit: admitted: bucket 0: 9 of 10 left, filled in .*; bucket 1: 2 of 3 left, filled in .* \(from route default\/r1\)$/,
      ),
    ]);
  });
});
