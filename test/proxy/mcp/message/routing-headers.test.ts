import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { RpcRequest } from '../../../../proxy/mcp/message/message.ts';
import {
  decodeHeaderValue,
  encodeHeaderValue,
  routingMismatch,
  setRoutingHeaders,
} from '../../../../proxy/mcp/message/routing-headers.ts';

const request = (method: string, params?: RpcRequest['params']): RpcRequest => ({
  kind: 'request',
  id: 1,
  method,
  params,
});
const echo = request('tools/call', { name: 'echo' });

describe('values of headers', () => {
  test.each([
    ['echo', 'echo'],
    ['a b\tc', 'a b\tc'],
    ['', '=?base64??='],
    [' a', '=?base64?IGE=?='],
    ['a\t', '=?base64?YQk=?='],
    ['ä', '=?base64?w6Q=?='],
    ['a\r\nb: c', '=?base64?YQ0KYjogYw==?='],
    ['=?base64?YQ==?=', '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
  ])('%j is sent as %j', (value, header) => {
    expect(encodeHeaderValue(value)).toBe(header);
    expect(decodeHeaderValue(header)).toBe(value);
  });

  test.each(['=?base64?Y?=', '=?base64?YQ?=', '=?base64?Y Q=?=', '=?base64?/w==?=', '=?base64?_w==?='])(
    '%s is not read',
    (header) => expect(decodeHeaderValue(header)).toBeUndefined(),
  );

  test('any text comes through', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const header = encodeHeaderValue(value);
        expect(header).toMatch(/^[!-~][\t -~]*$/);
        expect(decodeHeaderValue(header)).toBe(value);
      }),
    );
  });
});

describe('routingMismatch', () => {
  test.each<[string, [string, string][], RpcRequest, string | null]>([
    [
      'both',
      [
        ['mcp-method', 'tools/call'],
        ['mcp-name', 'echo'],
      ],
      echo,
      null,
    ],
    [
      'a wrapped name',
      [
        ['mcp-method', 'tools/call'],
        ['mcp-name', '=?base64?ZWNobw==?='],
      ],
      echo,
      null,
    ],
    ['none', [], echo, 'the Mcp-Method header is missing'],
    ['no name', [['mcp-method', 'tools/call']], echo, 'the Mcp-Name header is missing'],
    ['no name where there is none', [['mcp-method', 'tools/list']], request('tools/list'), null],
    ['no name where the message has none', [['mcp-method', 'tools/call']], request('tools/call', {}), null],
    [
      'another method',
      [
        ['mcp-method', 'tools/list'],
        ['mcp-name', 'echo'],
      ],
      echo,
      'the Mcp-Method header is not what the message says',
    ],
    [
      'another name',
      [
        ['mcp-method', 'tools/call'],
        ['mcp-name', 'add'],
      ],
      echo,
      'the Mcp-Name header is not what the message says',
    ],
    [
      'another case',
      [
        ['mcp-method', 'Tools/Call'],
        ['mcp-name', 'echo'],
      ],
      echo,
      'the Mcp-Method header is not what the message says',
    ],
    [
      'a broken wrapper',
      [
        ['mcp-method', 'tools/call'],
        ['mcp-name', '=?base64?!?='],
      ],
      echo,
      'the Mcp-Name header cannot be decoded',
    ],
    [
      'two names',
      [
        ['mcp-method', 'tools/call'],
        ['mcp-name', 'echo'],
        ['mcp-name', 'add'],
      ],
      echo,
      'there are several Mcp-Name headers',
    ],
    [
      'a name of nothing',
      [
        ['mcp-method', 'tools/list'],
        ['mcp-name', 'echo'],
      ],
      request('tools/list'),
      'the Mcp-Name header is not what the message says',
    ],
    [
      'an address',
      [
        ['mcp-method', 'resources/read'],
        ['mcp-name', 'memo:x'],
      ],
      request('resources/read', { uri: 'memo:x' }),
      null,
    ],
    [
      'a broken parameter',
      [
        ['mcp-method', 'tools/call'],
        ['mcp-name', 'echo'],
        ['mcp-param-city', '=?base64?!?='],
      ],
      echo,
      'the mcp-param-city header cannot be decoded',
    ],
  ])('of a modern request with %s', (_what, headers, message, wrong) => {
    expect(routingMismatch(Headers.from(headers), message, 'modern')).toBe(wrong);
  });

  test('wants nothing of legacy requests, but no lies either', () => {
    expect(routingMismatch(new Headers(), echo, 'legacy')).toBeNull();
    expect(routingMismatch(Headers.from([['mcp-name', 'add']]), echo, 'legacy')).not.toBeNull();
  });

  test('wants nothing of notifications and answers', () => {
    const headers = new Headers();
    expect(routingMismatch(headers, { kind: 'notification', method: 'a', params: undefined }, 'modern')).toBeNull();
    expect(routingMismatch(headers, { kind: 'result', id: 1, result: {} }, 'modern')).toBeNull();
  });
});

describe('setRoutingHeaders', () => {
  test('says what the message says, and nothing that it does not', () => {
    const headers = Headers.from([
      ['mcp-method', 'x'],
      ['mcp-name', 'everything_echo'],
    ]);
    setRoutingHeaders(headers, echo);
    expect([...headers]).toEqual([
      ['mcp-method', 'tools/call'],
      ['mcp-name', 'echo'],
    ]);
    setRoutingHeaders(headers, request('tools/list'));
    expect([...headers]).toEqual([['mcp-method', 'tools/list']]);
    setRoutingHeaders(headers, { kind: 'result', id: 1, result: {} });
    expect([...headers]).toEqual([]);
    setRoutingHeaders(headers, request('tools/call', { name: 'größe' }));
    expect(headers.get('mcp-name')).toBe('=?base64?Z3LDtsOfZQ==?=');
  });
});
