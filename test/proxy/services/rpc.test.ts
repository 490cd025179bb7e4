import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Headers } from '../../../proxy/exchange/headers.ts';
import type { RpcOptions, RpcStream, ServiceError } from '../../../proxy/services/contract.ts';
import { type CheckRequest, checkMethod } from '../../../proxy/services/messages/check.ts';
import {
  processMethod,
  type ProcessingRequest,
  type ProcessingResponse,
} from '../../../proxy/services/messages/process.ts';
import { type PolicyServer, type ProcessCall, serveAuthz, serveExtProc, StatusError } from '../../services/envoy.ts';
import { writeMessage } from '../../services/envoy-api.ts';
import { pem, Rig } from '../backends/rig.ts';
import { openService, type OpenedService, streamServer } from './rig.ts';

const rig = new Rig();

afterEach(() => rig.end());

const question: CheckRequest = {
  request: {
    http: {
      method: 'GET',
      headers: { 'x-a': '1' },
      path: '/',
      host: 'shop.test',
      scheme: 'http',
      size: 0,
      protocol: '',
    },
  },
};

const options: RpcOptions = { timeoutMs: null, trace: null };

async function authz(...parts: Parameters<typeof serveAuthz>): Promise<PolicyServer> {
  const server = await serveAuthz(...parts);
  rig.cleanup(() => server.close());
  return server;
}

async function extProc(...parts: Parameters<typeof serveExtProc>): Promise<PolicyServer> {
  const server = await serveExtProc(...parts);
  rig.cleanup(() => server.close());
  return server;
}

/** Waits until nothing of the service is in flight any more. */
async function settled({ info }: OpenedService): Promise<void> {
  while (info()?.pendingRequests !== 0) await new Promise((resolve) => setImmediate(resolve));
}

describe('a gRPC call', () => {
  test('carries a message there and back', async () => {
    const { port, requests, metadata } = await authz(() => ({
      status: { code: 0 },
      okResponse: { headersToRemove: ['x'] },
    }));
    const { client, info } = openService(rig, port);
    const answer = await client.unary(checkMethod, question, {
      ...options,
      timeoutMs: 5000,
      metadata: Headers.from([['x-token', 'abc']]),
    });
    expect(answer.okResponse?.headersToRemove).toEqual(['x']);
    expect(requests).toMatchObject([{ attributes: { request: { http: { host: 'shop.test' } } } }]);
    expect(metadata[0]?.get('x-token')).toEqual(['abc']);
    expect(info()).toMatchObject({ totalRequests: 1, pendingRequests: 0, health: 1 });
  });

  test('shares one connection among many calls', async () => {
    const { port } = await authz((request) => ({ deniedResponse: { body: JSON.stringify(request) } }));
    const { client } = openService(rig, port);
    const answers = await Promise.all(Array.from({ length: 200 }, () => client.unary(checkMethod, question, options)));
    expect(new Set(answers.map(({ deniedResponse }) => deniedResponse?.body)).size).toBe(1);
  });

  test('goes over TLS, and over a socket', async () => {
    const tls = { key: Buffer.from(pem('a.key')), cert: Buffer.from(pem('a.crt')) };
    const secure = await authz(() => ({ status: { code: 7 } }), { tls });
    const overTls = openService(rig, secure.port, { backendTLS: { verify: 'none' } });
    expect((await overTls.client.unary(checkMethod, question, options)).status?.code).toBe(7);
    const folder = mkdtempSync(join(tmpdir(), 'gw-rpc-'));
    rig.cleanup(() => rmSync(folder, { recursive: true }));
    await authz(() => ({ status: { code: 9 } }), { address: `unix:${folder}/s` });
    const overSocket = openService(rig, `${folder}/s`);
    expect((await overSocket.client.unary(checkMethod, question, options)).status?.code).toBe(9);
  });

  test('speaks HTTP/2 even where the connection asks for HTTP/1.1', async () => {
    const { port } = await authz(() => ({}));
    const { client } = openService(rig, port, { http: { version: 'HTTP/1.1' } });
    await expect(client.unary(checkMethod, question, options)).resolves.toMatchObject({ status: null });
  });

  test('fails with the status that the service gives, its message decoded', async () => {
    const { port } = await authz(() => {
      throw new StatusError(9, 'nö: 100%\nreally');
    });
    const service = openService(rig, port);
    await expect(service.client.unary(checkMethod, question, options)).rejects.toMatchObject({
      kind: 'status',
      grpcStatus: 9,
      message: 'FAILED_PRECONDITION: nö: 100% really',
    });
    expect(service.info()).toMatchObject({ consecutiveFailures: 1, lastError: { kind: 'grpcStatus' } });
  });

  test('fails in time, and tells the service how long it has', async () => {
    const { port, metadata } = await authz(() => new Promise(() => {}));
    const service = openService(rig, port);
    const call = service.client.unary(checkMethod, question, { ...options, timeoutMs: 50 });
    await expect(call).rejects.toMatchObject({ kind: 'timeout' });
    await settled(service);
    expect(metadata).toHaveLength(1);
    expect(service.info()).toMatchObject({ lastError: { kind: 'timeout' } });
  });

  test('fails as unreachable where nothing listens', async () => {
    const { client } = openService(rig, 1);
    await expect(client.unary(checkMethod, question, options)).rejects.toMatchObject({ kind: 'unreachable' });
  });

  test('fails where the service speaks no HTTP/2', async () => {
    const port = await rig.listen(createHttpServer((_request, response) => response.end('hello')));
    const { client } = openService(rig, port);
    const failure = await client.unary(checkMethod, question, options).catch((error: ServiceError) => error.kind);
    expect(['protocol', 'unreachable']).toContain(failure);
  });

  const answer = writeMessage('envoy.service.auth.v3.CheckResponse', { status: { code: 0 } });
  const framed = Buffer.concat([Buffer.from([0, 0, 0, 0, answer.length]), answer]);
  const grpc = { ':status': 200, 'content-type': 'application/grpc' };

  test.each<[string, (stream: ServerHttp2Stream) => void, object]>([
    ['an HTTP error', (stream) => stream.respond({ ':status': 503 }, { endStream: true }), { grpcStatus: 14 }],
    [
      'an HTTP error with a body',
      (stream) => {
        stream.respond({ ':status': 401 });
        stream.end('who?');
      },
      { grpcStatus: 16 },
    ],
    [
      'a page',
      (stream) => {
        stream.respond({ ':status': 200, 'content-type': 'text/html' });
        stream.end('<p>');
      },
      { kind: 'protocol' },
    ],
    [
      'a status alone',
      (stream) => stream.respond({ ...grpc, 'grpc-status': '5' }, { endStream: true }),
      { grpcStatus: 5 },
    ],
    [
      'status OK and no message',
      (stream) => stream.respond({ ...grpc, 'grpc-status': '0' }, { endStream: true }),
      { kind: 'protocol' },
    ],
    [
      'no status',
      (stream) => {
        stream.respond(grpc);
        stream.end(framed);
      },
      { kind: 'protocol' },
    ],
    [
      'a status that is no number',
      (stream) => stream.respond({ ...grpc, 'grpc-status': 'x' }, { endStream: true }),
      { grpcStatus: 2 },
    ],
    ['half a message', (stream) => withTrailers(stream, [framed.subarray(0, 6)]), { kind: 'protocol' }],
    ['two messages', (stream) => withTrailers(stream, [framed, framed]), { kind: 'protocol' }],
    ['a compressed message', (stream) => withTrailers(stream, [Buffer.from([1, 0, 0, 0, 0])]), { kind: 'protocol' }],
    [
      'a message of 4 GiB',
      (stream) => withTrailers(stream, [Buffer.from([0, 255, 255, 255, 255])]),
      { kind: 'tooLarge' },
    ],
    [
      'bytes that are no message',
      (stream) => withTrailers(stream, [Buffer.from([0, 0, 0, 0, 2, 10, 127])]),
      { kind: 'protocol' },
    ],
    ['a reset', (stream) => stream.close(2), { kind: 'unreachable' }],
    [
      'a reset inside its answer',
      (stream) => {
        stream.respond(grpc);
        stream.write(framed.subarray(0, 6), () => stream.destroy(new Error('broken')));
      },
      { kind: 'unreachable' },
    ],
  ])('fails when the service answers with %s', async (_what, onStream, failure) => {
    const { port } = await streamServer(rig, onStream);
    const service = openService(rig, port);
    await expect(service.client.unary(checkMethod, question, options)).rejects.toMatchObject(failure);
    await settled(service);
  });

  test('reads a message that comes byte by byte', async () => {
    const { port } = await streamServer(rig, (stream) =>
      withTrailers(
        stream,
        [...framed].map((byte) => Buffer.from([byte])),
      ),
    );
    const { client } = openService(rig, port);
    await expect(client.unary(checkMethod, question, options)).resolves.toMatchObject({ status: { code: 0 } });
  });

  test('takes messages up to the limit of the call', async () => {
    const { port } = await authz(() => ({ deniedResponse: { body: 'x'.repeat(5_000_000) } }));
    const { client } = openService(rig, port);
    await expect(client.unary(checkMethod, question, options)).rejects.toMatchObject({ kind: 'tooLarge' });
    const large = await client.unary(checkMethod, question, { ...options, maxMessageBytes: 6_000_000 });
    expect(large.deniedResponse?.body).toHaveLength(5_000_000);
  });

  function withTrailers(stream: ServerHttp2Stream, chunks: readonly Buffer[]): void {
    stream.respond(grpc, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    for (const chunk of chunks) stream.write(chunk);
    stream.end();
  }
});

describe('a gRPC stream', () => {
  interface Opened {
    readonly stream: RpcStream<ProcessingRequest>;
    readonly messages: ProcessingResponse[];
    readonly ended: Promise<ServiceError | null>;
    next(): Promise<ProcessingResponse>;
  }

  function openProcess({ client }: OpenedService, own: Partial<RpcOptions> = {}): Opened {
    const messages: ProcessingResponse[] = [];
    const waiting: (() => void)[] = [];
    let end: (error: ServiceError | null) => void = () => {};
    const ended = new Promise<ServiceError | null>((resolve) => (end = resolve));
    const events = {
      onMessage: (message: ProcessingResponse) => {
        messages.push(message);
        waiting.shift()?.();
      },
      onEnd: end,
    };
    const stream = client.stream(processMethod, events, { ...options, ...own });
    const next = async (): Promise<ProcessingResponse> => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return messages.at(-1) ?? {};
    };
    return { stream, messages, ended, next };
  }

  const body = (text: string) => ({ requestBody: { body: Buffer.from(text), endOfStream: false } });

  test('carries messages both ways until the service ends it', async () => {
    const { port, requests } = await extProc((call) => {
      call.onMessage(() => call.send({ requestHeaders: {} }));
      call.onEnd(() => call.end());
    });
    const service = openService(rig, port);
    const { stream, messages, ended, next } = openProcess(service);
    for (const text of ['a', 'b', 'c']) {
      const answer = next();
      stream.send(body(text));
      await answer;
    }
    stream.end();
    expect(await ended).toBeNull();
    expect(messages).toHaveLength(3);
    expect(requests).toMatchObject([{ requestBody: {} }, { requestBody: {} }, { requestBody: {} }]);
    expect(service.info()).toMatchObject({ pendingRequests: 0, health: 1 });
  });

  test('ends with the status of the service', async () => {
    const { port } = await extProc((call) => call.onMessage(() => call.fail(14, 'gone home')));
    const { stream, ended } = openProcess(openService(rig, port));
    stream.send(body('a'));
    expect(await ended).toMatchObject({ kind: 'status', grpcStatus: 14, message: 'UNAVAILABLE: gone home' });
  });

  test('ends with null when the service ends it first, and leaves nothing open', async () => {
    const { port } = await extProc((call) => call.onMessage(() => call.end()));
    const service = openService(rig, port);
    const { stream, ended } = openProcess(service);
    stream.send(body('a'));
    expect(await ended).toBeNull();
    stream.send(body('late'));
    await settled(service);
  });

  test('tells the service when it is cancelled, and the caller too', async () => {
    let left: (how: string) => void = () => {};
    const gone = new Promise<string>((resolve) => (left = resolve));
    const { port } = await extProc((call) => {
      call.onEnd(left);
      call.onMessage(() => call.send({ requestHeaders: {} }));
    });
    const service = openService(rig, port);
    const { stream, ended, next } = openProcess(service);
    const answer = next();
    stream.send(body('a'));
    await answer;
    stream.cancel();
    expect(await ended).toMatchObject({ kind: 'cancelled' });
    expect(await gone).toBe('cancelled');
    await settled(service);
  });

  test('is cancelled before it is connected', async () => {
    const port = await rig.raw(() => {});
    const { stream, ended } = openProcess(openService(rig, port));
    stream.cancel();
    expect(await ended).toMatchObject({ kind: 'cancelled' });
  });

  test('closes without an event when the caller has all that it wants', async () => {
    let left: (how: string) => void = () => {};
    const gone = new Promise<string>((resolve) => (left = resolve));
    const { port } = await extProc((call) => {
      call.onEnd((how) => {
        left(how);
        call.end();
      });
      call.onMessage(() => call.send({ requestHeaders: {} }));
    });
    const service = openService(rig, port);
    const { stream, next, ended } = openProcess(service);
    const answer = next();
    stream.send(body('a'));
    await answer;
    stream.close();
    expect(await gone).toBe('ended');
    await settled(service);
    expect(await Promise.race([ended, Promise.resolve('silent')])).toBe('silent');
    expect(service.info()).toMatchObject({ health: 1, consecutiveFailures: 0 });
  });

  test('cuts a service that does not end a closed stream', async () => {
    let left: (how: string) => void = () => {};
    const gone = new Promise<string>((resolve) => (left = resolve));
    const { port } = await extProc((call) => {
      call.onEnd((how) => (how === 'cancelled' ? left(how) : undefined));
      call.onMessage(() => call.send({ requestHeaders: {} }));
    });
    const { stream, next } = openProcess(openService(rig, port));
    const answer = next();
    stream.send(body('a'));
    await answer;
    stream.close();
    expect(await gone).toBe('cancelled');
  });

  test('is full when the service does not read, and drains when it does', async () => {
    let opened: (call: ProcessCall) => void = () => {};
    const call = new Promise<ProcessCall>((resolve) => (opened = resolve));
    let received = 0;
    const { port } = await extProc((each) => {
      each.onMessage(() => {
        received += 1;
        each.pause();
        opened(each);
      });
    });
    const { stream } = openProcess(openService(rig, port));
    const piece = { requestBody: { body: Buffer.alloc(60_000), endOfStream: false } };
    let sent = 0;
    stream.send(piece);
    sent += 1;
    const server = await call;
    for (; !stream.full && sent < 2000; sent++) {
      stream.send(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(stream.full).toBe(true);
    expect(sent).toBeLessThan(1000);
    const drained = new Promise<void>((resolve) => stream.onDrain(resolve));
    server.onMessage(() => server.resume());
    server.resume();
    await drained;
    expect(stream.full).toBe(false);
    expect(received).toBeGreaterThan(1);
    stream.cancel();
  });

  test('holds messages back while it is paused', async () => {
    let more: () => void = () => {};
    const { port } = await extProc((call) => {
      call.onMessage(() => {
        call.send({ requestHeaders: {} });
        more = () => {
          for (let n = 0; n < 400; n++) {
            call.send({ requestBody: { response: { bodyMutation: { body: Buffer.alloc(10_000) } } } });
          }
        };
      });
    });
    const { stream, messages, next } = openProcess(openService(rig, port));
    const answer = next();
    stream.send(body('a'));
    await answer;
    stream.pause();
    more();
    // Several round trips of another stream on the same connection: what could come has come.
    for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve));
    expect(messages.length).toBeLessThan(150);
    stream.resume();
    while (messages.length < 401) await next();
    stream.cancel();
  });

  test('fails when the service gives no sign of life within the limit of the connection', async () => {
    const { port } = await extProc(() => {});
    const { stream, ended } = openProcess(openService(rig, port, { http: { requestTimeoutMs: 50 } }));
    stream.send(body('a'));
    expect(await ended).toMatchObject({ kind: 'timeout' });
  });

  test('fails when the connection dies', async () => {
    const server = createServer();
    const sessions: { destroy(): void }[] = [];
    server.on('session', (session) => void sessions.push(session.on('error', () => {})));
    server.on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => {});
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.once('data', () => sessions[0]?.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    rig.cleanup(() => server.close());
    const address = server.address();
    const service = openService(rig, typeof address === 'object' ? (address?.port ?? 0) : 0);
    const { stream, ended } = openProcess(service);
    stream.send(body('a'));
    expect(await ended).toMatchObject({ kind: 'unreachable' });
    await settled(service);
  });
});
