import { describe, expect, test } from '@jest/globals';

import { emptyBody } from '../../../../proxy/exchange/body.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { HttpRequest } from '../../../../proxy/exchange/message.ts';
import {
  freshHeaders,
  mutateRequest,
  mutateResponse,
  mutateTrailers,
} from '../../../../proxy/policy/ext-proc/mutation.ts';
import type { HeaderMutation } from '../../../../proxy/services/messages/process.ts';

function request(changes: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'GET',
    scheme: 'http',
    authority: 'shop.test',
    target: '/a',
    version: 'HTTP/1.1',
    headers: Headers.from([
      ['x-a', '1'],
      ['content-length', '5'],
    ]),
    body: emptyBody,
    upgrade: null,
    ...changes,
  };
}

function set(...pairs: readonly (readonly [key: string, value: string])[]): HeaderMutation {
  return { setHeaders: pairs.map(([key, value]) => ({ header: { key, value } })) };
}

describe('a mutation of headers', () => {
  test('removes first, then sets', () => {
    const one = request();
    mutateRequest(one, { ...set(['x-a', '2']), removeHeaders: ['X-A'] });
    expect(one.headers.getAll('x-a')).toEqual(['2']);
  });

  test('changes the request line by its pseudo headers, as far as they make sense', () => {
    const one = request();
    mutateRequest(one, set([':path', '/b?c'], [':method', 'PUT'], [':scheme', 'https'], ['host', 'inner.test:81']));
    expect(one).toMatchObject({ target: '/b?c', method: 'PUT', scheme: 'https', authority: 'inner.test:81' });
    const before = { target: '/a', method: 'GET', scheme: 'http', authority: 'shop.test' };
    const bad = request();
    mutateRequest(
      bad,
      set(
        [':path', 'b'],
        [':path', '/a b'],
        [':path', '*'],
        [':method', 'A B'],
        [':method', 'CONNECT'],
        [':scheme', 'ftp'],
      ),
    );
    mutateRequest(
      bad,
      set([':authority', ''], [':authority', 'a b'], ['host', 'a\r\nx: 1'], [':status', '500'], [':odd', '1']),
    );
    mutateRequest(bad, { removeHeaders: ['host', ':path', ':authority'] });
    expect(bad).toMatchObject(before);
    expect(bad.headers.names).toEqual(['x-a', 'content-length']);
  });

  test('sets one content-length, and only a number', () => {
    const one = request();
    mutateRequest(one, {
      setHeaders: [{ header: { key: 'Content-Length', value: '7' }, append: { value: true } }],
    });
    expect(one.headers.getAll('content-length')).toEqual(['7']);
    for (const value of ['-1', '7, 8', '0x10', '1e3', '9'.repeat(16)])
      mutateRequest(one, set(['content-length', value]));
    expect(one.headers.getAll('content-length')).toEqual(['7']);
    mutateRequest(one, { removeHeaders: ['content-length'] });
    expect(one.headers.has('content-length')).toBe(false);
  });

  test('never touches what belongs to one connection', () => {
    const one = request({ headers: Headers.from([['te', 'trailers']]) });
    mutateRequest(one, {
      ...set(['connection', 'x-a'], ['transfer-encoding', 'chunked'], ['upgrade', 'h2c'], ['keep-alive', '1']),
      removeHeaders: ['te', 'Transfer-Encoding'],
    });
    expect([...one.headers]).toEqual([['te', 'trailers']]);
  });

  test('changes the status of a response to any that ends an exchange', () => {
    const response = { status: 200, headers: new Headers(), body: emptyBody };
    for (const value of ['100', '101', '199', '600', '99', 'abc', '2 0', '']) {
      mutateResponse(response, set([':status', value]));
      expect(response.status).toBe(200);
    }
    mutateResponse(response, set([':status', '503'], [':path', '/x'], ['host', 'x']));
    expect(response.status).toBe(503);
    expect([...response.headers]).toEqual([]);
  });

  test('leaves nothing in trailers that frames, routes or authorizes', () => {
    const trailers = mutateTrailers(
      Headers.from([['x-sum', '1']]),
      set(
        ['x-sum', '2'],
        ['content-length', '1'],
        ['authorization', 'x'],
        ['set-cookie', 'a=1'],
        ['host', 'x'],
        [':status', '1'],
      ),
    );
    expect([...trailers]).toEqual([['x-sum', '2']]);
  });

  test('makes headers of an answer, which tells its length itself', () => {
    const headers = freshHeaders(
      set(['x-a', '1'], ['content-length', '9'], [':status', '500'], ['connection', 'close']),
    );
    expect([...headers]).toEqual([['x-a', '1']]);
    expect([...freshHeaders(null)]).toEqual([]);
  });
});
