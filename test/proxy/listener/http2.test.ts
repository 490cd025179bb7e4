import { afterEach, describe, expect, test } from '@jest/globals';
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2';

import type { Body, BodySink } from '../../../proxy/exchange/body.ts';
import { BufferedBody } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import type { Delivery } from '../../../proxy/exchange/transport.ts';
import { bindOf, frontend, hasTool, listener, RawClient, run, TestPort } from './harness.ts';

const withCurl = hasTool('curl') ? describe : describe.skip;
const plain = bindOf('http', [listener('web', { kind: 'HTTP' })]);
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
let port: TestPort | null = null;
let session: ClientHttp2Session | null = null;

afterEach(async () => {
  session?.destroy();
  session = null;
  await port?.kill();
  port = null;
});

async function open(
  ...options: ConstructorParameters<typeof TestPort> extends [unknown, ...infer Rest] ? Rest : never
) {
  const opened = await new TestPort(plain, ...options).open();
  port = opened;
  session = connect(`http://127.0.0.1:${opened.number}`);
  session.on('error', () => {});
  return { port: opened, session };
}

interface Answer {
  readonly headers: Record<string, unknown>;
  readonly informational: number[];
  readonly body: string;
  readonly trailers: Record<string, unknown>;
  readonly rstCode: number;
}

async function answer(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve) => {
    let headers: Record<string, unknown> = {};
    let trailers: Record<string, unknown> = {};
    const informational: number[] = [];
    const chunks: Buffer[] = [];
    stream.on('error', () => {});
    stream.on('headers', (early) => informational.push(Number(early[':status'])));
    stream.on('response', (received) => (headers = received));
    stream.on('trailers', (received) => (trailers = received));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('close', () =>
      resolve({
        headers,
        informational,
        body: Buffer.concat(chunks).toString(),
        trailers,
        rstCode: stream.rstCode ?? 0,
      }),
    );
  });
}

async function get(client: ClientHttp2Session, headers: OutgoingHttpHeaders): Promise<Answer> {
  return answer(client.request(headers));
}

function frame(type: number, flags: number, stream: number, payload: readonly number[] | Buffer): Buffer {
  return Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream, ...payload]);
}

/** A body that the test feeds. */
class FedBody implements Body {
  readonly length: number | null = null;
  sink: BodySink | null = null;
  paused = false;
  cancelled = false;
  onPiped: (() => void) | null = null;

  pipe(sink: BodySink): void {
    this.sink = sink;
    this.onPiped?.();
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
    this.onPiped?.();
  }
  cancel(): void {
    this.cancelled = true;
  }
}

describe('HTTP/2', () => {
  test('is told from HTTP/1 by its preface, and requests arrive whole', async () => {
    const { port: opened, session: client } = await open();
    const stream = client.request({ ':method': 'POST', ':path': '/x?y', 'x-a': ['1', '2'], cookie: ['a=1', 'b=2'] });
    stream.end('hello');
    const { headers, body } = await answer(stream);
    expect(headers).toMatchObject({
      ':status': 200,
      'content-type': 'text/plain',
      'content-length': String(body.length),
    });
    expect(headers['date']).toBeDefined();
    expect(body).toMatch(/^POST http:\/\/127\.0\.0\.1:\d+\/x\?y HTTP\/2\.0\n/);
    expect(body).toContain('x-a: 1\nx-a: 2\n');
    expect(body).toContain('cookie: a=1; b=2\n');
    expect(body).toMatch(/\n\nhello$/);
    client.close();
    await opened.end();
  });

  withCurl('curl', () => {
    test('is spoken by curl with prior knowledge, bodies both ways', async () => {
      const { port: opened } = await open();
      const url = `http://127.0.0.1:${opened.number}/curl`;
      const ran = await run('curl', ['-sS', '--http2-prior-knowledge', '-d', 'x=1', url]);
      expect(ran).toMatchObject({ code: 0, stderr: '' });
      expect(ran.stdout).toMatch(/^POST .*\/curl HTTP\/2\.0\n[^]*\n\nx=1$/);
      const head = await run('curl', ['-sS', '-I', '--http2-prior-knowledge', url]);
      expect(head.stdout).toContain('HTTP/2 200');
    });
  });

  test('trailers go both ways, as gRPC needs', async () => {
    const { session: client } = await open({
      handler: (request, _connection, transport) => {
        request.body.pipe({
          onData: () => {},
          onEnd: (trailers) => {
            const body = new FedBody();
            const headers = Headers.from([['content-type', 'application/grpc']]);
            transport.respond({ status: 200, headers, body }, () => {});
            body.sink?.onData(Buffer.from('message'));
            body.sink?.onEnd(
              Headers.from([
                ['grpc-status', '0'],
                ['x-seen', trailers?.get('x-sum') ?? 'none'],
              ]),
            );
          },
          onError: () => {},
        });
      },
    });
    const stream = client.request({ ':method': 'POST', ':path': '/svc/M', te: 'trailers' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '42' }));
    stream.end('request');
    expect(await answer(stream)).toMatchObject({
      body: 'message',
      trailers: { 'grpc-status': '0', 'x-seen': '42' },
      rstCode: 0,
    });
  });

  test('interim responses come before the response', async () => {
    const { session: client } = await open({
      handler: (_request, _connection, transport) => {
        transport.informational(103, Headers.from([['link', '</a.css>']]));
        transport.informational(101, new Headers());
        transport.respond({ status: 204, headers: new Headers(), body: new BufferedBody(Buffer.alloc(0)) }, () => {});
      },
    });
    expect(await get(client, { ':path': '/' })).toMatchObject({ informational: [103], headers: { ':status': 204 } });
  });

  test('a client that waits for 100 Continue gets it when its body is read', async () => {
    const { session: client } = await open();
    const stream = client.request({ ':method': 'POST', ':path': '/', expect: '100-continue' });
    stream.on('continue', () => stream.end('now'));
    const { body } = await answer(stream);
    expect(body).toMatch(/\n\nnow$/);
    expect(body).not.toContain('expect');
  });

  test('hop-by-hop fields of a response are left out, repeated ones kept in order', async () => {
    const { session: client } = await open({
      handler: (_request, _connection, transport) => {
        const headers = Headers.from([
          ['connection', 'close'],
          ['keep-alive', 'timeout=5'],
          ['transfer-encoding', 'chunked'],
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
          ['content-length', '999'],
        ]);
        transport.respond({ status: 200, headers, body: new BufferedBody(Buffer.from('ok')) }, () => {});
      },
    });
    const { headers, body } = await get(client, { ':path': '/' });
    expect(body).toBe('ok');
    expect(headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], 'content-length': '2' });
    expect(Object.keys(headers)).not.toContain('connection');
  });

  test('HEAD keeps the length that GET would have', async () => {
    const { session: client } = await open({
      handler: (_request, _connection, transport) => {
        const headers = Headers.from([['content-length', '1000']]);
        transport.respond({ status: 200, headers, body: new BufferedBody(Buffer.alloc(0)) }, () => {});
      },
    });
    const { headers, body } = await get(client, { ':path': '/', ':method': 'HEAD' });
    expect(headers['content-length']).toBe('1000');
    expect(body).toBe('');
  });

  test('CONNECT reaches the handler, which may take the stream over', async () => {
    const { port: opened, session: client } = await open({
      handler: (_request, _connection, transport) => {
        const raw = transport.takeOver(200, new Headers());
        raw?.pipe(raw);
      },
    });
    const stream = client.request({ ':method': 'CONNECT', ':authority': 'db:5432' });
    stream.end('raw bytes');
    expect(await answer(stream)).toMatchObject({ headers: { ':status': 200 }, body: 'raw bytes' });
    expect(opened.requests[0]?.request).toMatchObject({ method: 'CONNECT', authority: 'db:5432', target: '' });
  });

  test('a contradictory host is answered with 400 and reaches nobody', async () => {
    const { port: opened, session: client } = await open();
    const { headers } = await get(client, { ':path': '/', ':authority': 'a', host: 'b' });
    expect(headers).toMatchObject({ ':status': 400, 'x-gw-reason': 'InvalidRequest' });
    expect(opened.requests).toHaveLength(0);
  });

  test('a response that breaks is cut, so that the client knows', async () => {
    let delivery: Delivery | null = null;
    const { session: client } = await open({
      handler: (_request, _connection, transport) => {
        const body = new FedBody();
        transport.respond({ status: 200, headers: new Headers(), body }, (outcome) => (delivery = outcome));
        body.sink?.onData(Buffer.from('half'));
        body.sink?.onError(new Error('upstream reset'));
      },
    });
    const { rstCode } = await get(client, { ':path': '/' });
    expect(rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect(delivery).toMatchObject({ kind: 'cut', bytes: 4, error: { message: 'upstream reset' } });
  });

  test('a body shorter than its length is cut too', async () => {
    const { session: client } = await open({
      handler: (_request, _connection, transport) => {
        const body = Object.assign(new FedBody(), { length: 10 });
        transport.respond({ status: 200, headers: new Headers(), body }, () => {});
        body.sink?.onData(Buffer.from('half'));
        body.sink?.onEnd(null);
      },
    });
    expect((await get(client, { ':path': '/' })).rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  });

  test('a status that HTTP/2 cannot carry cuts the stream and not the process', async () => {
    const { session: client } = await open({
      handler: (_request, _connection, transport) => {
        transport.respond({ status: 999, headers: new Headers(), body: new FedBody() }, () => {});
      },
    });
    expect((await get(client, { ':path': '/' })).rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  });

  test('fields that HTTP/2 cannot carry are left out of interim responses, responses and trailers', async () => {
    const odd = (): Headers =>
      Headers.from([
        ['te', 'gzip'],
        ['upgrade', 'x'],
        [':status', '200'],
        ['a b', '1'],
        ['x-ok', '1'],
      ]);
    const { session: client } = await open({
      handler: (_request, _connection, transport) => {
        const body = new FedBody();
        transport.informational(103, odd());
        transport.respond({ status: 200, headers: odd(), body }, () => {});
        body.sink?.onEnd(odd());
      },
    });
    const answered = await get(client, { ':path': '/' });
    expect(answered).toMatchObject({ informational: [103], headers: { ':status': 200, 'x-ok': '1' }, rstCode: 0 });
    expect(Object.keys(answered.trailers)).toEqual(['x-ok']);
  });

  test('a client that resets its stream is gone: the body is given up and everyone is told once', async () => {
    const told: string[] = [];
    const body = new FedBody();
    let leave = (): void => {};
    const gone = new Promise<void>((resolve) => (leave = resolve));
    const { port: opened, session: client } = await open({
      handler: (request, _connection, transport) => {
        transport.onClientGone(() => {
          told.push('gone');
          leave();
        });
        request.body.pipe({ onData() {}, onEnd: () => told.push('end'), onError: () => told.push('error') });
        transport.respond({ status: 200, headers: new Headers(), body }, (delivery) => told.push(delivery.kind));
        body.sink?.onData(Buffer.from('x'));
      },
    });
    client.destroy();
    const raw = new RawClient(opened.number).write(PREFACE).write(frame(4, 0, 0, []));
    raw.write(frame(1, 4, 1, [0x83, 0x86, 0x84, 0x41, 1, 0x61])).write(frame(0, 0, 1, Buffer.from('part')));
    await opened.until(() => opened.requests.length > 0);
    raw.write(frame(3, 0, 1, [0, 0, 0, constants.NGHTTP2_CANCEL]));
    await gone;
    raw.socket.end();
    await opened.end();
    expect(told).toEqual(['error', 'clientGone', 'gone']);
    expect(body.cancelled).toBe(true);
  });

  test('an answer before the end of an upload ends the upload', async () => {
    const { port: opened, session: client } = await open({
      handler: (request, _connection, transport) => {
        request.body.pipe({ onData() {}, onEnd() {}, onError() {} });
        transport.respond({ status: 413, headers: new Headers(), body: new BufferedBody(Buffer.from('no')) }, () => {});
      },
    });
    const stream = client.request({ ':method': 'POST', ':path': '/' });
    stream.write('endless');
    expect(await answer(stream)).toMatchObject({ headers: { ':status': 413 }, body: 'no', rstCode: 0 });
    client.close();
    await opened.end();
  });
});

describe('HTTP/2 back-pressure', () => {
  test('an upload that nobody reads stops at the flow-control window', async () => {
    let arrived = 0;
    let body: Body | null = null;
    const { port: opened, session: client } = await open({
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
    const { session: client } = await open({
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
    const { port: opened, session: client } = await open();
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
    const { port: opened, session: client } = await open({
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
    const { port: opened, session: client } = await open({ handler: () => {} });
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
    const { session: client } = await open({ frontend: frontend({ http: { http2MaxHeaderSize: 4096 } }) });
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
    const { session: client } = await open({ frontend: frontend({ http }) });
    const stream = client.request({ ':method': 'POST', ':path': '/' });
    stream.end('body');
    expect((await answer(stream)).body).toMatch(/body$/);
  });

  test('a stream on which nothing moves is cut', async () => {
    let delivery: Delivery | null = null;
    const { session: client } = await open({
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
      const { port: opened, session: client } = await open({ frontend: frontend({ http }) });
      await new Promise((resolve) => client.once('close', resolve));
      await opened.end();
      expect(opened.port.connectionCount).toBe(0);
    }
  });

  test('a client that answers no keep-alive ping is given up', async () => {
    const opened = await new TestPort(plain, {
      frontend: frontend({ http: { http2KeepaliveIntervalMs: 20, http2KeepaliveTimeoutMs: 20 } }),
    }).open();
    port = opened;
    const client = new RawClient(opened.number).write(PREFACE).write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    await client.closed;
    expect(opened.errors.map((error) => error.detail)).toContain('no answer to a keep-alive ping');
    await opened.end();
  });

  test('half a preface, a preface and silence, or garbage behind it leave nothing behind', async () => {
    const opened = await new TestPort(plain, { frontend: frontend({ http: { http1IdleTimeoutMs: 100 } }) }).open();
    port = opened;
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
    const opened = await new TestPort(plain).open();
    port = opened;
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
