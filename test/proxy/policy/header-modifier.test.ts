import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';

import { emptyBody } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import { requestHeaderModifier, responseHeaderModifier } from '../../../proxy/policy/header-modifier/compile.ts';
import type { HeaderModifier } from '../../../src/config/ir/index.ts';
import { traced, untraced } from '../exchange/build.ts';
import { context } from './build.ts';

const none: HeaderModifier = { add: [], set: [], remove: [] };

describe('requestHeaderModifier', () => {
  test('adds, then sets, then removes', () => {
    const exchange = untraced({
      headers: Headers.from([
        ['x-a', '1'],
        ['X-B', '1'],
        ['x-c', '1'],
      ]),
    });
    const spec = {
      add: [
        ['X-A', '2'],
        ['x-b', '2'],
        ['x-c', '2'],
      ],
      set: [['X-B', '3']],
      remove: ['X-C'],
    } as const;
    requestHeaderModifier(spec, context())(exchange);
    expect([...exchange.request.headers]).toEqual([
      ['x-a', '1'],
      ['x-b', '3'],
      ['x-a', '2'],
    ]);
  });

  test('changes the authority when it says host', () => {
    const exchange = untraced();
    requestHeaderModifier({ ...none, set: [['Host', 'b.test:9']] }, context())(exchange);
    expect(exchange.request.authority).toBe('b.test:9');
    expect(exchange.request.headers.size).toBe(0);
  });

  test.each<[string, HeaderModifier]>([
    ['a value with a line break', { ...none, set: [['x-a', 'b\r\nx-evil: 1']] }],
    ['a value beyond ASCII', { ...none, add: [['x-a', 'é']] }],
    ['a name with a space', { ...none, add: [['x a', '1']] }],
    ['an empty name', { ...none, remove: [''] }],
    ['a pseudo-header', { ...none, set: [[':path', '/']] }],
    ['the framing of the message', { ...none, set: [['Content-Length', '0']] }],
    ['a host that is none', { ...none, set: [['host', 'a/b']] }],
    ['the removal of the host', { ...none, remove: ['Host'] }],
  ])('refuses %s at load', (_what, spec) => {
    expect(() => requestHeaderModifier(spec, context())).toThrow(/^requestHeaderModifier from route default\/r1: /);
  });

  test('accepts every value that a field may hold', () => {
    const visible = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
    fc.assert(
      fc.property(visible, (value) => {
        const exchange = untraced();
        requestHeaderModifier({ ...none, set: [['x-a', value]] }, context())(exchange);
        expect(exchange.request.headers.get('x-a')).toBe(value.trim());
      }),
    );
  });

  test('tells names but not values', () => {
    const { exchange, policies } = traced();
    requestHeaderModifier({ add: [['x-a', 'secret']], set: [['x-b', 'secret']], remove: ['x-c'] }, context())(exchange);
    expect(policies).toEqual(['request_header_modifier: add x-a; set x-b; remove x-c (from route default/r1)']);
  });
});

describe('responseHeaderModifier', () => {
  test('changes the response and tells so', () => {
    const { exchange, policies } = traced();
    const response = { status: 200, headers: Headers.from([['server', 'x']]), body: emptyBody };
    responseHeaderModifier({ ...none, set: [['x-by', 'gw']], remove: ['Server'] }, context())(exchange, response);
    expect([...response.headers]).toEqual([['x-by', 'gw']]);
    expect(policies).toEqual(['response_header_modifier: set x-by; remove Server (from route default/r1)']);
  });
});
