import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { text as textOf, buffer as bufferOf } from 'node:stream/consumers';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, signal, tcpUpstream } from './clients.ts';
import { Cleanup, upstream } from './gateway.ts';
import { answering, facing, gatewayTo, nothingLeft, okAnswer, settled, sha256, unchunked } from './wire.ts';

const MIB = 1024 * 1024;
const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const shortIdle = 'frontendPolicies: {http: {streamIdleTimeout: 200ms}}\n';

/** Starts a request of node's client; the answer comes as a promise. */
function start(port: number, options: RequestOptions) {
  const outgoing = httpRequest({ host: '127.0.0.1', port, agent: false, headers: { host: 'a' }, ...options });
  cleanup.add({ close: () => outgoing.destroy() });
  const answer = new Promise<IncomingMessage>((resolve, reject) =>
    outgoing.on('response', resolve).on('error', reject),
  );
  return { outgoing, answer };
}

/** Bytes that have left for the kernel. */
const sentBy = (socket: Socket): number => socket.bytesWritten - socket.writableLength;

/** Writes zeros as fast as the socket takes them. */
function pour(socket: Socket, bytes: number): void {
  const chunk = Buffer.alloc(64 * 1024);
  let left = bytes;
  const more = (): void => {
    while (left > 0) {
      const take = Math.min(left, chunk.length);
      left -= take;
      if (!socket.write(chunk.subarray(0, take))) {
        socket.once('drain', more);
        return;
      }
    }
  };
  more();
}

describe('a stream', () => {
  test('of server-sent events arrives event by event, each before the next is sent', async () => {
    const next = signal<() => void>();
    const server = cleanup.add(
      await upstream((_request, response) => {
        let count = 0;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        next.resolve(() => (count < 20 ? response.write(`data: ${(count += 1)}\n\n`) : response.end()));
      }),
    );
    const { http } = await gatewayTo(cleanup, server.port);
    const { outgoing, answer } = start(http, { path: '/events' });
    outgoing.end();
    const send = await next.promise;
    send();
    const events: string[] = [];
    for await (const chunk of await answer) {
      events.push(String(chunk));
      send();
    }
    expect(events).toEqual(Array.from({ length: 20 }, (_, index) => `data: ${index + 1}\n\n`));
  });

  test('shows its head before there is any body', async () => {
    const server = cleanup.add(await upstream((_request, response) => response.flushHeaders()));
    const { http } = await gatewayTo(cleanup, server.port);
    const { outgoing, answer } = start(http, {});
    outgoing.end();
    expect((await answer).statusCode).toBe(200);
  });

  test('flows both ways at once', async () => {
    const server = cleanup.add(await upstream((request, response) => request.pipe(response)));
    const { http } = await gatewayTo(cleanup, server.port);
    const { outgoing, answer } = start(http, { method: 'POST' });
    outgoing.write('ping 0');
    const received: string[] = [];
    for await (const chunk of await answer) {
      received.push(String(chunk));
      if (received.length < 5) outgoing.write(`ping ${received.length}`);
      else outgoing.end();
    }
    expect(received).toEqual(['ping 0', 'ping 1', 'ping 2', 'ping 3', 'ping 4']);
  });
});

describe('back-pressure', () => {
  const SIZE = 208 * MIB;
  /** The kernel's buffers of two connections, and a little of the gateway's own. */
  const BOUND = 40 * MIB;

  test('of a client that does not read reaches the upstream, and nothing piles up between', async () => {
    const connection = signal<Socket>();
    const server = await answering(cleanup, (socket) => {
      connection.resolve(socket);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${SIZE}\r\n\r\n`);
      pour(socket, SIZE);
    });
    const { http } = await gatewayTo(cleanup, server.port);
    const { outgoing, answer } = start(http, {});
    outgoing.end();
    const response = (await answer).pause();
    const socket = await connection.promise;
    expect(await settled('the upstream', () => sentBy(socket))).toBeLessThan(BOUND);
    let bytes = 0;
    response.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
    await once(response, 'end');
    expect(bytes).toBe(SIZE);
  });

  test('of an upstream that does not read reaches the client that uploads', async () => {
    const connection = signal<Socket>();
    let bytes = 0;
    const server = cleanup.add(
      await tcpUpstream((socket) => {
        connection.resolve(socket.pause());
        socket.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (chunk.subarray(-3).equals(Buffer.from('end'))) socket.write(okAnswer());
        });
        socket.pause();
      }),
    );
    const { connect } = await gatewayTo(cleanup, server.port);
    const client = connect(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${SIZE + 3}\r\n\r\n`);
    pour(client.socket, SIZE);
    const socket = await connection.promise;
    expect(await settled('the client', () => sentBy(client.socket))).toBeLessThan(BOUND);
    socket.resume();
    await eventually(
      'the client has sent all',
      () => client.socket.writableLength === 0 && sentBy(client.socket) > SIZE,
    );
    client.write('end');
    expect(await client.until((text) => text.endsWith('ok'))).toMatch(/^HTTP\/1\.1 200 /);
    expect(bytes).toBeGreaterThan(SIZE);
  });
});

describe('a body on which nothing moves', () => {
  test('is refused with 408 when the client is the one that waits, and the upstream never sees it whole', async () => {
    const server = await answering(cleanup, () => {});
    const gateway = await gatewayTo(cleanup, server.port, shortIdle);
    const answer = await gateway.whole('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nab');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(server.received()).toMatch(/\r\n\r\nab$/);
    await eventually('the upstream connection closes', () => server.sockets.size === 0);
    await nothingLeft(gateway);
  });

  test('cuts the connection when the upstream stops inside its answer', async () => {
    const server = await answering(cleanup, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n');
    const gateway = await gatewayTo(cleanup, server.port, shortIdle);
    const answer = await gateway.whole('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(unchunked(answer)).toBeNull();
    await eventually('the upstream connection closes', () => server.sockets.size === 0);
    await nothingLeft(gateway);
  });

  test('cuts a client that stops reading', async () => {
    const server = await answering(cleanup, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      pour(socket, 64 * MIB);
    });
    const gateway = await gatewayTo(cleanup, server.port, shortIdle);
    const client = gateway.connect('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((text) => text.includes('200'));
    client.socket.pause();
    await eventually('the upstream connection closes', () => server.opened() === 1 && server.sockets.size === 0);
    await nothingLeft(gateway);
  });

  test('is answered with 504 when it is the upstream that takes none of it', async () => {
    const server = cleanup.add(await tcpUpstream((socket) => socket.pause()));
    const gateway = await gatewayTo(cleanup, server.port, shortIdle);
    const client = gateway.connect(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${64 * MIB}\r\n\r\n`);
    pour(client.socket, 64 * MIB);
    expect(await client.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 504 /);
    client.socket.destroy();
    for (const socket of server.sockets) socket.resume();
    await eventually('the upstream connection closes', () => server.sockets.size === 0);
    await nothingLeft(gateway);
  });

  test('may be slow for as long as it moves', async () => {
    const server = await answering(
      cleanup,
      (socket, request) => socket.write(okAnswer(request.slice(-12))),
      'abcdefgh',
    );
    const { connect } = await gatewayTo(cleanup, server.port, 'frontendPolicies: {http: {streamIdleTimeout: 700ms}}\n');
    const client = connect('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n');
    for (const [at, letter] of [...'abcdefgh'].entries()) {
      await eventually('the last letter has gone through', () => server.received().includes('abcdefgh'.slice(0, at)));
      await new Promise((resolve) => setTimeout(resolve, 150));
      client.write(letter);
    }
    expect(await client.until((text) => text.includes('abcdefgh'))).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a connection', () => {
  test('carries request after request, to the upstream too', async () => {
    const server = await answering(cleanup, okAnswer());
    const { connect } = await gatewayTo(cleanup, server.port);
    const client = connect();
    for (let n = 1; n <= 10; n++) {
      client.write(`GET /${n} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await client.until((text) => text.split('HTTP/1.1 200 OK').length === n + 1 && text.endsWith('ok'));
    }
    expect(server.opened()).toBe(1);
  });

  test('answers pipelined requests with bodies of either framing in their order', async () => {
    const server = cleanup.add(
      await upstream(async (request, response) => {
        const body = await textOf(request);
        // The later ones are ready first.
        setTimeout(() => response.end(`<${request.url} ${body}>`), 20 - 2 * Number(request.url?.slice(1)));
      }),
    );
    const { whole } = await gatewayTo(cleanup, server.port);
    let requests = '';
    let expected = '';
    for (let n = 0; n < 9; n += 3) {
      requests += `GET /${n} HTTP/1.1\r\nHost: a\r\n\r\n`;
      requests += `POST /${n + 1} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nGET `;
      requests += `POST /${n + 2} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`;
      expected += `</${n} ></${n + 1} GET ></${n + 2} abc>`;
    }
    const answers = await whole(`${requests}GET /9 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(answers.match(/<[^>]*>/g)?.join('')).toBe(`${expected}</9 >`);
  });

  test('is closed after its answer when one of several Connection fields says so', async () => {
    const server = await answering(cleanup, okAnswer());
    const { whole } = await gatewayTo(cleanup, server.port);
    const answer = await whole('GET / HTTP/1.1\r\nHost: a\r\nConnection: x-hop\r\nConnection: close\r\n\r\n');
    expect(answer).toContain('connection: close');
  });
});

describe('a body', () => {
  const sizes = [0, 1, 65_535, 65_536, 65_537, MIB, 20 * MIB];

  /** Sends back what it got, in the framing that the path asks for. */
  async function mirror() {
    const server = cleanup.add(
      await upstream(async (request, response) => {
        const body = await bufferOf(request);
        response.setHeader('x-sha256', sha256(body));
        if (request.url === '/length') response.setHeader('content-length', body.length);
        if (request.url === '/close') response.useChunkedEncodingByDefault = false;
        response.write(body.subarray(0, 1000));
        response.end(body.subarray(1000));
      }),
    );
    return gatewayTo(cleanup, server.port);
  }

  test.each(sizes)('of %i bytes is the same on the other side, in every framing and both ways', async (size) => {
    const body = Buffer.alloc(size);
    for (let at = 0; at < size; at += 3) body[at] = (at * 31 + (at >> 11)) & 0xff;
    const hash = sha256(body);
    const { http } = await mirror();
    const cases =
      size > MIB
        ? [
            ['length', '/chunked'],
            ['chunked', '/length'],
          ]
        : [];
    for (const to of ['length', 'chunked'])
      for (const from of ['/length', '/chunked', '/close']) cases.push([to, from]);
    for (const [to = '', path = ''] of size > MIB ? cases.slice(0, 2) : cases) {
      const framing = to === 'length' ? { 'content-length': size } : { 'transfer-encoding': 'chunked' };
      const { outgoing, answer } = start(http, { method: 'POST', path, headers: { host: 'a', ...framing } });
      outgoing.end(body);
      const response = await answer;
      expect([to, path, response.headers['x-sha256']]).toEqual([to, path, hash]);
      expect([to, path, sha256(await bufferOf(response))]).toEqual([to, path, hash]);
    }
  });

  test('arrives whole however finely its chunks and packets are cut', async () => {
    const { connect } = await mirror();
    const client = connect(
      'POST /length HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
    );
    client.socket.setNoDelay(true);
    for (const letter of '5;a=b\r\nhello\r\n1\r\n \r\n0005\r\nworld\r\n0\r\nX-T: 1\r\n\r\n') {
      await new Promise<void>((resolve) => client.socket.write(letter, () => setImmediate(resolve)));
    }
    await client.closed;
    expect(client.text).toMatch(/\r\n\r\nhello world$/);
  });

  test('that is still uploaded when its answer comes does not cost the client that answer', async () => {
    const server = await answering(cleanup, (socket) =>
      socket.write('HTTP/1.1 413 No\r\nContent-Length: 3\r\n\r\nbig'),
    );
    const gateway = await gatewayTo(cleanup, server.port);
    const { outgoing, answer } = start(gateway.http, { method: 'POST' });
    const chunk = Buffer.alloc(64 * 1024);
    const more = (): void => {
      if (!outgoing.destroyed) outgoing.write(chunk, () => setImmediate(more));
    };
    outgoing.on('error', () => {});
    more();
    const response = await answer;
    expect([response.statusCode, await textOf(response)]).toEqual([413, 'big']);
    outgoing.destroy();
    await eventually('the upstream connection closes', () => server.sockets.size === 0);
    await nothingLeft(gateway);
  });

  test('that an upstream refuses by answering and closing is answered, too', async () => {
    const server = await answering(cleanup, (socket) => {
      socket.end('HTTP/1.1 401 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno');
    });
    const gateway = await gatewayTo(cleanup, server.port);
    const client = gateway.connect(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${8 * MIB}\r\n\r\n`);
    pour(client.socket, 8 * MIB);
    expect(await client.until((text) => text.endsWith('no'))).toMatch(/^HTTP\/1\.1 401 /);
    client.socket.destroy();
    await nothingLeft(gateway);
  });

  test('of a small rest is read away, so that the connection lives on', async () => {
    const { connect } = await facing(cleanup, 'routes: [{policies: {directResponse: {status: 403, body: no}}}]\n');
    const client = connect(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n${'x'.repeat(70_000)}`);
    await client.until((text) => text.endsWith('no'));
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((text) => text.split('HTTP/1.1 403').length === 3);
  });
});
