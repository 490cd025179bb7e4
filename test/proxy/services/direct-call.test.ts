import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { AnswerTooLarge, callDirectly, type DirectCall } from '../../../proxy/services/direct-call.ts';
import { fixture } from '../../e2e/clients.ts';
import { Cleanup, echo, upstream } from '../../e2e/gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

function call(port: number, options: Partial<DirectCall> = {}) {
  const url = `http://127.0.0.1:${port}/p?q=1`;
  const signal = new AbortController().signal;
  return callDirectly({ method: 'GET', url, headers: {}, maxBytes: 1000, signal, ...options });
}

/** A server that says what it likes to whoever connects. */
async function raw(talk: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => talk(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.add({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  // `as`: a TCP server that listens has an address with a port.
  return (server.address() as AddressInfo).port;
}

describe('a direct call', () => {
  test('sends what it is given, over a connection of its own', async () => {
    const { port } = cleanup.add(await upstream(echo));
    const { status, text } = await call(port, { method: 'POST', headers: { 'x-a': 'b' }, body: 'tüx' });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      method: 'POST',
      url: '/p?q=1',
      body: 'tüx',
      headers: { 'x-a': 'b', 'content-length': '4', connection: 'close' },
    });
  });

  test('does not follow redirects', async () => {
    const { port } = cleanup.add(
      await upstream((_q, response) => response.writeHead(302, { location: '/x' }).end('no')),
    );
    expect(await call(port)).toMatchObject({ status: 302, text: 'no' });
  });

  test('takes answers of at most so many bytes', async () => {
    let size = 1000;
    const { port } = cleanup.add(await upstream((_q, response) => response.end('x'.repeat(size))));
    expect(await call(port)).toMatchObject({ status: 200, text: 'x'.repeat(1000) });
    size = 1001;
    await expect(call(port)).rejects.toThrow(AnswerTooLarge);
  });

  test('hangs up on an answer that does not end', async () => {
    const hungUp = Promise.withResolvers<void>();
    const port = await raw((socket) => {
      socket.on('close', () => hungUp.resolve());
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = (): void => void (socket.destroyed || socket.write('x'.repeat(500), () => setImmediate(more)));
      more();
    });
    await expect(call(port)).rejects.toThrow(AnswerTooLarge);
    await hungUp.promise;
  });

  test.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['less than it promised', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nab'],
    ['half a head', 'HTTP/1.1 200 OK\r\ncontent'],
    ['nothing', ''],
    ['a huge head', `HTTP/1.1 200 OK\r\na: ${'x'.repeat(100_000)}\r\n\r\n`],
  ])('fails on %s', async (_name, answer) => {
    const port = await raw((socket) => socket.end(answer));
    await expect(call(port)).rejects.toThrow();
  });

  test.each(['before', 'in'])('is given up %s the answer', async (when) => {
    const asked = Promise.withResolvers<Socket>();
    const port = await raw((socket) => {
      if (when === 'in') socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf');
      asked.resolve(socket);
    });
    const abort = new AbortController();
    const calling = call(port, { signal: abort.signal });
    const socket = await asked.promise;
    const hungUp = new Promise((resolve) => socket.on('close', resolve));
    abort.abort();
    await expect(calling).rejects.toThrow();
    await hungUp;
  });

  test('believes no certificate of a stranger', async () => {
    const server = createTlsServer({ cert: fixture('a.crt'), key: fixture('a.key') }, echo).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanup.add({ close: () => (server.closeAllConnections(), server.close()) });
    // `as`: a TCP server that listens has an address with a port.
    const { port } = server.address() as AddressInfo;
    await expect(call(port, { url: `https://127.0.0.1:${port}/` })).rejects.toThrow();
  });
});
