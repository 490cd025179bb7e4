import { describe, expect, test } from '@jest/globals';

import { applyForwardedHeaders } from '../../../proxy/exchange/forwarded.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import { stripRequestHopByHop, stripResponseHopByHop } from '../../../proxy/exchange/hop-by-hop.ts';
import { request } from './build.ts';

function strip(pairs: [string, string][], side = stripRequestHopByHop): { left: string[]; upgrade: string | null } {
  const headers = Headers.from(pairs);
  const upgrade = side(headers);
  return { left: [...headers].map(([name, value]) => `${name}: ${value}`), upgrade };
}

describe('stripRequestHopByHop', () => {
  test('removes the fields of the connection and those it names', () => {
    const { left, upgrade } = strip([
      ['Connection', 'close, X-Private'],
      ['connection', 'x-other'],
      ['x-private', '1'],
      ['X-Other', '2'],
      ['Keep-Alive', 'timeout=5'],
      ['proxy-connection', 'keep-alive'],
      ['proxy-authenticate', 'Basic'],
      ['transfer-encoding', 'chunked'],
      ['trailer', 'x-sum'],
      ['proxy-authorization', 'Basic abc'],
      ['x-kept', '3'],
    ]);
    expect(left).toEqual(['proxy-authorization: Basic abc', 'x-kept: 3']);
    expect(upgrade).toBeNull();
  });

  test.each([
    ['trailers', ['te: trailers']],
    ['gzip;q=0.5, Trailers', ['te: trailers']],
    ['trailers;q=1', ['te: trailers']],
    ['gzip', []],
    ['nottrailers', []],
  ])('of te: %s keeps %j', (te, expected) => {
    expect(strip([['te', te]]).left).toEqual(expected);
  });

  test('remembers an upgrade that the connection asks for', () => {
    expect(
      strip([
        ['connection', 'keep-alive, Upgrade'],
        ['upgrade', 'websocket'],
      ]),
    ).toEqual({ left: [], upgrade: 'websocket' });
    expect(strip([['upgrade', 'websocket']])).toEqual({ left: [], upgrade: null });
    for (const [asked, kept] of [
      ['h2c', null],
      ['HTTP/2.0', null],
      ['h2c, websocket', 'websocket'],
      ['websocket, chat/2', 'websocket, chat/2'],
      [' , ', null],
    ] as const) {
      const pairs: [string, string][] = [
        ['connection', 'upgrade, http2-settings'],
        ['upgrade', asked],
        ['http2-settings', 'AAMAAABk'],
      ];
      expect(strip(pairs)).toEqual({ left: [], upgrade: kept });
    }
    expect(strip([['connection', 'upgrade']])).toEqual({ left: [], upgrade: null });
  });

  test('leaves a message without such fields alone', () => {
    expect(
      strip([
        ['accept', '*/*'],
        ['x-connection', 'y'],
      ]),
    ).toEqual({ left: ['accept: */*', 'x-connection: y'], upgrade: null });
  });

  test('survives odd Connection values', () => {
    expect(
      strip([
        ['connection', ' , ,'],
        ['x-a', '1'],
      ]).left,
    ).toEqual(['x-a: 1']);
    expect(
      strip([
        ['connection', 'connection, connection'],
        ['x-a', '1'],
      ]).left,
    ).toEqual(['x-a: 1']);
  });
});

describe('stripResponseHopByHop', () => {
  test('tells what a 101 switches to', () => {
    const { left, upgrade } = strip(
      [
        ['connection', 'Upgrade'],
        ['Upgrade', 'WebSocket'],
        ['sec-websocket-accept', 'x'],
      ],
      stripResponseHopByHop,
    );
    expect({ left, upgrade }).toEqual({ left: ['sec-websocket-accept: x'], upgrade: 'WebSocket' });
  });

  test('does not hand te to the client', () => {
    expect(
      strip(
        [
          ['te', 'trailers'],
          ['connection', 'close'],
        ],
        stripResponseHopByHop,
      ).left,
    ).toEqual([]);
  });
});

describe('applyForwardedHeaders', () => {
  const sent: [string, string][] = [
    ['x-forwarded-for', '1.1.1.1'],
    ['x-forwarded-for', '2.2.2.2'],
    ['x-forwarded-proto', 'https'],
  ];
  const apply = (pairs: [string, string][], mode: 'append' | 'overwrite' | 'off'): Record<string, string[]> => {
    const message = request({ headers: Headers.from(pairs), authority: 'shop.test:8080' });
    applyForwardedHeaders(message, '10.0.0.9', mode);
    return Object.fromEntries([...new Set(message.headers.names)].map((name) => [name, message.headers.getAll(name)]));
  };

  test('appends the client and fills in what is absent', () => {
    expect(apply(sent, 'append')).toEqual({
      'x-forwarded-for': ['1.1.1.1, 2.2.2.2, 10.0.0.9'],
      'x-forwarded-proto': ['https'],
      'x-forwarded-host': ['shop.test:8080'],
    });
    expect(apply([], 'append')).toMatchObject({ 'x-forwarded-for': ['10.0.0.9'], 'x-forwarded-proto': ['http'] });
  });

  test('replaces what the client claims', () => {
    expect(apply(sent, 'overwrite')).toEqual({
      'x-forwarded-for': ['10.0.0.9'],
      'x-forwarded-proto': ['http'],
      'x-forwarded-host': ['shop.test:8080'],
    });
  });

  test('leaves everything alone when off', () => {
    expect(apply([], 'off')).toEqual({});
  });
});
