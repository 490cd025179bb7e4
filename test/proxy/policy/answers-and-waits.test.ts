import { describe, expect, test } from '@jest/globals';

import { BufferedBody, emptyBody } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import { UpstreamError } from '../../../proxy/backends/upstream.ts';
import { delay } from '../../../proxy/policy/delay/compile.ts';
import { directResponse } from '../../../proxy/policy/direct-response/compile.ts';
import { mirrorPlans } from '../../../proxy/policy/request-mirror/compile.ts';
import { retry, retryPlan } from '../../../proxy/policy/retry/compile.ts';
import { timeout } from '../../../proxy/policy/timeout/compile.ts';
import type { DirectAnswer, Retry } from '../../../src/config/ir/index.ts';
import { traced, untraced } from '../exchange/build.ts';
import { context, deps } from './build.ts';
import { fakeExpressions } from './fake-expressions.ts';

describe('directResponse', () => {
  const own = () => context({ ...deps(), expressions: fakeExpressions({ path: ({ request }) => request?.target }) });
  const plain = (status: number, body = 'no'): DirectAnswer => ({
    status,
    body: { kind: 'bytes', bytes: Buffer.from(body) },
    headers: [],
  });
  const answer = (status: number, body?: string) =>
    directResponse({ entries: [{ settings: plain(status, body) }] }, own());
  const responding = (settings: Partial<DirectAnswer>, target = '/x') => {
    const step = directResponse({ entries: [{ settings: { ...plain(200), ...settings } }] }, own());
    return step(untraced({ target }));
  };

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

  test('computes its body and headers, and leaves out headers without a value', () => {
    const outcome = responding({
      body: { kind: 'expression', expression: 'path' },
      headers: [
        ['content-type', '"text/x"'],
        ['x-none', 'broken'],
        ['x-number', '5'],
      ],
    });
    if (!('response' in outcome) || !(outcome.response.body instanceof BufferedBody)) throw new Error('no answer');
    expect(Buffer.from(outcome.response.body.bytes).toString()).toBe('/x');
    expect([...outcome.response.headers]).toEqual([['content-type', 'text/x']]);
  });

  test('is an error of the gateway when its body cannot be computed', () => {
    expect(responding({ body: { kind: 'expression', expression: 'broken' } })).toMatchObject({
      kind: 'fail',
      refusal: { status: 500, reason: 'Internal' },
    });
  });

  test('refuses headers of the connection at load', () => {
    expect(() => responding({ headers: [['Transfer-Encoding', '"chunked"']] })).toThrow('belongs to the connection');
  });

  test('answers by the first entry that holds, and not at all when none does', () => {
    const entries = [
      { condition: 'false', settings: plain(401) },
      { condition: 'true', settings: plain(402) },
    ];
    expect(directResponse({ entries }, own())(untraced())).toMatchObject({ response: { status: 402 } });
    expect(directResponse({ entries: entries.slice(0, 1) }, own())(untraced())).toEqual({ kind: 'next' });
  });

  test.each([0, 101, 199, 1000, 200.5])('refuses %d at load', (status) => {
    expect(() => answer(status)).toThrow(/is not the status of an answer/);
  });
});

describe('delay', () => {
  test('goes on when the time has passed', async () => {
    const own = deps();
    const { exchange, policies } = traced();
    const waiting = delay({ kind: 'fixed', durationMs: 250 }, context(own))?.(exchange);
    own.clock.advance(250);
    expect(await waiting).toEqual({ kind: 'next' });
    expect(policies).toEqual(['delay: 250ms (from route default/r1)']);
  });

  test('ends with 504 at the deadline of the request', async () => {
    const own = deps();
    const { exchange, policies } = traced();
    exchange.deadlineAt = own.clock.now() + 100;
    const waiting = delay({ kind: 'fixed', durationMs: 250 }, context(own))?.(exchange);
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
    const waiting = delay({ kind: 'fixed', durationMs: 250 }, context(own))?.(exchange);
    exchange.clientLeft();
    expect(await waiting).toMatchObject({ kind: 'fail', refusal: { message: 'client went away' } });
    expect(own.clock.pending).toBe(0);
  });

  test('is nothing when there is nothing to wait for', () => {
    expect(delay({ kind: 'fixed', durationMs: 0 }, context())).toBeNull();
    expect(delay({ kind: 'fixed', durationMs: -5 }, context())).toBeNull();
  });
});

describe('a delay by expression', () => {
  const run = (expression: string, own = { ...deps(), expressions: fakeExpressions() }) => {
    const { exchange, policies } = traced();
    const step = delay({ kind: 'expression', expression }, context(own));
    if (step === null) throw new Error('no step');
    return { own, policies, outcome: step(exchange) };
  };

  test('waits as many milliseconds as the expression says', async () => {
    const { own, outcome, policies } = run('250');
    own.clock.advance(250);
    expect(await outcome).toEqual({ kind: 'next' });
    expect(policies).toEqual(['delay: 250ms (from route default/r1)']);
  });

  test('does not wait when the expression fails, or for nothing', () => {
    expect(run('broken').outcome).toEqual({ kind: 'next' });
    expect(run('0').outcome).toEqual({ kind: 'next' });
    expect(run('-1').policies).toEqual(['delay: the duration is not positive (from route default/r1)']);
    expect(run('"5m"').policies).toEqual(['delay: the expression gives no duration (from route default/r1)']);
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
  const own = context({
    ...deps(),
    expressions: fakeExpressions({
      'is a GET': ({ request }) => request?.method === 'GET',
      'x-busy': ({ response }) => response?.headers.has('x-busy'),
    }),
  });
  const spec = { attempts: 2, backoffMs: 50, codes: [503] };
  const fault = (settings: Partial<Retry>, status: number, headers: [string, string][] = []): string | null => {
    const exchange = untraced();
    exchange.response = { status, headers: Headers.from(headers), body: emptyBody };
    return retryPlan({ ...spec, ...settings }, own).responseFault(exchange);
  };

  test('tries again on calls that failed, not on what was given up', () => {
    const plan = retryPlan(spec, own);
    expect(plan.isRetryable('timeout')).toBe(true);
    for (const kind of ['dns', 'connect', 'connectTimeout', 'tls', 'reset', 'protocol'] as const) {
      expect(plan.isRetryable(new UpstreamError(kind, 'x'))).toBe(true);
    }
    expect(plan.isRetryable(new UpstreamError('cancelled', 'x'))).toBe(false);
  });

  test('tries again on its codes, and on what its condition says of the response', () => {
    expect(fault({}, 503)).toBe('status 503');
    expect(fault({}, 500)).toBeNull();
    expect(fault({ condition: 'x-busy' }, 200, [['x-busy', '1']])).toBe('the condition holds for status 200');
    expect(fault({ condition: 'x-busy' }, 200)).toBeNull();
    expect(fault({ condition: 'broken' }, 200)).toBeNull();
    expect(fault({ condition: 'broken' }, 503)).toBe('status 503');
  });

  test('applies only where its precondition holds when the request comes by', () => {
    const applies = (precondition: string, method: string): boolean => {
      const settings = { ...spec, precondition };
      const exchange = untraced({ method });
      retry(settings, own)(exchange);
      exchange.request.method = 'PUT';
      return retryPlan(settings, own).applies(exchange);
    };
    expect(applies('is a GET', 'GET')).toBe(true);
    expect(applies('is a GET', 'POST')).toBe(false);
    expect(applies('broken', 'GET')).toBe(false);
    expect(retryPlan(spec, own).applies(untraced())).toBe(true);
  });

  test('tells its plan', () => {
    const { exchange, policies } = traced();
    retry({ ...spec, codes: [502, 503] }, own)(exchange);
    retry({ ...spec, codes: [], condition: 'x-busy', precondition: 'is a GET' }, own)(exchange);
    retry({ ...spec, precondition: 'false' }, own)(exchange);
    expect(policies).toEqual([
      'retry: up to 2 more on failed calls, 502 and 503, 50ms apart (from route default/r1)',
      'retry: up to 2 more on failed calls and the condition, 50ms apart (from route default/r1)',
      'retry: the precondition does not hold (from route default/r1)',
    ]);
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
