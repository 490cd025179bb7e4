import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:http2';
import type { ServerHttp2Stream } from 'node:http2';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import type { ProcessingResponse } from '../../proxy/services/messages/process.ts';
import { eventually, tcpUpstream } from './clients.ts';
import { Cleanup, echo } from './gateway.ts';
import {
  fieldsOf,
  type Message,
  modes,
  nothingOpen,
  type Part,
  processedGateway,
  processor,
  streamed,
} from './processor.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const OPEN = 'failureMode: failOpen';

/** A port on which nothing listens. */
async function deadPort(): Promise<number> {
  const server = await tcpUpstream(() => {});
  server.close();
  return server.port;
}

/** An HTTP/2 server that answers each stream by hand. */
async function http2Server(onStream: (stream: ServerHttp2Stream) => void): Promise<number> {
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {});
    onStream(stream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.add({
    close: () => {
      for (const session of sessions) session.destroy();
      server.close();
    },
  });
  // `as`: a TCP server that listens has an address with a port.
  return (server.address() as AddressInfo).port;
}

const post = { method: 'POST', body: 'hello' };

describe('without a service', () => {
  test('every request fails, and the upstream is not asked', async () => {
    let asked = 0;
    const gateway = await processedGateway(cleanup, { port: await deadPort() }, { backend: () => (asked += 1) });
    for (const ask of [{}, post, { method: 'HEAD' }]) {
      const answer = await gateway.ask('/a', ask);
      expect(answer.status).toBe(500);
      expect(answer.headers['x-gw-reason']).toBe('ExtProc');
    }
    const { body } = await gateway.ask('/a', post);
    expect(body).toMatch(/^ext_proc failed: the service cannot be reached/);
    expect(body).not.toContain('127.0.0.1');
    expect(asked).toBe(0);
    await gateway.logged('reason=ExtProc', 'status=500');
  });

  test.each(['none', 'buffered', 'bufferedPartial', 'fullDuplexStreamed'])(
    'failOpen lets requests and responses pass whole with %s',
    async (mode) => {
      const gateway = await processedGateway(
        cleanup,
        { port: await deadPort() },
        {
          backend: echo,
          more: `${OPEN}, ${modes({ requestBodyMode: mode, responseBodyMode: mode })}`,
        },
      );
      expect((await gateway.ask('/a')).status).toBe(200);
      for (const body of ['hello', 'x'.repeat(500_000)]) {
        const answer = await gateway.ask('/a', { method: 'POST', body });
        expect(answer.status).toBe(200);
        const seen = JSON.parse(answer.body);
        expect(seen.body).toBe(body);
        expect(seen.headers['content-length']).toBe(String(body.length));
      }
    },
  );
});

describe('a service that fails', () => {
  test.each<[string, (stream: ServerHttp2Stream) => void, string]>([
    ['resets the stream', (stream) => stream.close(8), 'stream reset'],
    ['closes the connection', (stream) => stream.session?.destroy(), 'connection closed'],
    [
      'is no gRPC service',
      (stream) => (stream.respond({ ':status': 200 }), stream.end('hi')),
      'did not answer as a gRPC service',
    ],
    ['answers 503', (stream) => (stream.respond({ ':status': 503 }), stream.end()), 'UNAVAILABLE: HTTP status 503'],
    [
      'refuses the method',
      (stream) =>
        stream.respond(
          { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' },
          { endStream: true },
        ),
      'UNIMPLEMENTED',
    ],
    [
      'sends garbage',
      (stream) => (
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }),
        stream.write('garbage that is no frame')
      ),
      'the service compressed its answer',
    ],
    [
      'sends a message that cannot be read',
      (stream) => (
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }),
        stream.write(Buffer.from([0, 0, 0, 0, 3, 0x0a, 0xff, 0x01]))
      ),
      'a message that cannot be read',
    ],
  ])('%s', async (_name, onStream, message) => {
    let asked = 0;
    const port = await http2Server(onStream);
    const backend = (...parts: Parameters<typeof echo>) => ((asked += 1), echo(...parts));
    const closed = await processedGateway(cleanup, { port }, { backend });
    const answer = await closed.ask('/a');
    expect(answer.status).toBe(500);
    expect(answer.body).toContain('ext_proc failed: ');
    expect(answer.body).toContain(message);
    expect(asked).toBe(0);
    const open = await processedGateway(cleanup, { port }, { backend, more: OPEN });
    expect((await open.ask('/a')).status).toBe(200);
    expect(asked).toBe(1);
  });

  test.each<[string, ProcessingResponse, string]>([
    ['a body in answer to headers', streamed('requestBody', { body: 'x' }), 'the service answered headers with body'],
    ['trailers in answer to headers', { requestTrailers: {} }, 'the service answered headers with trailers'],
    ['about a response that there is not', { responseHeaders: {} }, 'the service answered what it was not asked'],
    ['nothing at all', {}, 'the service sent an answer without content'],
  ])('fails a request when it says %s', async (_name, said, message) => {
    const service = await processor(cleanup, { requestHeaders: () => said });
    const gateway = await processedGateway(cleanup, service, { backend: echo });
    const answer = await gateway.ask('/a', post);
    expect(answer).toMatchObject({ status: 500, body: `ext_proc failed: ${message}` });
    await nothingOpen(service);
    expect(service.streams[0]?.left).toBe('cancelled');
  });

  test('fails a request whose body it answers as if it did not stream', async () => {
    for (const answer of [{}, { response: { bodyMutation: { body: Buffer.from('x') } } }]) {
      const service = await processor(cleanup, { requestBody: () => ({ requestBody: answer }) });
      const gateway = await processedGateway(cleanup, service, { backend: echo });
      const refused = await gateway.ask('/a', post);
      expect(refused.status).toBe(500);
      expect(refused.body).toContain('answered a streamed body with another answer than a streamed one');
      await nothingOpen(service);
    }
  });

  test('fails a request when it never stops to answer', async () => {
    const service = await processor(cleanup, {
      requestHeaders: () => Array.from({ length: 500 }, () => ({ requestHeaders: {} })),
    });
    const gateway = await processedGateway(cleanup, service, {
      backend: echo,
      more: modes({ requestBodyMode: 'buffered', responseBodyMode: 'none' }),
    });
    const answer = await gateway.ask('/a', post);
    expect(answer.status).toBe(500);
    expect(answer.body).toMatch(/answered (what it was not asked|a body with headers)/);
    await nothingOpen(service);
  });

  test.each<[Part, string]>([
    ['requestHeaders', 'none'],
    ['requestBody', 'buffered'],
    ['requestBody', 'fullDuplexStreamed'],
    ['responseHeaders', 'none'],
    ['responseBody', 'buffered'],
  ])('fails an exchange when it ends with an error at %s (%s)', async (part, mode) => {
    const service = await processor(cleanup, {
      [part]: (_message: Message, { call }: { call: { fail(code: number, text: string): void } }) => {
        call.fail(14, 'gone away');
        return null;
      },
    });
    const gateway = await processedGateway(cleanup, service, {
      backend: echo,
      more: modes({ requestBodyMode: mode, responseBodyMode: mode }),
    });
    const answer = await gateway.ask('/a', post);
    expect(answer).toMatchObject({ status: 500, body: 'ext_proc failed: UNAVAILABLE: gone away' });
    expect(answer.headers['x-gw-reason']).toBe('ExtProc');
    await nothingOpen(service);
  });

  test.each<[Part, number]>([
    ['requestHeaders', 200],
    ['requestBody', 500],
    ['responseHeaders', 500],
    ['responseBody', 500],
  ])('failOpen forgives an early end at %s with %i', async (part, status) => {
    const service = await processor(cleanup, {
      [part]: (_message: Message, { call }: { call: { end(): void } }) => (call.end(), null),
    });
    const gateway = await processedGateway(cleanup, service, {
      backend: echo,
      more: `${OPEN}, ${modes({ requestBodyMode: 'buffered', responseBodyMode: 'buffered' })}`,
    });
    const answer = await gateway.ask('/a', post);
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(status === 200 ? '"hello"' : 'ext_proc failed: the service ended the stream early');
    await nothingOpen(service);
  });

  test('cuts a response that streams already', async () => {
    const service = await processor(cleanup, {
      responseBody: (part, { call }) => {
        const body = (part['body'] as Buffer | undefined)?.toString() ?? '';
        if (body.includes('second')) call.fail(13, 'broken');
        return body.includes('second') ? null : streamed('responseBody', part);
      },
    });
    let writeMore = (): void => {};
    const gateway = await processedGateway(cleanup, service, {
      backend: (_request, response) => {
        response.write('first');
        writeMore = () => response.write('second');
      },
    });
    const response = await fetch(`http://127.0.0.1:${gateway.http}/a`);
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
    writeMore();
    await expect(reader?.read()).rejects.toThrow();
    await gateway.logged('INTERNAL: broken');
    await nothingOpen(service);
  });

  test('is given up in time: of its connection, of the request, and with the client', async () => {
    const service = await processor(cleanup, { requestHeaders: () => null, requestBody: () => null });
    const limited = await processedGateway(cleanup, service, {
      backend: echo,
      more: 'policies: {http: {requestTimeout: 50ms}}',
    });
    expect(await limited.ask('/a')).toMatchObject({
      status: 500,
      body: 'ext_proc failed: the service did not answer in time',
    });
    const deadline = await processedGateway(cleanup, service, {
      backend: echo,
      policies: 'timeout: {requestTimeout: 50ms}',
    });
    expect(await deadline.ask('/a', post)).toMatchObject({ status: 504, body: 'request timeout' });
    const patient = await processedGateway(cleanup, service, { backend: echo });
    const leaving = new AbortController();
    const asked = fetch(`http://127.0.0.1:${patient.http}/a`, { signal: leaving.signal });
    await eventually('the service is asked', () => service.streams.length === 3);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await nothingOpen(service);
    expect(service.streams.map(({ left }) => left)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });

  test('is given up when a later answer is late', async () => {
    const service = await processor(cleanup, { requestBody: () => null, responseHeaders: () => null });
    for (const requestBodyMode of ['buffered', 'none']) {
      const gateway = await processedGateway(cleanup, service, {
        backend: echo,
        more: `${modes({ requestBodyMode, responseBodyMode: 'none' })}, policies: {http: {requestTimeout: 80ms}}`,
      });
      expect(await gateway.ask('/a', post)).toMatchObject({
        status: 500,
        body: 'ext_proc failed: the service did not answer in time',
      });
    }
    await nothingOpen(service);
  });

  test('may not answer with more than is held', async () => {
    const service = await processor(cleanup, {
      requestBody: () => Array.from({ length: 40 }, () => streamed('requestBody', { body: 'x'.repeat(100_000) })),
    });
    const gateway = await processedGateway(cleanup, service, {
      backend: echo,
      more: modes({ requestBodyMode: 'buffered', responseBodyMode: 'none' }),
    });
    const answer = await gateway.ask('/a', post);
    expect(answer).toMatchObject({
      status: 500,
      body: 'ext_proc failed: the service sent a body of more than 2097152 bytes',
    });
    const huge = await processor(cleanup, {
      requestBody: () => ({ requestBody: { response: { bodyMutation: { body: Buffer.alloc(6 * 1024 * 1024) } } } }),
    });
    const other = await processedGateway(cleanup, huge, {
      backend: echo,
      more: modes({ requestBodyMode: 'buffered', responseBodyMode: 'none' }),
    });
    const refused = await other.ask('/a', post);
    expect(refused).toMatchObject({
      status: 500,
      body: 'ext_proc failed: the service sent a message of more than 4194304 bytes',
    });
    await nothingOpen(service);
    await nothingOpen(huge);
  });
});

describe('bodies beyond what is held', () => {
  const more = modes({ requestBodyMode: 'buffered', responseBodyMode: 'buffered' });
  const yaml = 'frontendPolicies: {http: {maxBufferSize: 1024}}';

  test('fail the exchange, in one piece and in drips, and nothing of them leaks', async () => {
    const service = await processor(cleanup);
    let asked = 0;
    const gateway = await processedGateway(cleanup, service, {
      more,
      yaml,
      backend: (request, response) => {
        asked += 1;
        request.resume();
        if (request.url === '/drips') for (let i = 0; i < 20; i++) response.write('x'.repeat(100));
        response.end('x'.repeat(2000));
      },
    });
    const large = await gateway.ask('/a', { method: 'POST', body: 'x'.repeat(2000) });
    expect(large).toMatchObject({ status: 500, body: 'ext_proc failed: the request body is larger than 1024 bytes' });
    const drips = await fetch(`http://127.0.0.1:${gateway.http}/a`, {
      method: 'POST',
      duplex: 'half',
      body: ReadableStream.from(
        (async function* () {
          for (let i = 0; i < 20; i++) yield Buffer.from('x'.repeat(100));
        })(),
      ),
    } as RequestInit);
    expect(drips.status).toBe(500);
    await drips.text();
    expect(asked).toBe(0);
    for (const path of ['/whole', '/drips']) {
      const answer = await gateway.ask(path);
      expect(answer).toMatchObject({
        status: 500,
        body: 'ext_proc failed: the response body is larger than 1024 bytes',
      });
    }
    expect(asked).toBe(2);
    await nothingOpen(service);
  });

  test('pass whole with failOpen, in the request', async () => {
    const service = await processor(cleanup);
    const gateway = await processedGateway(cleanup, service, {
      more: `${OPEN}, ${modes({ requestBodyMode: 'buffered', responseBodyMode: 'none' })}`,
      yaml,
      backend: echo,
    });
    const body = 'x'.repeat(20_000);
    expect(JSON.parse((await gateway.ask('/a', { method: 'POST', body })).body).body).toBe(body);
    await nothingOpen(service);
  });
});

test('an upstream that dies leaves no stream open', async () => {
  const service = await processor(cleanup);
  const dying = cleanup.add(await tcpUpstream((socket) => socket.once('data', () => socket.destroy())));
  const gateway = await processedGateway(cleanup, service, { backend: dying.port });
  expect((await gateway.ask('/a')).status).toBe(503);
  expect((await gateway.ask('/a', { method: 'POST', body: 'x'.repeat(100_000) })).status).toBe(503);
  await nothingOpen(service);
});

test('a response that is cut is the fault of the upstream, before its head has left and after', async () => {
  const service = await processor(cleanup, {
    responseHeaders: (part) => (fieldsOf(part)['x-hold'] === undefined ? { responseHeaders: {} } : null),
  });
  let cut = (): void => {};
  const upstreamPort = cleanup.add(
    await tcpUpstream((socket) => {
      socket.on('data', (data: Buffer) => {
        const hold = data.includes('/hold');
        cut = () => socket.destroy();
        socket.write(`HTTP/1.1 200 OK\r\n${hold ? 'x-hold: 1\r\n' : ''}content-length: 100\r\n\r\nhalf`, () => {
          if (hold || data.includes('/now')) socket.destroy();
        });
      });
    }),
  ).port;
  const gateway = await processedGateway(cleanup, service, { backend: upstreamPort });
  expect(await gateway.ask('/hold')).toMatchObject({ status: 502, headers: { 'x-gw-reason': 'UpstreamFailure' } });
  const response = await fetch(`http://127.0.0.1:${gateway.http}/later`);
  const reader = response.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('half');
  cut();
  await expect(reader?.read()).rejects.toThrow();
  const buffered = await processedGateway(cleanup, service, {
    backend: upstreamPort,
    more: modes({ requestBodyMode: 'none', responseBodyMode: 'buffered' }),
  });
  expect(await buffered.ask('/now')).toMatchObject({ status: 502, headers: { 'x-gw-reason': 'UpstreamFailure' } });
  await nothingOpen(service);
});
