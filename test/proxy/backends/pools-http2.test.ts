import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';

import { UpstreamError } from '../../../proxy/backends/upstream.ts';
import { type Body, type BodySink, BufferedBody } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import { fetchText, originOf, readBody, requestTo, Rig } from './rig.ts';

const rig = new Rig();
afterEach(() => rig.end());

/** The frame with which a server begins. */
const EMPTY_SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

const http2 = { http: { version: 'HTTP/2.0' } } as const;

interface Upstream {
  readonly server: Http2Server;
  readonly port: number;
  readonly sessions: ServerHttp2Session[];
}

async function upstream(
  onStream: (stream: ServerHttp2Stream, session: number) => void,
  maxStreams = 100,
): Promise<Upstream> {
  const server = createServer({ settings: { maxConcurrentStreams: maxStreams } });
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {});
    onStream(
      stream,
      sessions.findIndex((session) => session === stream.session),
    );
  });
  const port = await rig.listen(server);
  return { server, port, sessions };
}

async function failure(promise: Promise<unknown>): Promise<UpstreamError> {
  const error: unknown = await promise.then(
    () => new Error('did not fail'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof UpstreamError) return error;
  throw error;
}

function answer(stream: ServerHttp2Stream, text = 'ok'): void {
  stream.respond({ ':status': 200 });
  stream.end(text);
}

describe('HTTP/2 connections', () => {
  test('carry many calls at a time', async () => {
    const held: ServerHttp2Stream[] = [];
    const { port, sessions } = await upstream((stream) => {
      held.push(stream);
      if (held.length === 20) for (const each of held) answer(each);
    });
    const pools = rig.pools();
    const calls = Array.from({ length: 20 }, () => fetchText(pools, originOf(port, http2)));
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['200 ok']));
    expect(sessions).toHaveLength(1);
  });

  test('are joined by another one when the peer takes no more streams', async () => {
    const held: ServerHttp2Stream[] = [];
    const { port, sessions } = await upstream((stream) => {
      if (stream.id === 1 && held.length === 0) {
        answer(stream);
        return;
      }
      held.push(stream);
      if (held.length === 3) for (const each of held) answer(each);
    }, 2);
    const pools = rig.pools();
    const origin = originOf(port, http2);
    await fetchText(pools, origin);
    held.length = 0;
    const calls = [1, 2, 3].map(() => fetchText(pools, origin));
    await Promise.all(calls);
    expect(sessions).toHaveLength(2);
  });

  test('send calls that a GOAWAY left out again, a POST too', async () => {
    const seen: string[] = [];
    const first = Promise.withResolvers<ServerHttp2Stream>();
    const { port } = await upstream((stream, session) => {
      seen.push(`${session}/${stream.id}`);
      if (stream.id === 1 && session === 0) first.resolve(stream);
      else if (session === 0) stream.session?.goaway(constants.NGHTTP2_NO_ERROR, 1);
      else answer(stream);
    });
    const pools = rig.pools();
    const kept = fetchText(pools, originOf(port, http2));
    const stream = await first.promise;
    const body = new BufferedBody(Buffer.from('pay'));
    const text = await fetchText(pools, originOf(port, http2), requestTo('/', { method: 'POST', body }));
    expect([text, seen]).toEqual(['200 ok', ['0/1', '0/3', '1/1']]);
    answer(stream, 'kept');
    expect(await kept).toBe('200 kept');
  });

  test('give a refused call one more try, and no third', async () => {
    let tries = 0;
    const { port } = await upstream((stream) => {
      tries += 1;
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
    });
    expect((await failure(fetchText(rig.pools(), originOf(port, http2)))).kind).toBe('reset');
    expect(tries).toBe(2);
  });

  test('that die while idle are replaced for the next call', async () => {
    const { port, sessions } = await upstream((stream) => answer(stream));
    const pools = rig.pools();
    await fetchText(pools, originOf(port, http2));
    sessions[0]?.socket.resetAndDestroy();
    expect(await fetchText(pools, originOf(port, http2))).toBe('200 ok');
    expect(sessions).toHaveLength(2);
  });

  test('are closed after the idle timeout', async () => {
    const { port, sessions } = await upstream((stream) => answer(stream));
    const pools = rig.pools({ poolIdleTimeoutMs: 2000 });
    await fetchText(pools, originOf(port, http2));
    const [session] = sessions;
    if (session === undefined) throw new Error('no session');
    const closed = once(session, 'close');
    while (!session.destroyed) {
      pools.sweep();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    expect(session.destroyed).toBe(true);
  });

  test('whose peer has gone silent are given up', async () => {
    const seen = Promise.withResolvers<void>();
    const port = await rig.raw((socket) => {
      socket.write(EMPTY_SETTINGS);
      socket.once('data', () => seen.resolve());
    });
    const pools = rig.pools();
    const call = failure(fetchText(pools, originOf(port, http2), requestTo('/', { method: 'POST' })));
    await seen.promise;
    for (let i = 0; i < 60; i++) pools.sweep();
    expect((await call).message).toBe('the upstream no longer answers pings');
  });

  test('leave nothing open after close', async () => {
    const seen = Promise.withResolvers<ServerHttp2Stream['session']>();
    const { port } = await upstream((stream) => seen.resolve(stream.session));
    const pools = rig.pools();
    const call = failure(fetchText(pools, originOf(port, http2)));
    const session = await seen.promise;
    pools.close();
    expect((await call).kind).toBe('cancelled');
    if (session !== undefined && !session.destroyed) await once(session, 'close');
  });
});

describe('HTTP/2 calls', () => {
  test('carry fields in order, repeated ones as they are, and none that belong to a connection', async () => {
    const raw = Promise.withResolvers<string[]>();
    const { server, port } = await upstream((stream) => answer(stream));
    server.on('stream', (_stream, _headers, _flags, rawHeaders) => raw.resolve(rawHeaders));
    const headers = Headers.from([
      ['x-b', '1'],
      ['Connection', 'x-b'],
      ['x-a', '2'],
      ['x-b', '3'],
      ['te', 'trailers'],
      ['transfer-encoding', 'chunked'],
    ]);
    await fetchText(rig.pools(), originOf(port, http2), requestTo('/p?q=1', { headers, authority: 'shop.test:81' }));
    expect(await raw.promise).toEqual(
      [':method', 'GET', ':scheme', 'http', ':authority', 'shop.test:81', ':path', '/p?q=1'].concat([
        'x-b',
        '1',
        'x-a',
        '2',
        'x-b',
        '3',
        'te',
        'trailers',
      ]),
    );
  });

  test('carry gRPC: a stream up, a stream down, trailers at the end', async () => {
    const { port } = await upstream((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': 'fine' }));
      stream.pipe(stream);
    });
    const sinks: BodySink[] = [];
    const body = streamed((sink) => sinks.push(sink));
    const response = await rig.pools().send(originOf(port, http2), requestTo('/svc/M', { method: 'POST', body }))
      .response;
    const received = readBody(response.body);
    sinks[0]?.onData(Buffer.from('one '));
    sinks[0]?.onData(Buffer.from('two'));
    sinks[0]?.onEnd(Headers.from([['x-end', '1']]));
    const { text, trailers } = await received;
    expect(text).toBe('one two');
    expect([trailers?.get('grpc-status'), trailers?.get('grpc-message')]).toEqual(['0', 'fine']);
  });

  test('carry the trailers of the request', async () => {
    const trailers = Promise.withResolvers<string | undefined>();
    const { port } = await upstream((stream) => {
      stream.on('trailers', (fields) => trailers.resolve(String(fields['x-sum'])));
      stream.resume().on('end', () => answer(stream));
    });
    const body = streamed((sink) => {
      sink.onData(Buffer.from('a'));
      sink.onEnd(Headers.from([['x-sum', '97']]));
    });
    await fetchText(rig.pools(), originOf(port, http2), requestTo('/', { method: 'POST', body }));
    expect(await trailers.promise).toBe('97');
  });

  test('take an answer of trailers only', async () => {
    const { port } = await upstream((stream) =>
      stream.respond({ ':status': 200, 'grpc-status': '12' }, { endStream: true }),
    );
    const response = await rig.pools().send(originOf(port, http2), requestTo('/')).response;
    expect([response.headers.get('grpc-status'), response.body.length]).toEqual(['12', 0]);
  });

  test('report informational responses', async () => {
    const { port } = await upstream((stream) => {
      stream.additionalHeaders({ ':status': 103, link: '</a.css>' });
      answer(stream);
    });
    const seen: unknown[] = [];
    const onInformational = (status: number, headers: Headers) => seen.push([status, headers.get('link')]);
    await fetchText(rig.pools(), originOf(port, http2), requestTo('/', { onInformational }));
    expect(seen).toEqual([[103, '</a.css>']]);
  });

  test('given up reset their stream, not the connection', async () => {
    const reset = Promise.withResolvers<number>();
    const { port, sessions } = await upstream((stream) => {
      if (stream.id === 1) stream.on('close', () => reset.resolve(stream.rstCode));
      else answer(stream);
    });
    const pools = rig.pools();
    const call = pools.send(originOf(port, http2), requestTo('/'));
    const failed = failure(call.response);
    while (sessions.length === 0) await new Promise((resolve) => setImmediate(resolve));
    call.cancel();
    expect((await failed).kind).toBe('cancelled');
    expect(await fetchText(pools, originOf(port, http2))).toBe('200 ok');
    expect(sessions).toHaveLength(1);
  });

  test('reset in the body break it', async () => {
    const { port } = await upstream((stream) => {
      stream.respond({ ':status': 200 });
      stream.write('half', () => stream.destroy(new Error('broken')));
    });
    const response = await rig.pools().send(originOf(port, http2), requestTo('/')).response;
    const error = await failure(readBody(response.body));
    expect([error.kind, error.message]).toEqual(['reset', 'stream reset (INTERNAL_ERROR)']);
  });

  test('whose request body breaks are cut, so that the upstream does not take a part for the whole', async () => {
    const code = Promise.withResolvers<number>();
    const { port } = await upstream((stream) => stream.resume().on('close', () => code.resolve(stream.rstCode)));
    const body = streamed((sink) => {
      sink.onData(Buffer.from('half'));
      setImmediate(() => sink.onError(new Error('client gone')));
    });
    const call = rig.pools().send(originOf(port, http2), requestTo('/', { method: 'POST', body }));
    expect((await failure(call.response)).message).toBe('request body failed: client gone');
    expect(await code.promise).toBe(constants.NGHTTP2_CANCEL);
  });

  test('hold a client back whose upstream does not read', async () => {
    const { port } = await upstream((stream) => stream.pause());
    let paused = false;
    let sink: BodySink | undefined;
    const body: Body = { ...streamed((given) => (sink = given)), pause: () => (paused = true) };
    rig
      .pools()
      .send(originOf(port, http2), requestTo('/', { method: 'POST', body }))
      .response.catch(() => {});
    while (sink === undefined) await new Promise((resolve) => setImmediate(resolve));
    let sent = 0;
    while (!paused && sent < 2 ** 27) {
      sink.onData(Buffer.alloc(65_536));
      sent += 65_536;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(paused).toBe(true);
  });

  test('hold an upstream back whose response is not read', async () => {
    const stalled = Promise.withResolvers<number>();
    const { port } = await upstream((stream) => {
      stream.respond({ ':status': 200 });
      let written = 0;
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        if (written > 2 ** 27) stalled.resolve(written);
        written += chunk.length;
        if (stream.write(chunk)) setImmediate(more);
        else stream.once('drain', more);
      };
      more();
      // Nothing moves any more once the windows are full.
      let last = -1;
      let still = 0;
      const watch = (): void => {
        still = last === written ? still + 1 : 0;
        last = written;
        if (still === 500) stalled.resolve(written);
        else setImmediate(watch);
      };
      watch();
    });
    const response = await rig.pools().send(originOf(port, http2), requestTo('/')).response;
    expect(await stalled.promise).toBeLessThan(2 ** 24);
    response.body.cancel();
  });

  test('to something that does not speak HTTP/2 fail with kind protocol', async () => {
    const port = await rig.raw((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(4))),
    );
    expect((await failure(fetchText(rig.pools(), originOf(port, http2)))).kind).toBe('protocol');
  });

  test('cannot be upgrades', async () => {
    const call = rig.pools().send(originOf(1, http2), requestTo('/', { upgrade: 'websocket' }));
    expect((await failure(call.response)).kind).toBe('protocol');
  });
});

function streamed(onPipe: (sink: BodySink) => void): Body {
  return { length: null, pipe: onPipe, pause() {}, resume() {}, cancel() {} };
}
