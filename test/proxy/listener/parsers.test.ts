import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Duplex } from 'node:stream';
import { connect } from 'node:tls';

import { parseClientHello } from '../../../proxy/listener/client-hello.ts';
import { readRequestHead } from '../../../proxy/listener/http2-request.ts';
import { parseProxyHeader } from '../../../proxy/listener/proxy-protocol.ts';
import { chooseTcpRoute, pickBackend } from '../../../proxy/listener/tcp-route.ts';
import { tcpRoute } from './harness.ts';

/** The first flight of a real client. */
async function realHello(options: { servername?: string; ALPNProtocols?: string[] }): Promise<Buffer> {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        done();
        resolve(chunk);
        wire.destroy();
      },
    });
    connect({ socket: wire, ...options }).on('error', () => {});
  });
}

/** Spreads a handshake message over records of `size` bytes. */
function fragmented(record: Buffer, size: number): Buffer {
  const message = record.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

describe('parseClientHello', () => {
  test('reads server name and protocols of a real client, in whatever pieces they come', async () => {
    const hello = await realHello({ servername: 'A.Example.com', ALPNProtocols: ['h2', 'http/1.1'] });
    const expected = { kind: 'hello', hello: { serverName: 'a.example.com', alpn: ['h2', 'http/1.1'] } };
    expect(parseClientHello(hello)).toEqual(expected);
    expect(parseClientHello(fragmented(hello, 1))).toEqual(expected);
    expect(parseClientHello(fragmented(hello, 100))).toEqual(expected);
    for (let length = 0; length < hello.length; length++) {
      expect(parseClientHello(hello.subarray(0, length))).toEqual({ kind: 'more' });
    }
  });

  test('a client that names no server has none', async () => {
    const hello = await realHello({});
    expect(parseClientHello(hello)).toEqual({ kind: 'hello', hello: { serverName: null, alpn: [] } });
  });

  test.each([
    ['plain HTTP', Buffer.from('GET / HTTP/1.1\r\n')],
    ['an alert', Buffer.from([21, 3, 1, 0, 2, 2, 0])],
    ['another message', Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
    ['a huge message', Buffer.from([22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff])],
    ['a huge record', Buffer.from([22, 3, 1, 0xff, 0xff])],
    ['an empty record', Buffer.from([22, 3, 1, 0, 0])],
    ['an old version', Buffer.from([22, 2])],
    ['lengths beyond the end', Buffer.from([22, 3, 1, 0, 8, 1, 0, 0, 4, 3, 3, 9, 9])],
  ])('%s is malformed', (_what, bytes) => {
    expect(parseClientHello(bytes).kind).toBe('malformed');
  });

  test('no bytes make it throw', async () => {
    const hello = await realHello({ servername: 'a.example.com' });
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void parseClientHello(Buffer.from(bytes))));
    fc.assert(
      fc.property(fc.nat(hello.length - 1), fc.integer({ min: 0, max: 255 }), (at, value) => {
        const broken = Buffer.from(hello);
        broken[at] = value;
        parseClientHello(broken);
      }),
    );
  });
});

const v2 = (command: number, family: number, payload: readonly number[], length = payload.length): Buffer =>
  Buffer.concat([
    Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
    Buffer.from([command, family, length >> 8, length & 255, ...payload]),
  ]);

describe('parseProxyHeader', () => {
  const addresses = (
    sourceAddress: string,
    sourcePort: number,
    destinationAddress: string,
    destinationPort: number,
  ) => ({
    addresses: { sourceAddress, sourcePort, destinationAddress, destinationPort },
  });

  test('reads version 1 and leaves what follows', () => {
    const line = 'PROXY TCP4 192.0.2.1 198.51.100.2 5000 443\r\n';
    expect(parseProxyHeader(Buffer.from(`${line}GET /`), 'all')).toEqual({
      kind: 'header',
      header: addresses('192.0.2.1', 5000, '198.51.100.2', 443),
      used: line.length,
    });
    expect(parseProxyHeader(Buffer.from('PROXY TCP6 2001:db8::1 ::1 1 2\r\n'), 'v1')).toMatchObject({
      header: addresses('2001:db8::1', 1, '::1', 2),
    });
    expect(parseProxyHeader(Buffer.from('PROXY UNKNOWN anything goes\r\n'), 'v1')).toMatchObject({
      header: { addresses: null },
    });
  });

  test('reads version 2 with its extensions skipped', () => {
    const ipv4 = [192, 0, 2, 1, 198, 51, 100, 2, 0x13, 0x88, 1, 0xbb];
    const bytes = v2(0x21, 0x11, [...ipv4, 4, 0, 2, 9, 9]);
    expect(parseProxyHeader(Buffer.concat([bytes, Buffer.from('x')]), 'v2')).toEqual({
      kind: 'header',
      header: addresses('192.0.2.1', 5000, '198.51.100.2', 443),
      used: bytes.length,
    });
    const ipv6 = [0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 1, ...Array<number>(15).fill(0), 1, 0, 1, 0, 2];
    expect(parseProxyHeader(v2(0x21, 0x21, ipv6), 'all')).toMatchObject({
      header: addresses('2001:db8::1', 1, '::1', 2),
    });
    expect(parseProxyHeader(v2(0x20, 0, []), 'v2')).toMatchObject({ header: { addresses: null } });
    expect(parseProxyHeader(v2(0x21, 0x31, [1, 2]), 'v2')).toMatchObject({ header: { addresses: null } });
  });

  test.each([
    ['the other version (1)', Buffer.from('PROXY UNKNOWN\r\n'), 'v2'],
    ['the other version (2)', v2(0x20, 0, []), 'v1'],
    ['a family that is none', Buffer.from('PROXY UDP4 1.1.1.1 1.1.1.1 1 1\r\n'), 'all'],
    ['an address of the other family', Buffer.from('PROXY TCP4 ::1 ::1 1 1\r\n'), 'all'],
    ['a port out of range', Buffer.from('PROXY TCP4 1.1.1.1 1.1.1.1 65536 1\r\n'), 'all'],
    ['a port with a zero in front', Buffer.from('PROXY TCP4 1.1.1.1 1.1.1.1 01 1\r\n'), 'all'],
    ['too few fields', Buffer.from('PROXY TCP4 1.1.1.1\r\n'), 'all'],
    ['too many fields', Buffer.from('PROXY TCP4 1.1.1.1 1.1.1.1 1 1 1\r\n'), 'all'],
    ['a line without end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(200)}`), 'all'],
    ['version 3', v2(0x31, 0x11, []), 'all'],
    ['an unknown command', v2(0x22, 0x11, []), 'all'],
    ['addresses cut off', v2(0x21, 0x11, [1, 2, 3]), 'all'],
    ['a huge payload', v2(0x21, 0x11, [], 513), 'all'],
  ] as const)('%s is malformed', (_what, bytes, versions) => {
    expect(parseProxyHeader(bytes, versions).kind).toBe('malformed');
  });

  test('waits for the rest of a header, and sees at once that there is none', () => {
    const whole = v2(0x21, 0x11, [192, 0, 2, 1, 198, 51, 100, 2, 0, 1, 0, 2]);
    for (let length = 1; length < whole.length; length++) {
      expect(parseProxyHeader(whole.subarray(0, length), 'all').kind).toBe('more');
    }
    expect(parseProxyHeader(Buffer.from('P'), 'all').kind).toBe('more');
    expect(parseProxyHeader(Buffer.from('PO'), 'all').kind).toBe('absent');
    expect(parseProxyHeader(Buffer.from('\r\n\r\nX'), 'all').kind).toBe('absent');
  });

  test('no bytes make it throw', () => {
    const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void parseProxyHeader(Buffer.from(bytes), 'all')));
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void parseProxyHeader(Buffer.concat([signature, bytes]), 'all')));
    fc.assert(fc.property(fc.string(), (text) => void parseProxyHeader(Buffer.from(`PROXY ${text}\r\n`), 'all')));
  });
});

describe('readRequestHead', () => {
  const read = (fields: readonly string[]) => readRequestHead(fields, 65_536);

  const base = [':method', 'GET', ':scheme', 'https', ':authority', 'a.test', ':path', '/x?y=1'];

  test('takes the authority from the pseudo-header, joins cookie crumbs and keeps repeated fields in order', () => {
    const head = read([...base, 'cookie', 'a=1', 'x-one', '1', 'te', 'trailers', 'cookie', 'b=2', 'x-one', '2']);
    if (head.kind !== 'request') throw new Error(head.detail);
    expect(head.head).toMatchObject({ method: 'GET', authority: 'a.test', target: '/x?y=1', contentLength: null });
    expect([...head.head.headers]).toEqual([
      ['x-one', '1'],
      ['te', 'trailers'],
      ['x-one', '2'],
      ['cookie', 'a=1; b=2'],
    ]);
  });

  test('host stands in for a missing authority and never reaches the headers', () => {
    const head = read([':method', 'GET', ':scheme', 'http', ':path', '/', 'host', 'b.test:81']);
    expect(head).toMatchObject({ kind: 'request', head: { authority: 'b.test:81' } });
    expect(read([...base, 'host', 'A.test'])).toMatchObject({ kind: 'request', head: { headers: { names: [] } } });
  });

  test('CONNECT has an authority with a port and no path', () => {
    expect(read([':method', 'CONNECT', ':authority', 'db:5432'])).toMatchObject({
      kind: 'request',
      head: { method: 'CONNECT', authority: 'db:5432', target: '' },
    });
    expect(read([':method', 'CONNECT', ':authority', 'db']).kind).toBe('malformed');
  });

  test.each([
    ['a host that contradicts', [...base, 'host', 'b.test']],
    ['two hosts', [':method', 'GET', ':scheme', 'http', ':path', '/', 'host', 'a', 'host', 'a']],
    ['no authority at all', [':method', 'GET', ':scheme', 'http', ':path', '/']],
    ['an authority with a path', [':method', 'GET', ':scheme', 'http', ':authority', 'a/b', ':path', '/']],
    ['user information', [':method', 'GET', ':scheme', 'http', ':authority', 'u@a', ':path', '/']],
    ['a path without a slash', [':method', 'GET', ':scheme', 'http', ':authority', 'a', ':path', 'x']],
    ['a path with a space', [':method', 'GET', ':scheme', 'http', ':authority', 'a', ':path', '/ x']],
    ['a fragment', [':method', 'GET', ':scheme', 'http', ':authority', 'a', ':path', '/#x']],
    ['a method that is no token', [':method', 'G T', ':scheme', 'http', ':authority', 'a', ':path', '/']],
    ['a pseudo-header behind a field', [...base.slice(0, 6), 'x', '1', ':path', '/']],
    ['a pseudo-header twice', [...base, ':path', '/']],
    ['an unknown pseudo-header', [':protocol', 'websocket', ...base]],
    ['connection', [...base, 'connection', 'close']],
    ['transfer-encoding', [...base, 'transfer-encoding', 'chunked']],
    ['te: gzip', [...base, 'te', 'gzip']],
    ['an upper-case name', [...base, 'X-A', '1']],
    ['a line break in a value', [...base, 'x-a', '1\r\nx-b: 2']],
    ['two lengths', [...base, 'content-length', '1', 'content-length', '1']],
    ['a length that is none', [...base, 'content-length', '+1']],
  ])('%s is malformed', (_what, fields) => {
    expect(read(fields).kind).toBe('malformed');
  });
});

describe('TCP routes', () => {
  const any = tcpRoute('any', []);
  const wild = tcpRoute('wild', ['*.test']);
  const longer = tcpRoute('longer', ['other', '*.y.test']);
  const exact = tcpRoute('exact', ['x.y.test']);

  test.each([
    ['x.y.test', exact],
    ['z.y.test', longer],
    ['z.test', wild],
    ['elsewhere', any],
    [null, any],
  ])('for %s', (sni, route) => {
    expect(chooseTcpRoute([any, wild, longer, exact], sni)).toBe(route);
  });

  test('the first in file order wins among equals, and none is none', () => {
    expect(chooseTcpRoute([wild, tcpRoute('again', ['*.test'])], 'a.test')).toBe(wild);
    expect(chooseTcpRoute([wild], null)).toBeUndefined();
  });

  test('backends are drawn by weight', () => {
    const { backends } = tcpRoute('r', [], [0, 1, 3]);
    expect([0, 0.24, 0.26, 0.999].map((random) => pickBackend(backends, random)?.index)).toEqual([1, 1, 2, 2]);
    expect(pickBackend(tcpRoute('r', [], [0, 0]).backends, 0.5)).toBeUndefined();
    expect(pickBackend([], 0)).toBeUndefined();
  });
});
