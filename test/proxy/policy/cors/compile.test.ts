import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { cors } from '../../../../proxy/policy/cors/compile.ts';
import type { Cors } from '../../../../src/config/ir/index.ts';
import { traced } from '../../exchange/build.ts';
import { context } from '../build.ts';

const spec: Cors = {
  allowOrigins: ['https://a.test'],
  allowMethods: ['GET', 'PUT'],
  allowHeaders: ['x-one', 'x-two'],
  exposeHeaders: ['x-seen', 'x-too'],
  allowCredentials: false,
};

function run(own: Partial<Cors>, method: string, headers: Record<string, string>) {
  const { exchange, policies } = traced({ method, headers: Headers.from(Object.entries(headers)) });
  const outcome = cors({ ...spec, ...own }, context())(exchange);
  if (outcome instanceof Promise) throw new Error('CORS never waits');
  const response = new Headers();
  exchange.queued.mergeInto(response);
  return {
    outcome: outcome.kind === 'respond' ? outcome.response.status : outcome.kind,
    answered: outcome.kind === 'respond' ? Object.fromEntries(outcome.response.headers) : {},
    queued: Object.fromEntries(response),
    policies,
  };
}

const preflight = {
  origin: 'https://a.test',
  'access-control-request-method': 'PUT',
  'access-control-request-headers': 'X-One ,,x-three',
};
const VARY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

describe('a request with CORS', () => {
  test('that has no origin goes on', () => {
    expect(run({}, 'GET', {})).toEqual({
      outcome: 'next',
      answered: {},
      queued: { vary: 'Origin' },
      policies: ['cors: the request has no Origin'],
    });
    expect(run({}, 'OPTIONS', { 'access-control-request-method': 'PUT' }).outcome).toBe('next');
    expect(run({}, 'GET', { origin: '' }).queued).toEqual({ vary: 'Origin' });
  });

  test('that is a preflight is answered with what the page may do', () => {
    expect(run({ maxAgeMs: 90_500 }, 'OPTIONS', preflight)).toMatchObject({
      outcome: 200,
      answered: {
        'access-control-allow-origin': 'https://a.test',
        'access-control-allow-methods': 'GET,PUT',
        'access-control-allow-headers': 'x-one,x-two',
        'access-control-expose-headers': 'x-seen,x-too',
        'access-control-max-age': '90',
        vary: VARY,
      },
      policies: ['cors: preflight from https://a.test allowed (from route default/r1)'],
    });
  });

  test('that is a preflight from another origin is answered without the headers', () => {
    expect(run({}, 'OPTIONS', { ...preflight, origin: 'https://b.test' })).toMatchObject({
      outcome: 200,
      answered: {},
      policies: ['cors: preflight from https://b.test refused (from route default/r1)'],
    });
  });

  test('that is OPTIONS and no preflight is answered for an allowed origin only', () => {
    expect(run({}, 'OPTIONS', { origin: 'https://a.test' }).outcome).toBe(200);
    expect(run({}, 'OPTIONS', { origin: 'https://b.test' }).outcome).toBe('next');
    expect(run({}, 'OPTIONS', { origin: 'https://b.test', 'access-control-request-method': '' }).outcome).toBe('next');
  });

  test('offers what a preflight asks for when everything is allowed', () => {
    const own = { allowOrigins: ['*'], allowMethods: ['GET', '*'], allowHeaders: ['*'], exposeHeaders: ['*'] };
    expect(run(own, 'OPTIONS', preflight).answered).toEqual({
      'access-control-allow-origin': 'https://a.test',
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'X-One, x-three',
      'access-control-expose-headers': '*',
      vary: VARY,
    });
    const unasked = run(own, 'OPTIONS', { origin: 'null' }).answered;
    expect(unasked).toMatchObject({
      'access-control-allow-origin': 'null',
      'access-control-allow-methods': '*',
      'access-control-allow-headers': '*',
    });
    const withCredentials = run({ ...own, allowCredentials: true }, 'OPTIONS', { origin: 'https://a.test' }).answered;
    expect(withCredentials).toEqual({
      'access-control-allow-origin': 'https://a.test',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': '*',
      vary: VARY,
    });
  });

  test('offers nothing that an empty list allows', () => {
    const own = { allowMethods: [], allowHeaders: [], exposeHeaders: [] };
    expect(run(own, 'OPTIONS', preflight).answered).toEqual({
      'access-control-allow-origin': 'https://a.test',
      vary: VARY,
    });
  });

  test('from an allowed origin gets its headers with whatever answer there is', () => {
    expect(run({ allowCredentials: true }, 'POST', { origin: 'https://a.test' })).toEqual({
      outcome: 'next',
      answered: {},
      queued: {
        'access-control-allow-origin': 'https://a.test',
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': 'x-seen,x-too',
        vary: 'Origin',
      },
      policies: ['cors: headers for https://a.test added (from route default/r1)'],
    });
  });

  test('from another origin goes on without', () => {
    expect(run({}, 'POST', { origin: 'https://b.test' })).toEqual({
      outcome: 'next',
      answered: {},
      queued: { vary: 'Origin' },
      policies: ['cors: the origin https://b.test is not allowed (from route default/r1)'],
    });
  });

  test('of two phases gets the headers of the later one, once', () => {
    const { exchange } = traced({ headers: Headers.from([['origin', 'https://a.test']]) });
    cors({ ...spec, allowCredentials: true }, context())(exchange);
    cors({ ...spec, exposeHeaders: [] }, context())(exchange);
    const response = new Headers();
    exchange.queued.mergeInto(response);
    expect([...response]).toEqual([
      ['access-control-allow-origin', 'https://a.test'],
      ['vary', 'Origin'],
    ]);
    cors({ ...spec, allowOrigins: [] }, context())(exchange);
    const refused = new Headers();
    exchange.queued.mergeInto(refused);
    expect(refused.names).toEqual(['vary']);
  });
});
