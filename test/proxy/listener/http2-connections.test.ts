import { afterEach, describe, expect, test } from '@jest/globals';
import { constants } from 'node:http2';

import type { Body } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import type { Delivery } from '../../../proxy/exchange/transport.ts';
import { frontend, RawClient } from './harness.ts';
import { answer, FedBody, get, Http2Ports, PREFACE } from './http2-client.ts';

const ports = new Http2Ports();
afterEach(() => ports.kill());

describe('HTTP/2 back-pressure', () => {
  test('an upload that nobody reads stops at the flow-control window', async () => {
    let arrived = 0;
    let body: Body | null = null;
    const { port: opened, session: client } = await ports.open({
      handler: (request) => {
        body = request.body;
        request.body.pipe({ onData: (chunk) => (arrived += chunk.length), onEnd() {}, onError() {} });
        request.body.pause();
      },
    });
    const stream = client.request({ ':method': 'POST', ':path': '/' });
    stream.on('error', () => {});
    const total = 4 * 1024 * 1024;
    stream.end(Buffer.alloc(total));
    await opened.until(() => opened.requests.length > 0);
    // A ping crosses the same socket behind everything that the window let through.
    for (let i = 0; i < 3; i++) await new Promise((resolve) => client.ping(resolve));
    const before = arrived;
    expect(before).toBeLessThanOrEqual(64 * 1024);
    expect(stream.writableLength).toBeGreaterThan(0);
    expect(body).not.toBeNull();
  });

  test('a download that the client does not read pauses its source', async () => {
    const body = new FedBody();
    let written = 0;
    const feed = (): void => {
      while (!body.paused && written < 8 * 1024 * 1024) {
        written += 16 * 1024;
        body.sink?.onData(Buffer.alloc(16 * 1024));
      }
      if (!body.paused && written >= 8 * 1024 * 1024) {
        body.onPiped = null;
        body.sink?.onEnd(null);
      }
    };
    const { session: client } = await ports.open({
      handler: (_request, _connection, transport) => {
        body.onPiped = feed;
        transport.respond({ status: 200, headers: new Headers(), body }, () => {});
      },
    });
    const stream = client.request({ ':path': '/' });
    stream.pause();
    await new Promise((resolve) => stream.once('response', resolve));
    for (let i = 0; i < 3; i++) await new Promise((resolve) => client.ping(resolve));
    expect(body.paused).toBe(true);
    expect(written).toBeLessThan(512 * 1024);
    let read = 0;
    stream.on('data', (chunk: Buffer) => (read += chunk.length));
    stream.resume();
    await new Promise((resolve) => stream.once('end', resolve));
    expect(read).toBe(8 * 1024 * 1024);
  });
});

describe('HTTP/2 connections', () => {
  test('drain with GOAWAY once the streams in hand are done', async () => {
    const { port: opened, session: client } = await ports.open();
    let goneAway = 0;
    client.on('goaway', () => (goneAway += 1));
    await get(client, { ':path': '/' });
    const closed = new Promise((resolve) => client.once('close', resolve));
    opened.port.drain();
    await closed;
    expect(goneAway).toBeGreaterThan(0);
    await opened.end();
  });

  test('a stream in hand is finished while its connection drains', async () => {
    const body = new FedBody();
    const { port: opened, session: client } = await ports.open({
      handler: (_request, _connection, transport) => {
        transport.respond({ status: 200, headers: new Headers(), body }, () => {});
      },
    });
    const stream = client.request({ ':path': '/' });
    const answered = answer(stream);
    await opened.until(() => opened.requests.length === 1);
    const goneAway = new Promise((resolve) => client.once('goaway', resolve));
    opened.port.drain();
    await goneAway;
    body.sink?.onData(Buffer.from('late'));
    body.sink?.onEnd(null);
    expect((await answered).body).toBe('late');
    await opened.end();
  });

  test('a client that resets streams without end is told to calm down', async () => {
    const { port: opened, session: client } = await ports.open({ handler: () => {} });
    const code = new Promise<number>((resolve) => client.on('goaway', (received) => resolve(received)));
    let closed = false;
    client.on('close', () => (closed = true));
    while (!closed) {
      for (let i = 0; i < 50 && !client.destroyed && !client.closed; i++) {
        const stream = client.request({ ':path': '/' });
        stream.on('error', () => {});
        stream.close(constants.NGHTTP2_CANCEL);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await code).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(opened.errors.map((error) => error.detail)).toContain('too many streams were reset');
    await opened.end();
  });

  test('a head that is too large is refused, the connection lives on', async () => {
    const { session: client } = await ports.open({ frontend: frontend({ http: { http2MaxHeaderSize: 4096 } }) });
    const refused = await get(client, { ':path': '/', 'x-big': 'x'.repeat(10_000) });
    expect(refused.headers[':status']).toBe(431);
    expect((await get(client, { ':path': '/' })).headers[':status']).toBe(200);
  });

  test.each([
    { http2WindowSize: 1, http2ConnectionWindowSize: 1, http2FrameSize: 16_384, http2MaxHeaderSize: 1_000 },
    {
      http2WindowSize: 2 ** 31 - 1,
      http2ConnectionWindowSize: 2 ** 31 - 1,
      http2FrameSize: 2 ** 24 - 1,
      http2MaxHeaderSize: 2 ** 40,
    },
  ])('work with the extremes of what may be configured (%j)', async (http) => {
    const { session: client } = await ports.open({ frontend: frontend({ http }) });
    const stream = client.request({ ':method': 'POST', ':path': '/' });
    stream.end('body');
    expect((await answer(stream)).body).toMatch(/body$/);
  });

  test('a stream on which nothing moves is cut', async () => {
    let delivery: Delivery | null = null;
    const { session: client } = await ports.open({
      frontend: frontend({ http: { streamIdleTimeoutMs: 40 } }),
      handler: (_request, _connection, transport) => {
        const body = new FedBody();
        transport.respond({ status: 200, headers: new Headers(), body }, (outcome) => (delivery = outcome));
        body.sink?.onData(Buffer.from('x'));
      },
    });
    expect((await get(client, { ':path': '/' })).rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect(delivery).toMatchObject({ kind: 'cut', error: { message: 'nothing moved on the stream for too long' } });
  });

  test('a connection that is idle, or too old, is drained', async () => {
    for (const http of [{ http1IdleTimeoutMs: 40 }, { maxConnectionDurationMs: 40 }]) {
      const { port: opened, session: client } = await ports.open({ frontend: frontend({ http }) });
      await new Promise((resolve) => client.once('close', resolve));
      await opened.end();
      expect(opened.port.connectionCount).toBe(0);
    }
  });

  test('a client that answers no keep-alive ping is given up', async () => {
    const opened = await ports.listen({
      frontend: frontend({ http: { http2KeepaliveIntervalMs: 20, http2KeepaliveTimeoutMs: 20 } }),
    });
    const client = new RawClient(opened.number).write(PREFACE).write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    await client.closed;
    expect(opened.errors.map((error) => error.detail)).toContain('no answer to a keep-alive ping');
    await opened.end();
  });

  test('half a preface, a preface and silence, or garbage behind it leave nothing behind', async () => {
    const opened = await ports.listen({ frontend: frontend({ http: { http1IdleTimeoutMs: 100 } }) });
    const clients = [
      new RawClient(opened.number).write(PREFACE.slice(0, 10)),
      new RawClient(opened.number).write(PREFACE),
      new RawClient(opened.number).write(PREFACE).write(Buffer.alloc(100, 0xff)),
      new RawClient(opened.number).write(PREFACE).write(Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
      new RawClient(opened.number),
    ];
    await Promise.all(clients.map((client) => client.closed));
    await opened.end();
    expect(opened.port.connectionCount).toBe(0);
  });

  test('a preface in pieces is still one', async () => {
    const opened = await ports.listen();
    const client = new RawClient(opened.number);
    await new Promise<void>((resolve) => client.socket.once('connect', resolve));
    for (const letter of PREFACE.slice(0, 20)) {
      client.write(letter);
      await new Promise((resolve) => setImmediate(resolve));
    }
    client.write(PREFACE.slice(20)).write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    await client.until((text) => text.length >= 9);
    expect(client.received[3]).toBe(4);
  });
});
