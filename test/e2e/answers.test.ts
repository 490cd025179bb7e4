import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf, buffer as bufferOf } from 'node:stream/consumers';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, run, signal } from './clients.ts';
import { ask, Cleanup, upstream } from './gateway.ts';
import { answering, facing, gatewayTo, nothingLeft, okAnswer, unchunked } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

describe('an answer', () => {
  test.each([
    ['to HEAD', 'HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n', /content-length: 42\r\n/],
    ['to HEAD in chunks', 'HEAD', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', /^HTTP\/1\.1 200 OK\r\n/],
    ['with 204', 'GET', 'HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n', /^HTTP\/1\.1 204 No Content\r\nx-a: b\r\n/],
    [
      'with 304',
      'GET',
      'HTTP/1.1 304 X\r\nETag: "1"\r\nContent-Length: 42\r\n\r\n',
      /^HTTP\/1\.1 304 Not Modified\r\netag/,
    ],
  ])('%s has no body, and another request follows', async (_name, method, answer, expected) => {
    const server = await answering(cleanup, (socket, request) =>
      socket.write(request.includes(' /next ') ? okAnswer('next') : answer),
    );
    const { connect } = await gatewayTo(cleanup, server.port);
    const client = connect(`${method} / HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n`);
    const text = await client.until((all) => all.endsWith('next'));
    expect(text).toMatch(expected);
    expect(text.slice(0, text.indexOf('\r\n\r\nHTTP/1.1 200 OK'))).not.toContain('transfer-encoding');
    expect(server.opened()).toBe(1);
  });

  test('may be announced by early hints, without the fields of the connection', async () => {
    const hint =
      'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: x-hop\r\nX-Hop: 1\r\nContent-Length: 5\r\n\r\n';
    const server = await answering(cleanup, `${hint}HTTP/1.1 102 Processing\r\n\r\n${okAnswer()}`);
    const { connect } = await gatewayTo(cleanup, server.port);
    const client = connect('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const text = await client.until((all) => all.endsWith('ok'));
    expect(text).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\nlink: <\/a\.css>\r\n\r\nHTTP\/1\.1 102 Processing\r\n\r\nHTTP\/1\.1 200 /,
    );
  });

  test('never comes with early hints to a client of HTTP/1.0', async () => {
    const server = await answering(cleanup, `HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${okAnswer()}`);
    const { whole } = await gatewayTo(cleanup, server.port);
    expect(await whole('GET / HTTP/1.0\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  test('keeps its trailers, as the request does', async () => {
    const server = cleanup.add(
      await upstream(async (request, response) => {
        const body = await textOf(request);
        response.write(body);
        response.addTrailers({ 'x-sum': `${request.trailers['x-sent']} seen` });
        response.end();
      }),
    );
    const { connect } = await gatewayTo(cleanup, server.port);
    const client = connect('POST / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: TE, close\r\n');
    client.write('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sent: 7\r\n\r\n');
    await client.closed;
    expect(client.text).toMatch(/\r\n3\r\nabc\r\n0\r\nx-sum: 7 seen\r\n\r\n$/);
  });

  test('loses trailers that would frame or route a message', async () => {
    const server = await answering(cleanup, okAnswer(), '0\r\nX-Fine: 1');
    const { connect } = await gatewayTo(cleanup, server.port);
    const trailers = 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: evil\r\nConnection: x\r\nX-Fine: 1\r\n';
    connect(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n${trailers}\r\n`);
    await eventually('the request has arrived', () => server.received().endsWith('x-fine: 1\r\n\r\n'));
    expect(server.received()).toMatch(/\r\n0\r\nx-fine: 1\r\n\r\n$/);
  });

  test('to HTTP/1.0 is never chunked and ends with the connection, unless its length is known', async () => {
    const server = await answering(cleanup, (socket, request) =>
      socket.write(
        request.includes('/chunked')
          ? 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n'
          : okAnswer(),
      ),
    );
    const { connect, whole } = await gatewayTo(cleanup, server.port);
    const chunked = await whole('GET /chunked HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n');
    expect(chunked).not.toContain('transfer-encoding');
    expect(chunked).toMatch(/\r\nconnection: close\r\n\r\nab$/);
    expect(await whole('GET / HTTP/1.0\r\n\r\n')).toMatch(/connection: close\r\n\r\nok$/);
    const client = connect('GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n');
    expect(await client.until((text) => text.endsWith('ok'))).toContain('connection: keep-alive');
    client.write('GET / HTTP/1.0\r\nHost: a\r\n\r\n');
    await client.closed;
    expect(client.text.split('HTTP/1.1 200').length).toBe(3);
  });

  test('that ends with its connection arrives with a proper end', async () => {
    const server = await answering(cleanup, (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nuntil the end'));
    const { connect } = await gatewayTo(cleanup, server.port);
    const client = connect('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(unchunked(await client.until((text) => text.endsWith('0\r\n\r\n')))).toBe('until the end');
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((text) => text.split('HTTP/1.1 200').length === 3);
    expect(server.opened()).toBe(2);
  });

  test.each<[string, string, (socket: Socket) => void]>([
    ['in chunks, by closing', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n', (socket) => socket.end()],
    ['in chunks, by a reset', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n', (socket) => socket.resetAndDestroy()],
    ['of known length, by closing', 'Content-Length: 9\r\n\r\nhalf', (socket) => socket.end()],
    ['that ends with the connection, by a reset', '\r\nhalf', (socket) => socket.resetAndDestroy()],
    ['in chunks, by nonsense', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n', (socket) => socket.write('zz\r\n')],
  ])('%s, broken off by the upstream is broken off for the client', async (_name, framing, die) => {
    const connection = signal<Socket>();
    const server = await answering(cleanup, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${framing}`);
      connection.resolve(socket);
    });
    const gateway = await gatewayTo(cleanup, server.port);
    const client = gateway.connect('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((text) => text.includes('half'));
    die(await connection.promise);
    await client.closed;
    expect(unchunkedOrNull(client.text)).toBeNull();
    await gateway.logged('reason=UpstreamFailure');
    await nothingLeft(gateway);
    expect(server.sockets.size).toBe(0);
  });

  test('is not waited for any longer when the client has closed its side', async () => {
    const arrived = signal();
    const server = await answering(cleanup, () => arrived.resolve());
    const gateway = await gatewayTo(cleanup, server.port);
    const client = gateway.connect('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await arrived.promise;
    client.socket.end();
    await client.closed;
    await eventually('the upstream connection closes', () => server.sockets.size === 0);
    await gateway.logged('client went away');
    await nothingLeft(gateway);
  });

  test('comes whole to a client that closes its side in the same packet, when it is at hand', async () => {
    const { connect } = await facing(cleanup, 'routes: [{policies: {directResponse: {status: 200, body: here}}}]\n');
    const client = connect();
    client.socket.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.closed;
    expect(client.text).toMatch(/^HTTP\/1\.1 200 OK[^]*here$/);
  });

  test('of an upstream that died before is a 503, and the next request gets a fresh connection', async () => {
    let count = 0;
    const server = await answering(cleanup, (socket) => {
      count += 1;
      if (count === 1) socket.write('HTTP/1.1 200 OK\r\nContent-', () => socket.destroy());
      else socket.write(okAnswer());
    });
    const { http } = await gatewayTo(cleanup, server.port);
    expect(await ask(http, '/')).toMatchObject({ status: 503, headers: { 'x-gw-reason': 'UpstreamFailure' } });
    expect(await ask(http, '/')).toMatchObject({ status: 200, body: 'ok' });
  });
});

/** A body in chunks that ended in order; other framings are never whole here. */
function unchunkedOrNull(text: string): string | null {
  return text.includes('chunked') ? unchunked(text) : null;
}

describe('Expect: 100-continue', () => {
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n';

  test('is answered when the body is wanted, and stays with the gateway', async () => {
    const server = await answering(cleanup, okAnswer(), 'body');
    const { connect } = await gatewayTo(cleanup, server.port);
    const client = connect(head);
    await client.until((text) => text === 'HTTP/1.1 100 Continue\r\n\r\n');
    client.write('body');
    expect(await client.until((text) => text.endsWith('ok'))).toMatch(/Continue\r\n\r\nHTTP\/1\.1 200 OK/);
    expect(server.received()).not.toMatch(/expect/i);
  });

  test('is not answered when the request is refused: the answer comes at once and ends the connection', async () => {
    const { whole } = await facing(cleanup, 'routes: [{policies: {directResponse: {status: 403, body: no}}}]\n');
    expect(await whole(head)).toMatch(/^HTTP\/1\.1 403 [^]*connection: close[^]*no$/);
  });

  test('works for curl', async () => {
    const server = cleanup.add(
      await upstream(async (request, response) => response.end(`${(await bufferOf(request)).length} bytes`)),
    );
    const { http } = await gatewayTo(cleanup, server.port);
    const folder = mkdtempSync(join(tmpdir(), 'gw-curl-'));
    cleanup.add({ close: () => rmSync(folder, { recursive: true }) });
    const file = join(folder, 'body');
    writeFileSync(file, Buffer.alloc(3_000_000, 'x'));
    const { stdout, stderr } = await run('curl', [
      '-sv',
      '--data-binary',
      `@${file}`,
      '-H',
      'Expect: 100-continue',
      `http://127.0.0.1:${http}/`,
    ]);
    expect(stdout).toBe('3000000 bytes');
    expect(stderr).toContain('HTTP/1.1 100 Continue');
  });
});
