import { afterEach, describe, expect, test } from '@jest/globals';
import type { ServerHttp2Stream } from 'node:http2';
import { connect, type Socket } from 'node:net';

import type { RpcOptions, RpcStream, ServiceError } from '../../../proxy/services/contract.ts';
import { type CheckRequest, checkMethod } from '../../../proxy/services/messages/check.ts';
import {
  processMethod,
  type ProcessingRequest,
  type ProcessingResponse,
} from '../../../proxy/services/messages/process.ts';
import { type ProcessCall, serveAuthz, serveExtProc } from '../../services/envoy.ts';
import { writeMessage } from '../../services/envoy-api.ts';
import { Rig } from '../backends/rig.ts';
import { openService, type OpenedService, streamServer } from './rig.ts';

const rig = new Rig();

afterEach(() => rig.end());

const question: CheckRequest = {
  request: {
    http: { method: 'GET', headers: {}, path: '/', host: 'shop.test', scheme: 'http', size: 0, protocol: '' },
  },
};
const options: RpcOptions = { timeoutMs: null, trace: null };

function framed(type: string, message: object): Buffer {
  const bytes = writeMessage(type, message);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

const allowed = framed('envoy.service.auth.v3.CheckResponse', { status: { code: 0 } });
const processed = framed('envoy.service.ext_proc.v3.ProcessingResponse', { requestHeaders: {} });

/** Answers with a message and status OK once it has read the whole call. */
function answerWith(stream: ServerHttp2Stream, message: Buffer): void {
  stream.resume();
  stream.once('end', () => {
    if (stream.destroyed) return;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(message);
  });
}

interface Opened {
  readonly stream: RpcStream<ProcessingRequest>;
  readonly messages: ProcessingResponse[];
  readonly first: Promise<void>;
  readonly ended: Promise<ServiceError | null>;
}

function openProcess({ client }: OpenedService): Opened {
  const messages: ProcessingResponse[] = [];
  const first = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<ServiceError | null>();
  const onMessage = (message: ProcessingResponse): void => {
    messages.push(message);
    first.resolve();
  };
  const stream = client.stream(processMethod, { onMessage, onEnd: ended.resolve }, options);
  return { stream, messages, first: first.promise, ended: ended.promise };
}

const piece = (body: Uint8Array): ProcessingRequest => ({ requestBody: { body, endOfStream: false } });

const SETTINGS = Buffer.from('000000040000000000', 'hex');
/** No stream was looked at, no error. */
const GOAWAY = Buffer.from('0000080700000000000000000000000000', 'hex');

/** Goes away as soon as a call begins, whatever it is. */
function goAway(socket: Socket): void {
  let bytes = Buffer.alloc(0);
  // Behind the preface of the client.
  let at = 24;
  socket.write(SETTINGS);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (; bytes.length >= at + 9; at += 9 + bytes.readUIntBE(at, 3)) if (bytes[at + 3] === 1) socket.end(GOAWAY);
  });
}

/** A server that refuses the first calls without having looked: by GOAWAY, or by a reset of the one stream. */
const refusals = {
  'a server that goes away': async (times: number, onStream: (stream: ServerHttp2Stream) => void) => {
    const { port: behind } = await streamServer(rig, onStream);
    let refused = 0;
    const port = await rig.raw((socket) => {
      refused += 1;
      if (refused <= times) goAway(socket);
      else
        socket
          .pipe(connect(behind, '127.0.0.1'))
          .on('error', () => {})
          .pipe(socket);
    });
    return { port, refused: () => Math.min(refused, times) };
  },
  'a reset that says so': async (times: number, onStream: (stream: ServerHttp2Stream) => void) => {
    let refused = 0;
    const { port } = await streamServer(rig, (stream, nth) => {
      if (nth >= times) onStream(stream);
      else {
        refused += 1;
        stream.close(7);
      }
    });
    return { port, refused: () => refused };
  },
};

describe.each(Object.entries(refusals))('after %s', (_what, refusing) => {
  test('a call is made once more', async () => {
    const { port, refused } = await refusing(1, (stream) => answerWith(stream, allowed));
    const { client } = openService(rig, port);
    await expect(client.unary(checkMethod, question, options)).resolves.toMatchObject({ status: { code: 0 } });
    expect(refused()).toBe(1);
  });

  test('a stream is begun once more, with what was sent', async () => {
    const received: Buffer[] = [];
    const { port, refused } = await refusing(1, (stream) => {
      stream.on('data', (chunk: Buffer) => received.push(chunk));
      answerWith(stream, processed);
    });
    const { stream, messages, ended } = openProcess(openService(rig, port));
    stream.send(piece(Buffer.from('one')));
    stream.send(piece(Buffer.from('two')));
    stream.end();
    expect(await ended).toBeNull();
    expect(messages).toMatchObject([{ requestHeaders: {} }]);
    expect(Buffer.concat(received).toString()).toMatch(/^[^]{5,}one[^]{5,}two$/);
    expect(refused()).toBe(1);
  });

  test('there is no third time, and no second where too much was sent to keep', async () => {
    const { port, refused } = await refusing(5, (stream) => answerWith(stream, allowed));
    const service = openService(rig, port);
    await expect(service.client.unary(checkMethod, question, options)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(refused()).toBe(2);
    const twice = openProcess(service);
    twice.stream.send(piece(Buffer.from('one')));
    expect(await twice.ended).toMatchObject({ kind: 'unreachable' });
    expect(refused()).toBe(4);
    const large = openProcess(service);
    large.stream.send(piece(Buffer.alloc(100_000)));
    expect(await large.ended).toMatchObject({ kind: 'unreachable' });
    expect(refused()).toBe(5);
  });
});

describe('a call that may have been looked at', () => {
  test('is not made again', async () => {
    let streams = 0;
    const { port } = await streamServer(rig, (stream) => {
      streams += 1;
      stream.close(2);
    });
    const { stream, ended } = openProcess(openService(rig, port));
    stream.send(piece(Buffer.from('one')));
    expect(await ended).toMatchObject({ kind: 'unreachable' });
    expect(streams).toBe(1);
  });
});

describe('a service that is replaced', () => {
  test('ends the streams that it has, and its successor gets the next', async () => {
    const { port, sessions } = await streamServer(rig, (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.on('data', () => stream.write(processed));
      stream.on('end', () => stream.end());
    });
    const service = openService(rig, port);
    const old = openProcess(service);
    old.stream.send(piece(Buffer.from('a')));
    await old.first;
    // GOAWAY that lets what it has go on.
    for (const session of sessions) session.close();
    const next = openProcess(service);
    next.stream.send(piece(Buffer.from('b')));
    await next.first;
    expect(sessions.size).toBe(2);
    old.stream.end();
    next.stream.end();
    expect(await old.ended).toBeNull();
    expect(await next.ended).toBeNull();
  });

  test('is found again at its old address after it has died', async () => {
    const handler = (call: ProcessCall): void => {
      call.onMessage(() => call.send({ requestHeaders: {} }));
      call.onEnd(() => call.end());
    };
    const first = await serveExtProc(handler);
    const service = openService(rig, first.port);
    const one = openProcess(service);
    one.stream.send(piece(Buffer.from('a')));
    await one.first;
    first.close();
    expect(await one.ended).toMatchObject({ kind: expect.stringMatching(/unreachable|status/) });
    const again = await serveExtProc(handler, { address: `127.0.0.1:${first.port}` });
    rig.cleanup(() => again.close());
    const two = openProcess(service);
    two.stream.send(piece(Buffer.from('a')));
    await two.first;
    two.stream.end();
    expect(await two.ended).toBeNull();
  });
});

describe('limits of the other side', () => {
  test('of streams open more connections, and no call waits for ever', async () => {
    const { port, sessions } = await streamServer(rig, (stream) => answerWith(stream, allowed), {
      maxConcurrentStreams: 2,
    });
    const { client } = openService(rig, port);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.unary(checkMethod, question, options)));
    expect(answers).toHaveLength(20);
    expect(sessions.size).toBeGreaterThan(1);
  });

  test('of flow control hold a large message back until there is room, or time is up', async () => {
    let read: () => void = () => {};
    const wanted = new Promise<void>((resolve) => (read = resolve));
    const { port } = await streamServer(
      rig,
      (stream) => {
        stream.pause();
        void wanted.then(() => answerWith(stream, allowed));
      },
      { initialWindowSize: 1000 },
    );
    const service = openService(rig, port);
    const large: CheckRequest = {
      request: { http: { ...question.request.http, headers: { 'x-large': 'x'.repeat(500_000) } } },
    };
    await expect(service.client.unary(checkMethod, large, { ...options, timeoutMs: 50 })).rejects.toMatchObject({
      kind: 'timeout',
    });
    const slow = service.client.unary(checkMethod, large, options);
    read();
    await expect(slow).resolves.toMatchObject({ status: { code: 0 } });
  });

  test('of a library are met by large messages in both directions', async () => {
    const server = await serveAuthz(({ attributes }) => {
      const { request } = attributes as { request: { http: { headers: Record<string, string> } } };
      return { deniedResponse: { body: request.http.headers['x-large'] ?? '' } };
    });
    rig.cleanup(() => server.close());
    const { client } = openService(rig, server.port);
    const text = 'é'.repeat(1_000_000);
    const large: CheckRequest = { request: { http: { ...question.request.http, headers: { 'x-large': text } } } };
    const answer = await client.unary(checkMethod, large, options);
    expect(answer.deniedResponse?.body).toBe(text);
  });
});

describe('an answer that is compressed', () => {
  test('is refused in words, whether or not a way of compressing is named', async () => {
    for (const encoding of [{}, { 'grpc-encoding': 'gzip' }]) {
      const { port } = await streamServer(rig, (stream) => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...encoding });
        stream.write(Buffer.from([1, 0, 0, 0, 1, 0]));
      });
      const service = openService(rig, port);
      await expect(service.client.unary(checkMethod, question, options)).rejects.toMatchObject({
        kind: 'protocol',
        message: 'the service compressed its answer, which nobody asked for',
      });
      const { stream, ended } = openProcess(service);
      stream.send(piece(Buffer.from('a')));
      expect(await ended).toMatchObject({ kind: 'protocol' });
    }
  });
});
