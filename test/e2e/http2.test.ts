import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Stream, constants, type ServerHttp2Stream } from 'node:http2';
import net from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import {
  answerOf,
  echoStream,
  eventually,
  fixture,
  fixturePath,
  grpcFrame,
  Http2Client,
  http2Upstream,
  run,
  signal,
  withCurl,
} from './clients.ts';
import { ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const HTTP2 = 'policies: {http: {version: "HTTP/2.0"}}';
const HTTP1 = 'policies: {http: {version: "HTTP/1.1"}}';

async function gatewayTo(port: number, backend = HTTP2) {
  const running = await startGateway(
    `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:${port}", ${backend}}]}]`,
  );
  return cleanup.add(running);
}

async function http2Client(port: number): Promise<Http2Client> {
  return cleanup.add(await Http2Client.connect(`http://127.0.0.1:${port}`));
}

const TLS = `tls: {cert: ${fixturePath('a.crt')}, key: ${fixturePath('a.key')}}`;

describe('a client that speaks HTTP/2', () => {
  test('with prior knowledge reaches a backend that speaks HTTP/1.1', async () => {
    const server = cleanup.add(await upstream(echo));
    const { port, logged } = await gatewayTo(server.port, HTTP1);
    const client = await http2Client(port(80));
    const answer = await client.ask({ ':method': 'POST', ':path': '/a?b=c', cookie: ['x=1', 'y=2'] }, 'hello');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({
      method: 'POST',
      url: '/a?b=c',
      body: 'hello',
      headers: { host: 'shop.test', cookie: 'x=1; y=2', 'x-forwarded-proto': 'http' },
    });
    await logged('http.version=HTTP/2.0', 'http.status=200', 'protocol=http', 'http.host=shop.test');
  });

  test('gets its own version upstream unless something else is set', async () => {
    const server = cleanup.add(await http2Upstream(echoStream));
    const { port, logged } = await gatewayTo(server.port, 'weight: 1');
    const client = await http2Client(port(80));
    const answer = await client.ask({ ':path': '/same' });
    expect(JSON.parse(answer.text).headers).toMatchObject({ ':path': '/same', ':authority': 'shop.test' });
    await logged('http.version=HTTP/2.0', 'protocol=h2');
  });

  test('by ALPN does so beside one that speaks HTTP/1.1 on the same port', async () => {
    const server = cleanup.add(await upstream(echo));
    const { port } = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 443, ${TLS}}}\nroutes: [{backends: [{host: "127.0.0.1:${server.port}"}]}]`,
      ),
    );
    const client = cleanup.add(
      await Http2Client.connect(`https://127.0.0.1:${port(443)}`, {
        servername: 'a.example.com',
        ca: fixture('ca.crt'),
      }),
    );
    const answer = await client.ask({ ':path': '/', ':authority': 'a.example.com' });
    expect(JSON.parse(answer.text).headers).toMatchObject({ 'x-forwarded-proto': 'https' });
  });

  test('does many requests at once on one connection', async () => {
    const server = cleanup.add(await upstream(echo));
    const { port } = await gatewayTo(server.port, HTTP1);
    const client = await http2Client(port(80));
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, n) => client.ask({ ':method': 'POST', ':path': `/${n}` }, `body ${n}`)),
    );
    expect(answers.map(({ text }) => JSON.parse(text).body)).toEqual(answers.map((_, n) => `body ${n}`));
  });

  test('that resets its stream ends the call to an HTTP/1.1 backend', async () => {
    const gone = signal();
    const server = cleanup.add(
      await upstream((request, response) => {
        response.write('first');
        request.socket.on('close', () => gone.resolve());
      }),
    );
    const { port, logged } = await gatewayTo(server.port, HTTP1);
    const client = await http2Client(port(80));
    const stream = client.stream({ ':path': '/' });
    await once(stream, 'data');
    stream.close(constants.NGHTTP2_CANCEL);
    await gone.promise;
    await logged('http.status=200', 'client went away');
  });
});

withCurl('curl', () => {
  test('speaks both versions, by ALPN and with prior knowledge', async () => {
    const server = cleanup.add(await upstream(echo));
    const routes = `routes: [{gateways: [plain, secure], backends: [{host: "127.0.0.1:${server.port}", ${HTTP1}}]}]`;
    const { port } = cleanup.add(
      await startGateway(`gateways: {plain: {port: 80}, secure: {port: 443, ${TLS}}}\n${routes}`),
    );
    const told = ['-s', '-o', '/dev/null', '-w', '%{http_code} %{http_version}'];
    const trusted = ['--resolve', `a.example.com:${port(443)}:127.0.0.1`, '--cacert', fixturePath('ca.crt')];
    const secure = `https://a.example.com:${port(443)}/`;
    const plain = `http://127.0.0.1:${port(80)}/`;
    expect((await run('curl', [...told, ...trusted, '--http1.1', secure])).stdout).toBe('200 1.1');
    expect((await run('curl', [...told, ...trusted, '--http2', secure])).stdout).toBe('200 2');
    expect((await run('curl', [...told, '--http2-prior-knowledge', '-d', 'x', plain])).stdout).toBe('200 2');
  });
});

describe('a backend that speaks HTTP/2', () => {
  test('in plaintext serves a client that speaks HTTP/1.1', async () => {
    const server = cleanup.add(await http2Upstream(echoStream));
    const { port, logged } = await gatewayTo(server.port);
    const answer = await ask(port(80), '/x?y', { method: 'POST', headers: { 'x-a': ['1', '2'] }, body: 'hi' });
    const seen = JSON.parse(answer.body);
    expect(seen).toMatchObject({
      body: 'hi',
      headers: { ':method': 'POST', ':path': '/x?y', ':scheme': 'http', ':authority': 'shop.test', 'x-a': '1, 2' },
    });
    for (const name of ['host', 'connection', 'transfer-encoding']) expect(seen.headers).not.toHaveProperty(name);
    await logged('http.version=HTTP/1.1', 'protocol=h2');
  });

  test('by ALPN is spoken to without any setting', async () => {
    const server = cleanup.add(await http2Upstream(echoStream, { certificate: 'a' }));
    const tls = `policies: {http: {version: "HTTP/2.0"}, backendTLS: {root: ${fixturePath('ca.crt')}, hostname: a.example.com}}`;
    const { port } = await gatewayTo(server.port, tls);
    const answer = await ask(port(80), '/');
    expect(JSON.parse(answer.body).headers).toMatchObject({ ':scheme': 'https' });
  });

  test('is called for several requests over one connection', async () => {
    const server = cleanup.add(await http2Upstream(echoStream));
    const { port } = await gatewayTo(server.port);
    const client = await http2Client(port(80));
    await client.ask({ ':path': '/' });
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.ask({ ':path': '/' })));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(server.opened()).toBe(1);
  });

  test('gets no more calls at once than it allows, from the first moment on', async () => {
    let live = 0;
    let most = 0;
    const server = cleanup.add(
      await http2Upstream(
        (stream, headers) => {
          live += 1;
          most = Math.max(most, live / server.opened());
          stream.on('close', () => (live -= 1));
          echoStream(stream, headers);
        },
        { maxConcurrentStreams: 2 },
      ),
    );
    const { port } = await gatewayTo(server.port);
    const client = await http2Client(port(80));
    const asked = Array.from({ length: 20 }, () => client.ask({ ':path': '/', ':method': 'POST' }, 'x'));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200));
    expect(most).toBeLessThanOrEqual(2);
  });

  test('sees the stream reset when its client goes away', async () => {
    const reset = signal<number>();
    const arrived = signal();
    const server = cleanup.add(
      await http2Upstream((stream) => {
        stream.on('close', () => reset.resolve(stream.rstCode ?? 0));
        arrived.resolve();
      }),
    );
    const { port, logged } = await gatewayTo(server.port);
    const client = await http2Client(port(80));
    const stream = client.stream({ ':path': '/' }, true);
    await arrived.promise;
    stream.close(constants.NGHTTP2_CANCEL);
    expect(await reset.promise).toBe(constants.NGHTTP2_CANCEL);
    await logged('client went away');
  });

  test('that resets a body half-way is passed on as a reset, not as an end', async () => {
    const server = cleanup.add(
      await http2Upstream((stream) => {
        stream.respond({ ':status': 200 });
        // `close` would put END_STREAM in front of the reset.
        stream.write('part', () => stream.destroy(new Error('no more')));
      }),
    );
    const { port, logged } = await gatewayTo(server.port);
    const client = await http2Client(port(80));
    await expect(client.ask({ ':path': '/' })).rejects.toThrow(/reset/);
    await expect(ask(port(80), '/')).rejects.toThrow();
    await logged('reason=UpstreamFailure');
  });

  test('that says GOAWAY gets its next request on another connection', async () => {
    const server = cleanup.add(await http2Upstream(echoStream));
    const { port } = await gatewayTo(server.port);
    expect((await ask(port(80), '/')).status).toBe(200);
    for (const session of server.sessions) session.close();
    await eventually('the old session is gone', () => server.sessions.size === 0);
    expect((await ask(port(80), '/')).status).toBe(200);
    expect(server.opened()).toBe(2);
  });

  test('that cannot be reached is told as 503', async () => {
    const { port } = await gatewayTo(1);
    expect(await ask(port(80), '/')).toMatchObject({ status: 503, headers: { 'x-gw-reason': 'UpstreamFailure' } });
  });

  test('that speaks HTTP/1.1 in truth is told as 503 and cuts nobody', async () => {
    const server = cleanup.add(await upstream(echo));
    const { port } = await gatewayTo(server.port);
    expect(await ask(port(80), '/')).toMatchObject({
      status: 503,
      headers: { 'x-gw-reason': 'UpstreamFailure' },
      body: 'upstream call failed: the backend does not speak HTTP/2',
    });
  });
});

describe('a message that breaks while nothing of it waits to be written', () => {
  test('is no whole answer for the client', async () => {
    const parted = signal<{ destroy(): void }>();
    const server = cleanup.add(
      await upstream((_request, response) => {
        response.write('part', () => parted.resolve(response));
      }),
    );
    const { port } = await gatewayTo(server.port, HTTP1);
    const client = await http2Client(port(80));
    const stream = client.stream({ ':path': '/' }, true);
    const answer = answerOf(stream);
    await once(stream, 'data');
    (await parted.promise).destroy();
    await expect(answer).rejects.toThrow(`reset with code ${constants.NGHTTP2_INTERNAL_ERROR}`);
  });

  test.each([
    ['closing', (socket: net.Socket) => socket.destroy()],
    ['a reset', (socket: net.Socket) => socket.resetAndDestroy()],
  ])('is no whole request for the backend when the client leaves by %s', async (_name, end) => {
    const arrived = signal();
    const over = signal<{ ended: boolean; code: number }>();
    const server = cleanup.add(
      await http2Upstream((stream) => {
        let ended = false;
        stream.on('data', () => arrived.resolve());
        stream.on('end', () => (ended = !stream.aborted));
        stream.on('close', () => over.resolve({ ended, code: stream.rstCode ?? 0 }));
      }),
    );
    const { port } = await gatewayTo(server.port);
    const socket = net.connect(port(80), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n');
    await arrived.promise;
    end(socket);
    expect(await over.promise).toEqual({ ended: false, code: constants.NGHTTP2_CANCEL });
  });
});

describe('gRPC', () => {
  const call = { ':method': 'POST', ':path': '/shop.Cart/Add', 'content-type': 'application/grpc', te: 'trailers' };

  /** Answers each message with itself; the status comes in trailers, or alone in the headers for `status-only`. */
  function grpcEcho(stream: ServerHttp2Stream, headers: Record<string, unknown>): void {
    const status = headers['x-want-status'] ?? '0';
    if (headers['x-status-only'] !== undefined) {
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(status) },
        { endStream: true },
      );
      return;
    }
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () =>
      stream.sendTrailers({ 'grpc-status': String(status), 'x-te': String(headers['te']) }),
    );
    stream.pipe(stream);
  }

  test.each([
    ['0', 'grpc.status=0'],
    ['5', 'grpc.status=5'],
  ])('unary calls get message and trailers with status %s, and the log tells it', async (status, logText) => {
    const server = cleanup.add(await http2Upstream(grpcEcho));
    const { port, logged } = await gatewayTo(server.port);
    const client = await http2Client(port(80));
    const answer = await client.ask({ ...call, 'x-want-status': status }, grpcFrame('one'));
    expect(answer.body).toEqual(grpcFrame('one'));
    expect(answer.trailers).toMatchObject({ 'grpc-status': status, 'x-te': 'trailers' });
    await logged('http.status=200', logText);
  });

  test('an answer without a body keeps its status in the headers', async () => {
    const server = cleanup.add(await http2Upstream(grpcEcho));
    const { port, logged } = await gatewayTo(server.port);
    const client = await http2Client(port(80));
    const answer = await client.ask({ ...call, 'x-want-status': '16', 'x-status-only': '1' }, grpcFrame('one'));
    expect(answer.headers['grpc-status']).toBe('16');
    expect(answer.body).toHaveLength(0);
    await logged('grpc.status=16');
  });

  test('streams in both directions at once, message by message', async () => {
    const server = cleanup.add(await http2Upstream(grpcEcho));
    const { port } = await gatewayTo(server.port);
    const client = await http2Client(port(80));
    const stream = client.stream(call);
    const answer = answerOf(stream);
    for (let n = 0; n < 20; n++) {
      const message = grpcFrame(`message ${n}`);
      stream.write(message);
      const [echoed] = await once(stream, 'data');
      expect(echoed).toEqual(message);
    }
    stream.end();
    expect((await answer).trailers['grpc-status']).toBe('0');
  });

  test('trailers of requests arrive as well', async () => {
    const seen = signal<unknown>();
    const server = cleanup.add(
      await http2Upstream((stream) => {
        stream.on('trailers', (trailers) => seen.resolve(trailers['x-sum']));
        stream.resume().on('end', () => stream.respond({ ':status': 200 }, { endStream: true }));
      }),
    );
    const { port } = await gatewayTo(server.port);
    const client = await http2Client(port(80));
    const stream = client.session.request(
      { ':path': '/', ':method': 'POST', ':authority': 'a' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'abc' }));
    stream.end('data');
    expect((await answerOf(stream)).status).toBe(200);
    expect(await seen.promise).toBe('abc');
  });

  test('errors of the gateway are gRPC errors', async () => {
    const { port, logged } = await gatewayTo(1);
    const client = await http2Client(port(80));
    const answer = await client.ask(call, grpcFrame('lost'));
    expect(answer).toMatchObject({ status: 200, headers: { 'grpc-status': '14', 'x-gw-reason': 'UpstreamFailure' } });
    expect(answer.headers['grpc-message']).toMatch(/^upstream call failed/);
    await logged('reason=UpstreamFailure');
  });

  test('a status other than 0 counts against the health of an endpoint', async () => {
    const server = cleanup.add(await http2Upstream(grpcEcho));
    const { port, admin } = await gatewayTo(server.port);
    const client = await http2Client(port(80));
    await client.ask({ ...call, 'x-want-status': '14' }, grpcFrame('one'));
    const dump = await (await fetch(`${admin}/config_dump`)).text();
    expect(dump).toMatch(/"health": 0.7,/);
    expect(dump).toMatch(/"lastError": "grpcStatus at /);
  });
});

describe('large bodies over HTTP/2', () => {
  const bytes = randomBytes(6 * 1024 * 1024);
  const sum = (buffer: Buffer) => createHash('sha256').update(buffer).digest('hex');

  test.each([
    ['HTTP/2', HTTP2],
    ['HTTP/1.1', HTTP1],
  ])('arrive whole in both directions with %s upstream', async (_name, policy) => {
    const server = cleanup.add(
      policy === HTTP2
        ? await http2Upstream((stream) => (stream.respond({ ':status': 200 }), stream.pipe(stream)))
        : await upstream((request, response) => request.pipe(response)),
    );
    const { port } = await gatewayTo(server.port, policy);
    const client = await http2Client(port(80));
    const answer = await client.ask({ ':path': '/', ':method': 'POST' }, bytes);
    expect(sum(answer.body)).toBe(sum(bytes));
  });

  test('wait for a reader that has stopped, and other streams of its connection do not', async () => {
    let written = 0;
    const server = cleanup.add(
      await http2Upstream((stream, headers) => {
        if (headers[':path'] !== '/big') {
          echoStream(stream, headers);
          return;
        }
        stream.respond({ ':status': 200 });
        const chunk = Buffer.alloc(64 * 1024);
        const pump = (): void => {
          do written += chunk.length;
          while (stream.write(chunk) && written < 64 * 1024 * 1024);
        };
        stream.on('drain', pump);
        pump();
      }),
    );
    const { port } = await gatewayTo(server.port);
    const client = await http2Client(port(80));
    const slow: ClientHttp2Stream = client.stream({ ':path': '/big' }, true);
    slow.pause();
    await once(slow, 'response');
    let before = -1;
    await eventually('the backend is held back', async () => {
      const settled = written === before;
      before = written;
      for (let n = 0; n < 5; n++) await client.ask({ ':path': '/other' });
      return settled && written === before;
    });
    expect(written).toBeLessThan(8 * 1024 * 1024);
    slow.close(constants.NGHTTP2_CANCEL);
  });
});

test('draining asks HTTP/2 clients to leave and finishes what they have begun', async () => {
  const arrived = signal();
  const release = signal();
  const server = cleanup.add(
    await upstream((_request, response) => {
      arrived.resolve();
      void release.promise.then(() => response.end('done'));
    }),
  );
  const running = await gatewayTo(server.port, HTTP1);
  const client = await http2Client(running.port(80));
  const answer = client.ask({ ':path': '/' });
  await arrived.promise;
  const down = running.gateway.shutdown();
  await eventually('the client is asked to leave', () => client.goaways.length > 0);
  expect(new Set(client.goaways)).toEqual(new Set([constants.NGHTTP2_NO_ERROR]));
  release.resolve();
  expect((await answer).text).toBe('done');
  await Promise.all([client.closed, down]);
});
