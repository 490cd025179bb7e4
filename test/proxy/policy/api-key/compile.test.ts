import { createHash } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { apiKey } from '../../../../proxy/policy/api-key/compile.ts';
import type { RequestStep } from '../../../../proxy/policy/contract.ts';
import { type KnownKey, packKeys } from '../../../../src/config/api-keys.ts';
import type { ApiKeyAuth } from '../../../../src/config/ir/index.ts';
import { traced } from '../../exchange/build.ts';
import { context, deps } from '../build.ts';
import { fakeExpressions } from '../fake-expressions.ts';

const bearer = { kind: 'header', name: 'authorization', prefix: 'Bearer ' } as const;

function known(key: string, metadata?: KnownKey['owner']['metadata']): KnownKey {
  return { digest: createHash('sha256').update(key).digest('hex'), owner: metadata === undefined ? {} : { metadata } };
}

const keys = packKeys([known('k1', { team: 'red', limits: { day: 3 } }), known('k2'), known('gr\u00fc\u00df')]);

function run(spec: Partial<ApiKeyAuth>, lines: readonly (readonly [string, string])[], target = '/') {
  return runStep(apiKey({ mode: 'strict', location: bearer, keys, ...spec }, context()), lines, target);
}

function runStep(step: RequestStep, lines: readonly (readonly [string, string])[], target = '/') {
  const { exchange, policies, messages } = traced({ target, headers: Headers.from(lines) });
  const outcome = step(exchange);
  if (outcome instanceof Promise) throw new Error('API keys never wait');
  return { outcome, exchange, policies, messages, says: outcome.kind === 'fail' ? outcome.refusal.message : 'next' };
}

const anywhere = { kind: 'anyOf', targets: [bearer, { kind: 'queryParameter', name: 'key' }] } as const;

describe('an API key that may be in several places', () => {
  test.each([
    ['/p?key=k1', [], 'next'],
    ['/p?key=wrong', [['authorization', 'Bearer k1']], 'next'],
    ['/p?key=k1', [['authorization', 'Bearer wrong']], 'api key authentication failure: invalid credentials'],
    ['/p?key=k1', [['authorization', 'Basic wrong']], 'next'],
    ['/p', [], 'api key authentication failure: no API Key found'],
  ] as const)('is the first: %s with the headers %j', (target, lines, says) => {
    expect(run({ location: anywhere }, lines, target).says).toBe(says);
  });

  test('is taken out of all of them', () => {
    const { exchange } = run({ location: anywhere }, [['authorization', 'Bearer k1']], '/p?key=k1&a=1');
    expect(exchange.request.target).toBe('/p?a=1');
    expect(exchange.request.headers.has('authorization')).toBe(false);
  });
});

const NONE = 'api key authentication failure: no API Key found';
const INVALID = 'api key authentication failure: invalid credentials';

describe('an API key', () => {
  test('that is known is taken out of the request, and its owner is known from then on', () => {
    const { outcome, exchange, policies } = run({}, [
      ['authorization', 'Bearer k1'],
      ['x-other', 'kept'],
      ['authorization', 'Bearer k2'],
    ]);
    expect(outcome.kind).toBe('next');
    expect([...exchange.request.headers]).toEqual([['x-other', 'kept']]);
    expect(exchange.attributes.apiKey?.metadata).toEqual({ team: 'red', limits: { day: 3 } });
    expect(exchange.attributes.apiKey?.key.reveal()).toBe('k1');
    expect(policies).toEqual(['api_key: accepted, with {"team":"red","limits":{"day":3}} (from route default/r1)']);
  });

  test.each([
    ['strict', undefined, NONE],
    ['optional', undefined, 'next'],
    ['permissive', undefined, 'next'],
    ['strict', 'Bearer wrong', INVALID],
    ['optional', 'Bearer wrong', INVALID],
    ['permissive', 'Bearer wrong', 'next'],
    ['strict', 'Basic k1', NONE],
    ['strict', 'Bearer', NONE],
    ['strict', 'Bearer ', INVALID],
    ['strict', 'Bearer  k1', INVALID],
    ['strict', 'Bearer k1\u0000', INVALID],
    ['strict', `Bearer ${'k'.repeat(100_000)}`, INVALID],
    ['strict', 'Bearer gr\u00fc\u00df', 'next'],
    ['strict', 'Bearer gr\u00fc', INVALID],
    ['strict', `Bearer ${Buffer.from('gr\u00fc\u00df').toString('latin1')}`, 'next'],
  ] as const)('in mode %s, %p: %s', (mode, header, expected) => {
    const { says, outcome } = run({ mode }, header === undefined ? [] : [['authorization', header]]);
    expect(says).toBe(expected);
    const refusal = outcome.kind === 'fail' ? outcome.refusal : null;
    expect([refusal?.status, refusal?.reason]).toEqual(
      expected === 'next' ? [undefined, undefined] : [401, 'APIKeyAuth'],
    );
  });

  test('that is not known stays in the request of a permissive policy, and nobody is known', () => {
    const { exchange, policies } = run({ mode: 'permissive' }, [['authorization', 'Bearer wrong']]);
    expect(exchange.request.headers.get('authorization')).toBe('Bearer wrong');
    expect(exchange.attributes.apiKey).toBeNull();
    expect(policies).toEqual(['api_key: the key is not known']);
  });

  test('is in no message of a trace', () => {
    const { messages } = run({}, [['authorization', 'Bearer k1']]);
    expect(JSON.stringify(messages)).not.toContain('k1');
  });

  test('is found in a query, a cookie or by an expression', () => {
    const query = run({ location: { kind: 'queryParameter', name: 'key' } }, [], '/p?key=gr%C3%BC%C3%9F&a=1');
    expect(query.says).toBe('next');
    expect(query.exchange.request.target).toBe('/p?a=1');
    const cookie = run({ location: { kind: 'cookie', name: 'key' } }, [['cookie', 'a=1; key=k1']]);
    expect(cookie.says).toBe('next');
    expect(cookie.exchange.request.headers.get('cookie')).toBe('a=1');
    const expressions = fakeExpressions({ mine: ({ request }) => request?.headers.get('x-mine') });
    const location = { kind: 'expression', expression: 'mine' } as const;
    const step = apiKey({ mode: 'strict', location, keys }, context({ ...deps(), expressions }));
    expect(runStep(step, [['x-mine', 'k2']]).says).toBe('next');
    expect(runStep(step, []).says).toBe(NONE);
  });

  test('is found among all others, and no other is', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1 }), fc.string(), (list, other) => {
        const location = { kind: 'queryParameter', name: 'key' } as const;
        const step = apiKey({ mode: 'strict', location, keys: packKeys(list.map((key) => known(key))) }, context());
        const says = (key: string): string => runStep(step, [], `/?key=${encodeURIComponent(key)}`).says;
        for (const key of list) expect(says(key)).toBe('next');
        expect(says(other)).toBe(list.includes(other) ? 'next' : INVALID);
      }),
    );
  });
});
