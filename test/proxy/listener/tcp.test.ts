import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import { Duplex } from 'node:stream';

import { Splice, type SpliceEnd } from '../../../proxy/listener/splice.ts';
import { bindOf, dialTo, echoServer, frontend, listen, listener, RawClient, tcpRoute, TestPort } from './harness.ts';

const tcp = (weights: readonly number[] = [1], hostnames: readonly string[] = []) =>
  bindOf('tcp', [listener('db', { kind: 'TCP' }, { tcpRoutes: [tcpRoute('db', hostnames, weights)] })]);

let port: TestPort | null = null;
afterEach(async () => {
  await port?.kill();
  port = null;
});

describe('TCP listeners', () => {
  test('copy both ways, and keep one direction open when the other has ended', async () => {
    const backend = await echoServer('greeting;');
    port = await new TestPort(tcp(), { dial: () => dialTo(backend.port) }).open();
    const client = new RawClient(port.number, { allowHalfOpen: true });
    await client.until((text) => text === 'greeting;');
    client.socket.end('last words');
    await client.closed;
    expect(client.text).toBe('greeting;last words');
    await port.end();
    expect(port.tcp).toMatchObject([{ outcome: 'closed', bytesReceived: 10, bytesSent: 19, route: { name: 'db' } }]);
    expect(port.labels).toMatchObject([{ listener: 'db', protocol: 'tcp' }]);
    backend.close();
  });

  test('carry more than any buffer holds, whole, to a client that ended first and reads slowly', async () => {
    const total = 16 * 1024 * 1024;
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {});
      socket.resume();
      socket.on('end', () => socket.end(Buffer.alloc(total, 1)));
    });
    const number = await listen(server);
    port = await new TestPort(tcp(), { dial: () => dialTo(number) }).open();
    const client = new RawClient(port.number, { allowHalfOpen: true });
    let read = 0;
    client.socket.removeAllListeners('data');
    client.socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
      client.socket.pause();
      setImmediate(() => client.socket.resume());
    });
    client.socket.end('go');
    await client.closed;
    expect(read).toBe(total);
    await port.end();
    expect(port.tcp).toMatchObject([{ outcome: 'closed', bytesSent: total }]);
    server.close();
  });

  test('choose the backend by weight', async () => {
    const backend = await echoServer('x');
    const chosen: number[] = [];
    port = await new TestPort(tcp([0, 1]), {
      dial: ({ index }) => {
        chosen.push(index);
        return dialTo(backend.port);
      },
    }).open();
    const client = new RawClient(port.number);
    await client.until((text) => text === 'x');
    client.socket.end();
    await port.end();
    expect(chosen).toEqual([1]);
    backend.close();
  });

  test.each([
    ['noRoute', tcp([1], ['only.example.com'])],
    ['noBackend', tcp([0])],
    ['dialFailed', tcp()],
  ])('close the connection and tell: %s', async (outcome, bind) => {
    port = await new TestPort(bind).open();
    const client = new RawClient(port.number).write('anything');
    await client.closed;
    expect(client.text).toBe('');
    await port.end();
    expect(port.tcp).toMatchObject([{ outcome, error: outcome === 'dialFailed' ? 'nothing to dial' : null }]);
  });

  test('a client that leaves while its backend is dialled leaves no connection to it', async () => {
    const backend = await echoServer();
    let proceed = (): void => {};
    const gate = new Promise<void>((resolve) => (proceed = resolve));
    port = await new TestPort(tcp(), { dial: async () => gate.then(() => dialTo(backend.port)) }).open();
    const client = new RawClient(port.number);
    await new Promise<void>((resolve) => client.socket.once('connect', resolve));
    await new Promise((resolve) => setImmediate(resolve));
    client.socket.resetAndDestroy();
    await client.closed;
    port.port.destroy();
    await port.port.empty();
    proceed();
    const probe = await dialTo(backend.port);
    await new Promise<void>((resolve) => {
      const check = (): void => (backend.sockets.size <= 1 ? resolve() : void setImmediate(check));
      check();
    });
    probe.destroy();
    expect(port.tcp).toHaveLength(1);
    backend.close();
  });

  test('a backend that resets ends the client', async () => {
    const backend = await echoServer('x');
    port = await new TestPort(tcp(), { dial: () => dialTo(backend.port) }).open();
    const client = new RawClient(port.number);
    await client.until((text) => text === 'x');
    for (const socket of backend.sockets) socket.resetAndDestroy();
    await client.closed;
    await port.end();
    expect(port.tcp).toMatchObject([{ outcome: 'backendReset' }]);
    backend.close();
  });

  test('learn the client from a PROXY header in front of the bytes', async () => {
    const backend = await echoServer();
    port = await new TestPort(tcp(), {
      frontend: frontend({ proxyProtocol: { version: 'v1', mode: 'strict' } }),
      dial: () => dialTo(backend.port),
    }).open();
    const client = new RawClient(port.number, { allowHalfOpen: true });
    client.socket.end('PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\npayload');
    await client.closed;
    expect(client.text).toBe('payload');
    await port.end();
    expect(port.tcp).toMatchObject([{ connection: { sourceAddress: '192.0.2.7' }, bytesReceived: 7 }]);
    backend.close();
  });
});

test('a tunnel on which nothing moves is cut', async () => {
  const silent = (): Duplex => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const end = await new Promise<SpliceEnd>((resolve) => {
    new Splice(silent(), silent(), { idleMs: 10, onEnd: resolve }).start();
    // The splice's own timer does not keep a process alive; this one keeps the test.
    const hold = setInterval(() => {}, 10);
    void Promise.resolve().then(() => setTimeout(() => clearInterval(hold), 1000).unref());
  });
  expect(end.outcome).toBe('idle');
});
