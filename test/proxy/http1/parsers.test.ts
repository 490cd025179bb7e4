import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { FieldParser } from '../../../proxy/http1/fields.ts';
import { responseFraming } from '../../../proxy/http1/framing.ts';
import { HeadReader } from '../../../proxy/http1/head-reader.ts';
import { Http1Error } from '../../../proxy/http1/limits.ts';
import { parseRequestHead } from '../../../proxy/http1/request-head.ts';
import { parseResponseHead } from '../../../proxy/http1/response-head.ts';

const fields = new FieldParser({ keepSpelling: true });
const request = (lines: string) => parseRequestHead(lines, fields, 100);

function refused(action: () => unknown): { status: number; message: string } {
  try {
    action();
  } catch (error) {
    if (error instanceof Http1Error) return { status: error.status, message: error.message };
    throw error;
  }
  throw new Error('was not refused');
}

describe('a request head', () => {
  test('is read with its authority, target and fields', () => {
    const head = request('GET /a?b=c HTTP/1.1\r\nHost: shop.test:8080\r\nX-Team:  red \t\r\nX-Empty:\r\n');
    expect(head).toMatchObject({ method: 'GET', target: '/a?b=c', authority: 'shop.test:8080', keepAlive: true });
    expect([...head.headers]).toEqual([
      ['x-team', 'red'],
      ['x-empty', ''],
    ]);
    expect(head.headers.spelling(0)).toBe('X-Team');
    expect(head.framing).toEqual({ kind: 'none' });
  });

  test('in absolute form replaces Host by the authority of its target', () => {
    const head = request('GET http://real.test/x HTTP/1.1\r\nHost: other.test\r\n');
    expect([head.authority, head.target]).toEqual(['real.test', '/x']);
    expect(request('GET http://real.test?q HTTP/1.1\r\nHost: a\r\n').target).toBe('/?q');
  });

  test('of CONNECT and OPTIONS * keeps their own forms of target', () => {
    expect(request('CONNECT db.test:5432 HTTP/1.1\r\nHost: db.test\r\n')).toMatchObject({
      authority: 'db.test:5432',
      target: '',
    });
    expect(request('OPTIONS * HTTP/1.1\r\nHost: a\r\n').target).toBe('*');
  });

  test.each([
    ['HTTP/1.1', '', true],
    ['HTTP/1.1', 'Connection: close\r\n', false],
    ['HTTP/1.1', 'Connection: x-hop, Close\r\n', false],
    ['HTTP/1.1', 'Connection: x-hop\r\nConnection: close\r\n', false],
    ['HTTP/1.0', '', false],
    ['HTTP/1.0', 'Connection: Keep-Alive\r\n', true],
  ])('%s with "%s" keeps the connection: %s', (version, connection, keep) => {
    expect(request(`GET / ${version}\r\nHost: a\r\n${connection}`).keepAlive).toBe(keep);
  });

  test.each<[string, string, number]>([
    ['both lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n', 400],
    ['a list of lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n', 400],
    ['a signed length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n', 400],
    ['a hexadecimal length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n', 400],
    ['a huge length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999\r\n', 400],
    [
      'chunked twice',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
      400,
    ],
    ['chunked not last', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n', 400],
    ['an obscured coding', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n', 400],
    ['another coding', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n', 501],
    ['a coding in HTTP/1.0', 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n', 400],
    ['a folded field', 'GET / HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n', 400],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost : a\r\n', 400],
    ['a field without a colon', 'GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n', 400],
    ['an empty field name', 'GET / HTTP/1.1\r\nHost: a\r\n: b\r\n', 400],
    ['a bare CR in a value', 'GET / HTTP/1.1\r\nHost: a\r\nX-A: b\rX-B: c\r\n', 400],
    ['a bare LF in a value', 'GET / HTTP/1.1\r\nHost: a\r\nX-A: b\nX-B: c\r\n', 400],
    ['a NUL in a value', 'GET / HTTP/1.1\r\nHost: a\r\nX-A: b\0c\r\n', 400],
    ['no Host', 'GET / HTTP/1.1\r\nX-A: b\r\n', 400],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n', 400],
    ['a Host with a path', 'GET / HTTP/1.1\r\nHost: a/b\r\n', 400],
    ['a Host with user info', 'GET / HTTP/1.1\r\nHost: u@b\r\n', 400],
    ['no version', 'GET /\r\nHost: a\r\n', 400],
    ['a tab in the request line', 'GET /a\tb HTTP/1.1\r\nHost: a\r\n', 400],
    ['two spaces', 'GET  / HTTP/1.1\r\nHost: a\r\n', 400],
    ['a lower-case version', 'GET / http/1.1\r\nHost: a\r\n', 400],
    ['version 2', 'GET / HTTP/2.0\r\nHost: a\r\n', 505],
    ['a method that is no token', 'G(T / HTTP/1.1\r\nHost: a\r\n', 400],
    ['a target that is no path', 'GET foo HTTP/1.1\r\nHost: a\r\n', 400],
    ['a target with a fragment', 'GET /a#b HTTP/1.1\r\nHost: a\r\n', 400],
    ['CONNECT without a port', 'CONNECT db.test HTTP/1.1\r\nHost: a\r\n', 400],
    ['an unknown expectation', 'POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n', 417],
  ])('with %s is refused', (_name, text, status) => {
    expect(refused(() => request(text)).status).toBe(status);
  });

  test('with too many fields is refused', () => {
    const text = `GET / HTTP/1.1\r\nHost: a\r\n${'X-A: b\r\n'.repeat(100)}`;
    expect(refused(() => request(text))).toEqual({ status: 431, message: 'more than 100 header fields' });
  });

  test('of any bytes is parsed or refused, never anything else', () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom('Host: a', 'Content-Length: 5', 'Transfer-Encoding: chunked', ' x', 'a:b'),
    );
    fc.assert(
      fc.property(fc.constantFrom('GET / HTTP/1.1', 'POST /x HTTP/1.0', 'X'), fc.array(line), (first, lines) => {
        const text = Buffer.from([first, ...lines].map((part) => `${part}\r\n`).join(''), 'utf8').toString('latin1');
        try {
          const head = request(text);
          return head.headers.size <= 100;
        } catch (error) {
          return error instanceof Http1Error && error.status >= 400;
        }
      }),
    );
  });
});

describe('a response head', () => {
  const response = (lines: string) => parseResponseHead(lines, fields, 100);

  test('is read with or without a reason phrase', () => {
    expect(response('HTTP/1.1 204 No Content\r\nX-A: b\r\n')).toMatchObject({ status: 204, version: 'HTTP/1.1' });
    expect(response('HTTP/1.0 200\r\n').version).toBe('HTTP/1.0');
  });

  test.each(['HTTP/1.1 2000 OK\r\n', 'HTTP/2 200 OK\r\n', 'ICY 200 OK\r\n', 'HTTP/1.1 099 X\r\n', '<html>\r\n'])(
    '%j is refused',
    (text) => {
      expect(refused(() => response(text)).status).toBe(502);
    },
  );

  test.each([
    [200, 'HEAD', 'Content-Length: 10\r\n', 'none'],
    [204, 'GET', '', 'none'],
    [304, 'GET', 'Content-Length: 10\r\n', 'none'],
    [200, 'GET', 'Content-Length: 10\r\n', 'length'],
    [200, 'GET', 'Transfer-Encoding: Chunked\r\n', 'chunked'],
    [200, 'GET', '', 'close'],
  ])('%i to %s with %j has a body framed by %s', (status, method, lines, kind) => {
    expect(responseFraming(status, response(`HTTP/1.1 ${status} X\r\n${lines}`).headers, method).kind).toBe(kind);
  });
});

describe('the head reader', () => {
  test('finds a head whatever way it is cut into reads, and keeps what follows', () => {
    const text = 'GET / HTTP/1.1\r\nHost: a\r\n\r\nrest';
    for (let cut = 1; cut < text.length - 4; cut++) {
      const reader = new HeadReader(1000);
      const first = reader.read(Buffer.from(text.slice(0, cut)));
      const head = first ?? reader.read(Buffer.from(text.slice(cut)));
      expect(head).toBe('GET / HTTP/1.1\r\nHost: a\r\n');
      expect(first === null ? String(reader.rest) : `${String(reader.rest ?? '')}${text.slice(cut)}`).toContain('rest');
    }
  });

  test('skips empty lines in front of a request', () => {
    expect(new HeadReader(1000).read(Buffer.from('\r\n\r\nGET / HTTP/1.1\r\n\r\n'))).toBe('GET / HTTP/1.1\r\n');
  });

  test('refuses a head that grows too large, before its end comes', () => {
    const reader = new HeadReader(100);
    expect(reader.read(Buffer.alloc(60, 'a'))).toBeNull();
    expect(refused(() => reader.read(Buffer.alloc(60, 'a'))).status).toBe(431);
  });

  test('refuses lines that end in a bare LF at once instead of waiting for an end that never comes', () => {
    expect(refused(() => new HeadReader(1000).read(Buffer.from('GET / HTTP/1.1\nHost: a\n\n'))).status).toBe(400);
  });
});
