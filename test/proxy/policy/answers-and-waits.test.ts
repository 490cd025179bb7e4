import { describe, expect, test } from '@jest/globals';

import { UpstreamError } from '../../../proxy/backends/upstream.ts';
import { delay } from '../../../proxy/policy/delay/compile.ts';
import { directResponse } from '../../../proxy/policy/direct-response/compile.ts';
import { mirrorPlans } from '../../../proxy/policy/request-mirror/compile.ts';
import { retry, retryPlan } from '../../../proxy/policy/retry/compile.ts';
import { timeout } from '../../../proxy/policy/timeout/compile.ts';
import { traced, untraced } from '../exchange/build.ts';
import { context, deps } from './build.ts';

describe('directResponse', () => {
  const answer = (status: number, body = 'no') => directResponse({ status, body: Buffer.from(body) }, context());

  test('answers with status and body', () => {
    const { exchange, policies } = traced();
    expect(answer(418)(exchange)).toMatchObject({
      kind: 'respond',
      policy: 'directResponse',
      response: { status: 418, body: { length: 2 } },
    });
    expect(policies).toEqual(['direct_response: 418 with 2 bytes (from route default/r1)']);
  });

  test('gives every request headers of its own', () => {
    const step = answer(200);
    const [a, b] = [step(untraced()), step(untraced())];
    if (!('response' in a) || !('response' in b)) throw new Error('no answer');
    expect(a.response.headers).not.toBe(b.response.headers);
  });

  test.each([204, 205, 304])('has no body with %d', (status) => {
    expect(answer(status)(untraced())).toMatchObject({ response: { body: { length: 0 } } });
  });

  test.each([0, 101, 199, 1000, 200.5])('refuses %d at load', (status) => {
    expect(() => answer(status)).toThrow(/is not the status of an answer/);
  });
});

describe('delay', () => {
  test('goes on when the time has passed', async () => {
    const own = deps();
    const { exchange, policies } = traced();
    const waiting = delay({ durationMs: 250 }, context(own))?.(exchange);
    own.clock.advance(250);
    expect(await waiting).toEqual({ kind: 'next' });
    expect(policies).toEqual(['delay: 250ms (from route default/r1)']);
  });

  test('ends with 504 at the deadline of the request', async () => {
    const own = deps();
    const { exchange, policies } = traced();
    exchange.deadlineAt = own.clock.now() + 100;
    const waiting = delay({ durationMs: 250 }, context(own))?.(exchange);
    own.clock.advance(100);
    expect(await waiting).toMatchObject({
      kind: 'fail',
      refusal: { status: 504, reason: 'Timeout', message: 'request timeout' },
    });
    expect(policies).toEqual(['delay: cut by the request timeout (from route default/r1)']);
  });

  test('ends when the client leaves', async () => {
    const own = deps();
    const exchange = untraced();
    const waiting = delay({ durationMs: 250 }, context(own))?.(exchange);
    exchange.clientLeft();
    expect(await waiting).toMatchObject({ kind: 'fail', refusal: { message: 'client went away' } });
    expect(own.clock.pending).toBe(0);
  });

  test('is nothing when there is nothing to wait for', () => {
    expect(delay({ durationMs: 0 }, context())).toBeNull();
    expect(delay({ durationMs: -5 }, context())).toBeNull();
  });
});

describe('timeout', () => {
  test('sets the deadline from the arrival of the request', () => {
    const { exchange, policies } = traced();
    timeout({ requestTimeoutMs: 5000, backendRequestTimeoutMs: 100 }, context())(exchange);
    expect(exchange.deadlineAt).toBe(exchange.startedAt + 5000);
    expect(policies).toEqual(['timeout: request 5s, upstream call 100ms (from route default/r1)']);
  });

  test('leaves the deadline when only the call is limited', () => {
    const exchange = untraced();
    timeout({ backendRequestTimeoutMs: 100 }, context())(exchange);
    expect(exchange.deadlineAt).toBeNull();
  });
});

describe('retry', () => {
  const plan = retryPlan({ attempts: 2, backoffMs: 50, codes: [503] });

  test('tries again on its codes and on calls that failed, not on what was given up', () => {
    expect(plan.shouldRetry(503)).toBe(true);
    expect(plan.shouldRetry(500)).toBe(false);
    expect(plan.shouldRetry('timeout')).toBe(true);
    for (const kind of ['dns', 'connect', 'connectTimeout', 'tls', 'reset', 'protocol'] as const) {
      expect(plan.shouldRetry(new UpstreamError(kind, 'x'))).toBe(true);
    }
    expect(plan.shouldRetry(new UpstreamError('cancelled', 'x'))).toBe(false);
  });

  test('tells its plan', () => {
    const { exchange, policies } = traced();
    retry({ attempts: 2, backoffMs: 50, codes: [502, 503] }, context())(exchange);
    expect(policies).toEqual(['retry: up to 2 more on failed calls and 502, 503, 50ms apart (from route default/r1)']);
  });
});

describe('mirrorPlans', () => {
  const backend = { kind: 'reference', backend: '/shadow' } as const;
  const drawn = (percentage: number, random: number): boolean | undefined =>
    mirrorPlans([{ backend, percentage }], 'route default/r1')[0]?.shouldMirror(() => random);

  test('draws the configured share', () => {
    expect([drawn(0, 0), drawn(0.5, 0.49), drawn(0.5, 0.5), drawn(1, 0.999_999)]).toEqual([false, true, false, true]);
  });

  test('describes itself', () => {
    expect(mirrorPlans([{ backend, percentage: 0.05 }], 'route default/r1')[0]?.details).toBe(
      '5% to backend /shadow (from route default/r1)',
    );
    expect(mirrorPlans(undefined, '')).toEqual([]);
  });
});
