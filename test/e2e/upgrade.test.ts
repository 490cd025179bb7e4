import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'undici';

import { eventually, Http2Client, RawClient, tcpUpstream } from './clients.ts';
import { Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function gatewayTo(port: number, more = '') {
  return cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:${port}"}]}]\n${more}`),
  );
}

function client(port: number): RawClient {
  const raw = new RawClient(port);
  cleanup.add({ close: () => raw.socket.destroy() });
  return raw;
}

const UPGRADE = 'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Key: 1\r\n\r\n';

/** A WebSocket server that sends every short text frame back. */
async function webSocketServer() {
  const server = cleanup.add(await upstream((_request, response) => response.writeHead(426).end('upgrade, please')));
  const sockets: Socket[] = [];
  server.server.on('upgrade', (request, socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('end', () => socket.destroy());
    cleanup.add({ close: () => socket.destroy() });
    const key = String(request.headers['sec-websocket-key']);
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.on('data', (frame: Buffer) => {
      const opcode = (frame[0] ?? 0) & 0x0f;
      const length = (frame[1] ?? 0) & 0x7f;
      const payload = Buffer.from(frame.subarray(6, 6 + length).map((byte, at) => byte ^ (frame[2 + (at % 4)] ?? 0)));
      socket.write(Buffer.concat([Buffer.from([0x80 | opcode, length]), payload]));
      if (opcode === 8) socket.end();
    });
  });
  return { ...server, sockets };
}

describe('WebSocket', () => {
  test('messages go both ways, and the end is logged with 101', async () => {
    const server = await webSocketServer();
    const { port, logged } = await gatewayTo(server.port);
    const socket = new WebSocket(`ws://127.0.0.1:${port(80)}/chat`);
    await once(socket, 'open');
    for (const text of ['one', 'two', 'three']) {
      socket.send(text);
      const [event] = await once(socket, 'message');
      expect(event.data).toBe(text);
    }
    socket.close();
    await once(socket, 'close');
    await logged('http.path=/chat', 'http.status=101', 'protocol=http');
  });

  test('closes towards the backend when the client is cut, and the other way round', async () => {
    const server = await webSocketServer();
    const { port, logged, admin } = await gatewayTo(server.port);
    const first = client(port(80)).write(UPGRADE);
    await first.until((text) => text.includes('101'));
    first.socket.resetAndDestroy();
    await eventually('the backend sees it', () => server.sockets[0]?.destroyed === true);
    const second = client(port(80)).write(UPGRADE);
    await second.until((text) => text.includes('101'));
    server.sockets[1]?.resetAndDestroy();
    await second.closed;
    await logged('http.status=101');
    const tasks = async () => (await fetch(`${admin}/debug/tasks`)).text();
    await eventually('nothing is left', async () => !(await tasks()).includes('/chat'));
  });

  test('is live in the list of tasks while it lasts', async () => {
    const server = await webSocketServer();
    const { port, admin } = await gatewayTo(server.port);
    await client(port(80))
      .write(UPGRADE)
      .until((text) => text.includes('101'));
    expect(await (await fetch(`${admin}/debug/tasks`)).text()).toContain('/chat');
  });
});

describe('an upgrade', () => {
  test('keeps what it asks for on its way, and the bytes that come with the answer', async () => {
    let head = '';
    const server = cleanup.add(
      await tcpUpstream((socket) => {
        socket.once('data', (chunk: Buffer) => {
          head = chunk.toString();
          socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: WebSocket\r\nX-Also: yes\r\n\r\nearly',
          );
          socket.pipe(socket);
        });
      }),
    );
    const { port } = await gatewayTo(server.port);
    const raw = client(port(80)).write(`${UPGRADE}first`);
    const text = await raw.until((all) => all.endsWith('earlyfirst') || all.endsWith('firstearly'));
    expect(head).toMatch(/\r\nconnection: upgrade\r\nupgrade: websocket\r\n/);
    expect(head).toMatch(/\r\nx-key: 1\r\n/);
    expect(text).toMatch(/^HTTP\/1.1 101 /);
    expect(text.toLowerCase()).toMatch(/\r\nx-also: yes\r\nconnection: upgrade\r\nupgrade: websocket\r\n/);
  });

  test('that the backend refuses is an answer like any other, and the connection goes on', async () => {
    const server = cleanup.add(
      await upstream((_request, response) => response.writeHead(403, { 'content-length': 2 }).end('no')),
    );
    const { port, logged } = await gatewayTo(server.port);
    const raw = client(port(80)).write(UPGRADE);
    await raw.until((text) => text.endsWith('no'));
    raw.write(UPGRADE);
    await raw.until((text) => text.split('HTTP/1.1 403').length === 3 && text.endsWith('no'));
    await logged('http.status=403');
  });

  test.each([
    [
      'another protocol',
      'Connection: upgrade\r\nUpgrade: h2c\r\n',
      UPGRADE,
      'backend tried h2c but websocket was requested',
    ],
    ['no protocol', '', UPGRADE, 'backend tried nothing but websocket was requested'],
    [
      'something nobody asked for',
      'Connection: upgrade\r\nUpgrade: websocket\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      'backend tried websocket but nothing was requested',
    ],
  ])('to %s is a 502', async (_name, fields, request, message) => {
    const server = cleanup.add(
      await tcpUpstream(
        (socket) => void socket.once('data', () => socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields}\r\n`)),
      ),
    );
    const { port, logged } = await gatewayTo(server.port);
    const raw = client(port(80)).write(request);
    const text = await raw.until((all) => all.includes('requested'));
    expect(text).toMatch(/^HTTP\/1.1 502 /);
    expect(text).toContain(`request upgrade failed, ${message}`);
    await eventually('the backend connection is closed', () => server.sockets.size === 0);
    await logged('http.status=502', 'reason=UpstreamFailure');
  });

  test('to HTTP/2 never reaches the backend: requests inside it would pass every route and policy by', async () => {
    let head = '';
    const server = cleanup.add(
      await tcpUpstream((socket) => {
        socket.once('data', (chunk: Buffer) => {
          head = chunk.toString();
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        });
      }),
    );
    const { port } = await gatewayTo(server.port);
    const raw = client(port(80)).write(
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n',
    );
    expect(await raw.until((text) => text.endsWith('ok'))).toMatch(/^HTTP\/1\.1 200 /);
    expect(head).not.toMatch(/upgrade|http2-settings/i);
  });

  test('in the middle of a body is a 502: the rest of the body is no part of the new protocol', async () => {
    const server = cleanup.add(
      await tcpUpstream((socket) => {
        socket.once('data', () =>
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
        );
      }),
    );
    const { port } = await gatewayTo(server.port);
    const raw = client(port(80)).write(UPGRADE.replace('GET', 'POST').replace('X-Key: 1', 'Content-Length: 100'));
    expect(await raw.until((text) => text.includes('taken over'))).toMatch(/^HTTP\/1\.1 502 /);
    await eventually('the backend connection is closed', () => server.sockets.size === 0);
  });

  test('is not tried again', async () => {
    let calls = 0;
    const server = cleanup.add(
      await upstream((_request, response) => {
        calls += 1;
        response.writeHead(503).end();
      }),
    );
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}\nroutes: [{policies: {retry: {attempts: 3, codes: [503]}}, backends: [{host: "127.0.0.1:${server.port}"}]}]`,
      ),
    );
    await client(running.port(80))
      .write(UPGRADE)
      .until((text) => text.includes('503'));
    expect(calls).toBe(1);
  });
});

describe('CONNECT', () => {
  const ROUTE = 'frontendPolicies: {connect: {mode: route}}';
  const CONNECT = 'CONNECT db.test:5432 HTTP/1.1\r\nHost: db.test:5432\r\n\r\n';

  async function echoServer() {
    return cleanup.add(await tcpUpstream((socket) => void socket.pipe(socket), { allowHalfOpen: true }));
  }

  test('by a route opens a tunnel to the backend', async () => {
    const server = await echoServer();
    const { port, logged } = await gatewayTo(server.port, ROUTE);
    const raw = client(port(80)).write(`${CONNECT}with the head`);
    await raw.until((text) => text.endsWith('with the head'));
    expect(raw.text).toMatch(/^HTTP\/1.1 200 [^]*\r\n\r\n/);
    expect(raw.text).not.toMatch(/content-length|transfer-encoding/i);
    raw.socket.end();
    await raw.closed;
    await logged('http.method=CONNECT', 'http.status=200', 'http.host=db.test');
  });

  test('to a dynamic backend goes where it names', async () => {
    const server = await echoServer();
    const { port } = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}\nroutes: [{backends: [{dynamic: {}}]}]\n${ROUTE}`),
    );
    const target = `127.0.0.1:${server.port}`;
    const raw = client(port(80)).write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
    await raw.until((text) => text.includes('200'));
    raw.write('through');
    await raw.until((text) => text.endsWith('through'));
  });

  test('over HTTP/2 opens a tunnel in its stream', async () => {
    const server = await echoServer();
    const { port } = await gatewayTo(server.port, ROUTE);
    const http2 = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${port(80)}`));
    const stream = http2.stream({ ':method': 'CONNECT', ':authority': 'db.test:5432' });
    stream.write('over h2');
    const [head] = await once(stream, 'response');
    expect(head[':status']).toBe(200);
    expect(String((await once(stream, 'data'))[0])).toBe('over h2');
    stream.end();
    await once(stream, 'end');
  });

  test('to a backend that refuses is a 503', async () => {
    const { port } = await gatewayTo(1, ROUTE);
    const raw = client(port(80)).write(CONNECT);
    expect(await raw.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1.1 503 /);
  });

  test('without a route for it is refused, with the methods that are not', async () => {
    const { port, logged } = await gatewayTo(1);
    const raw = client(port(80)).write(CONNECT);
    expect(await raw.until((text) => text.includes('method not allowed'))).toMatch(/^HTTP\/1.1 405 /);
    await logged('http.method=CONNECT', 'http.status=405', 'reason=InvalidRequest');
  });
});
