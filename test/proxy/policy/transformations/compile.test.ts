import { describe, expect, test } from '@jest/globals';

import { BufferedBody, emptyBody } from '../../../../proxy/exchange/body.ts';
import type { Exchange } from '../../../../proxy/exchange/exchange.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { HttpRequest, HttpResponse } from '../../../../proxy/exchange/message.ts';
import { transformRequest, transformResponse } from '../../../../proxy/policy/transformations/compile.ts';
import type { Transformation, Transformations } from '../../../../src/config/ir/policy/transformations.ts';
import { ManualBody, traced, untraced } from '../../exchange/build.ts';
import { context, deps } from '../build.ts';
import { fakeExpressions, type Meaning } from '../fake-expressions.ts';

const nothing: Transformation = { metadata: [], add: [], set: [], remove: [] };
const meanings: Record<string, Meaning> = {
  'the headers': () => ({
    'x-a': ['1', '2'],
    'x-n': 5,
    'x-null': null,
    ':path': '/no',
    host: 'no',
    te: 'no',
    'bad name': 'x',
    'x-ü': 'x',
    'x-inject': 'a\r\nb',
  }),
  'x-old': ({ request }) => request?.headers.get('x-old'),
  'metadata.team': ({ attributes }) => attributes.metadata?.['team'],
};
const own = () => context({ ...deps(), expressions: fakeExpressions(meanings) });

function onRequest(spec: Partial<Transformation>, exchange: Exchange): HttpRequest {
  const outcome = transformRequest({ entries: [{ settings: { request: { ...nothing, ...spec } } }] }, own())(exchange);
  expect(outcome).toEqual({ kind: 'next' });
  return exchange.request;
}

function onResponse(
  spec: Partial<Transformation>,
  parts: Partial<HttpResponse> = {},
  exchange = untraced(),
): HttpResponse {
  const response: HttpResponse = { status: 200, headers: new Headers(), body: emptyBody, ...parts };
  const choice = { entries: [{ settings: { response: { ...nothing, ...spec } } }] };
  transformRequest(choice, own())(exchange);
  expect(transformResponse(choice, own())?.(exchange, response)).toBeNull();
  return response;
}

const pairs = (headers: Headers): string[] => [...headers].map(([name, value]) => `${name}: ${value}`);
const withHeaders = (...fields: [string, string][]): { headers: Headers } => ({ headers: Headers.from(fields) });

describe('a transformation of a request', () => {
  test('appends, replaces and removes headers, in this order', () => {
    const request = onRequest(
      {
        add: [
          ['x-a', '"2"'],
          ['x-b', '"1"'],
        ],
        set: [
          ['x-b', '"3"'],
          ['X-C', '"4"'],
        ],
        remove: ['X-Old', 'x-c'],
      },
      untraced(withHeaders(['x-a', '1'], ['x-old', 'o'])),
    );
    expect(pairs(request.headers)).toEqual(['x-a: 1', 'x-a: 2', 'x-b: 3']);
  });

  test('removes a header whose expression fails or gives no text, for add and for set', () => {
    const request = onRequest(
      {
        add: [['x-a', 'broken']],
        set: [
          ['X-B', '5'],
          ['x-c', 'broken'],
        ],
      },
      untraced(withHeaders(['x-a', '1'], ['x-b', '1'], ['x-c', '1'], ['x-d', '1'])),
    );
    expect(pairs(request.headers)).toEqual(['x-d: 1']);
  });

  test('replaces all headers by a map, and leaves out what cannot be a header', () => {
    const request = onRequest({ replace: 'the headers' }, untraced(withHeaders(['x-old', '1'])));
    expect(pairs(request.headers)).toEqual(['x-a: 1', 'x-a: 2', 'x-n: 5']);
    expect(request).toMatchObject({ target: '/', authority: 'shop.test' });
  });

  test('keeps the headers when the map fails or is none', () => {
    for (const replace of ['broken', '5', '"text"'])
      expect(pairs(onRequest({ replace }, untraced(withHeaders(['x-old', '1']))).headers)).toEqual(['x-old: 1']);
  });

  test('changes the request line by pseudo headers and host, and leaves it where that fails', () => {
    const set: Transformation['set'] = [
      [':method', '"PUT"'],
      [':scheme', '"https"'],
      [':authority', '"a.test:81"'],
      [':path', '"/x?y=1"'],
    ];
    expect(onRequest({ set }, untraced())).toMatchObject({
      method: 'PUT',
      scheme: 'https',
      authority: 'a.test:81',
      target: '/x?y=1',
    });
    expect(onRequest({ set: [['Host', '"b.test"']] }, untraced()).authority).toBe('b.test');
    const wrong: Transformation['set'] = [
      [':method', '"P T"'],
      [':method', '"CONNECT"'],
      [':scheme', '"ftp"'],
      [':authority', '"a/b"'],
      [':authority', '""'],
      [':path', '"x"'],
      [':path', '"/a b"'],
      [':path', '"/a#b"'],
      [':path', '5'],
      [':status', '500'],
      ['host', 'broken'],
    ];
    expect(onRequest({ set: wrong }, untraced())).toMatchObject({
      method: 'GET',
      scheme: 'http',
      authority: 'shop.test',
      target: '/',
    });
  });

  test('replaces the body, empty when the expression fails, and gives the old one up', () => {
    const body = new ManualBody();
    const request = onRequest({ body: '"hello"' }, untraced({ body, ...withHeaders(['content-length', '3']) }));
    expect(body.calls).toEqual(['cancel']);
    expect(request.body).toBeInstanceOf(BufferedBody);
    expect(request.body.length).toBe(5);
    expect(request.headers.has('content-length')).toBe(false);
    expect(onRequest({ body: 'broken' }, untraced({ body: new ManualBody() })).body.length).toBe(0);
  });

  test('leaves metadata for the expressions that follow, without the entries that fail', () => {
    const exchange = untraced();
    const request = onRequest(
      {
        metadata: [
          ['team', '"red"'],
          ['none', 'broken'],
          ['__proto__', '"p"'],
        ],
        set: [['x-team', 'metadata.team']],
      },
      exchange,
    );
    expect(request.headers.get('x-team')).toBe('red');
    expect(Object.keys(exchange.attributes.metadata ?? {})).toEqual(['team', '__proto__']);
  });

  test('tells a trace the names of what changed, and no value', () => {
    const { exchange, policies } = traced(withHeaders(['x-old', 'secret'], ['x-same', '1'], ['x-gone', '1']));
    onRequest(
      {
        metadata: [['team', '"secret"']],
        add: [['x-new', '"secret"']],
        set: [
          ['x-old', '"secret2"'],
          ['x-same', '"1"'],
          [':path', '"/secret"'],
        ],
        remove: ['x-gone'],
        body: '"secret"',
      },
      exchange,
    );
    expect(policies).toEqual([
      'transformation: request: added x-new; changed :path, x-old; removed x-gone; metadata team; body of 6 bytes (from route default/r1)',
    ]);
    onRequest({}, exchange);
    expect(policies[1]).toBe('transformation: request: nothing changed (from route default/r1)');
  });

  test('refuses to set what belongs to the connection', () => {
    for (const name of ['Content-Length', 'connection', 'transfer-encoding', 'upgrade'])
      expect(() => onRequest({ set: [[name, '"x"']] }, untraced())).toThrow('belongs to the connection');
  });
});

describe('a transformation of a response', () => {
  test('changes headers, body and status', () => {
    const body = new ManualBody();
    const response = onResponse(
      {
        set: [
          ['x-a', '"1"'],
          [':status', '418'],
        ],
        body: '"tea"',
      },
      { ...withHeaders(['content-length', '9']), body },
    );
    expect(response.status).toBe(418);
    expect(pairs(response.headers)).toEqual(['x-a: 1']);
    expect(response.body.length).toBe(3);
    expect(body.calls).toEqual(['cancel']);
  });

  test('keeps a status that would be no answer', () => {
    for (const status of ['101', '600', '"200"', 'broken', '204.5'])
      expect(onResponse({ set: [[':status', status]] }).status).toBe(200);
  });

  test('drops the body of an answer that may have none by its new status', () => {
    const body = new ManualBody();
    const response = onResponse({ set: [[':status', '204']] }, { body, ...withHeaders(['content-length', '9']) });
    expect(body.calls).toEqual(['cancel']);
    expect(response.body.length).toBe(0);
    expect(response.headers.has('content-length')).toBe(false);
  });

  test('is the one that was chosen on the request', () => {
    const settings = (name: string) => ({ response: { ...nothing, set: [['x-chosen', `"${name}"`]] as const } });
    const choice: Transformations = {
      entries: [
        { condition: 'x-old is a', settings: settings('a') },
        { condition: 'true', settings: {} },
        { settings: settings('z') },
      ],
    };
    const place = context({
      ...deps(),
      expressions: fakeExpressions({ 'x-old is a': ({ request }) => request?.headers.get('x-old') === 'a' }),
    });
    const answer = (value: string): string | undefined => {
      const exchange = untraced(withHeaders(['x-old', value]));
      transformRequest(choice, place)(exchange);
      exchange.request.headers.set('x-old', 'other');
      const response: HttpResponse = { status: 200, headers: new Headers(), body: emptyBody };
      transformResponse(choice, place)?.(exchange, response);
      return response.headers.get('x-chosen');
    };
    expect(answer('a')).toBe('a');
    expect(answer('b')).toBeUndefined();
  });

  test('does not touch the answer to a request that never came that far', () => {
    const choice = { entries: [{ settings: { response: { ...nothing, set: [['x-a', '"1"']] as const } } }] };
    const response: HttpResponse = { status: 401, headers: new Headers(), body: emptyBody };
    transformResponse(choice, own())?.(untraced(), response);
    expect(pairs(response.headers)).toEqual([]);
  });
});
