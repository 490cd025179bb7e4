import { once } from 'node:events';
import net from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { BufferedBody, emptyBody, type BodySink } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import type { RequestHandler } from '../../../proxy/exchange/exchange.ts';
import type { Delivery } from '../../../proxy/exchange/transport.ts';
import { FieldParser } from '../../../proxy/http1/fields.ts';
import { DateHeader } from '../../../proxy/http1/response-writer.ts';
import { type Http1Connection, type Http1ServerOptions, serveHttp1 } from '../../../proxy/http1/server.ts';
import { Sweeper } from '../../../proxy/http1/sweeper.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Rig {
  readonly connect: () => net.Socket;
  readonly connections: Http1Connection[];
  readonly sweeper: Sweeper;
  readonly refusals: string[];
}

async function listen(handler: RequestHandler, options: Partial<Http1ServerOptions> = {}): Promise<Rig> {
  const sweeper = new Sweeper(1 << 30);
  const connections: Http1Connection[] = [];
  const refusals: string[] = [];
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const facts = {
      id: 1,
      bind: 'bind/0',
      bindPort: 0,
      sourceAddress: '127.0.0.1',
      sourcePort: 1,
      rawAddress: '127.0.0.1',
      rawPort: 1,
      destinationAddress: '127.0.0.1',
      destinationPort: 1,
      tls: null,
    };
    connections.push(
      serveHttp1(
        socket,
        facts,
        {
          maxHeadBytes: 4096,
          maxHeaders: 50,
          idleTimeoutMs: 1000,
          streamIdleTimeoutMs: 1000,
          preserveCase: false,
          fields: new FieldParser({ keepSpelling: false }),
          date: new DateHeader(),
          sweeper,
          onBadRequest: (_facts, error) => refusals.push(`${error.status} ${error.message}`),
          ...options,
        },
        handler,
      ),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const sockets: net.Socket[] = [];
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    for (const connection of connections) connection.destroy();
    sweeper.close();
    return new Promise((resolve) => server.close(resolve));
  });
  const connect = () => {
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    return socket;
  };
  return { connect, connections, sweeper, refusals };
}

/** Reads until the text contains all the marks. */
async function readUntil(socket: net.Socket, ...marks: string[]): Promise<string> {
  let text = '';
  while (!marks.every((mark) => text.includes(mark))) {
    const [chunk] = await once(socket, 'data');
    text += String(chunk);
  }
  return text;
}

async function readToEnd(socket: net.Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  await Promise.race([once(socket, 'end'), once(socket, 'close')]);
  return text;
}

const say =
  (text: string): RequestHandler =>
  (_request, _connection, transport) =>
    transport.respond({ status: 200, headers: new Headers(), body: new BufferedBody(Buffer.from(text)) }, () => {});

/** Answers with the request's body, whole. */
const echo: RequestHandler = (request, _connection, transport) => {
  const chunks: Uint8Array[] = [];
  const sink: BodySink = {
    onData: (chunk) => void chunks.push(Uint8Array.from(chunk)),
    onEnd: () =>
      transport.respond(
        { status: 200, headers: new Headers(), body: new BufferedBody(Buffer.concat(chunks)) },
        () => {},
      ),
    onError: () => {},
  };
  request.body.pipe(sink);
};

describe('an HTTP/1 connection', () => {
  test('answers requests one after the other and keeps the connection', async () => {
    const { connect } = await listen(say('hi'));
    const socket = connect();
    socket.write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\n');
    const first = await readUntil(socket, 'hi');
    expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\ndate: .* GMT\r\ncontent-length: 2\r\n\r\nhi$/);
    socket.write('GET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await readUntil(socket, 'hi')).toContain('200 OK');
  });

  test('answers pipelined requests in their order, whatever takes how long', async () => {
    const answers: (() => void)[] = [];
    const { connect } = await listen((request, _connection, transport) => {
      const body = new BufferedBody(Buffer.from(`[${request.target}]`));
      answers.push(() => transport.respond({ status: 200, headers: new Headers(), body }, () => {}));
      if (answers.length === 1) setImmediate(() => answers.shift()?.());
      else answers.pop()?.();
    });
    const socket = connect();
    socket.write(
      'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n',
    );
    const text = await readUntil(socket, '[/3]');
    expect(text.match(/\[\/\d\]/g)).toEqual(['[/1]', '[/2]', '[/3]']);
  });

  test('streams a request body of either framing to its sink, with the next request behind it', async () => {
    const { connect } = await listen(echo);
    const socket = connect();
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
    socket.write('2\r\nde\r\n0\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nfghij');
    const text = await readUntil(socket, 'abcde', 'fghij');
    expect(text.match(/content-length: 5/g)).toHaveLength(2);
  });

  test('says 100 Continue when somebody wants the body, and not before', async () => {
    const { connect } = await listen((request, connection, transport) =>
      request.target === '/no' ? say('no')(request, connection, transport) : echo(request, connection, transport),
    );
    const wanted = connect();
    wanted.write('POST /yes HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n');
    expect(await readUntil(wanted, '\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    wanted.write('ok');
    expect(await readUntil(wanted, 'ok')).toContain('200 OK');
    const refused = connect();
    refused.write('POST /no HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n');
    const text = await readToEnd(refused);
    expect(text).not.toContain('100 Continue');
    expect(text).toContain('connection: close');
  });

  test('closes after the answer when the client asks for it, and after HTTP/1.0', async () => {
    const { connect } = await listen(say('bye'));
    const socket = connect();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(await readToEnd(socket)).toMatch(/connection: close\r\n\r\nbye$/);
    const old = connect();
    old.write('GET / HTTP/1.0\r\n\r\n');
    expect(await readToEnd(old)).toMatch(/connection: close\r\n\r\nbye$/);
  });

  test('sends no body to HEAD, and none with 204 or 304', async () => {
    const { connect } = await listen((request, _connection, transport) => {
      const status = Number(request.target.slice(1));
      const headers = Headers.from([['content-length', '7']]);
      transport.respond(
        { status, headers, body: status === 200 ? new BufferedBody(Buffer.from('seven77')) : emptyBody },
        () => {},
      );
    });
    const socket = connect();
    socket.write(
      'HEAD /200 HTTP/1.1\r\nHost: a\r\n\r\nGET /304 HTTP/1.1\r\nHost: a\r\n\r\nGET /204 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    const text = await readToEnd(socket);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 304', 'HTTP/1.1 204']);
    expect(text).not.toContain('seven');
    expect(text.match(/content-length: 7/g)).toHaveLength(2);
  });

  test.each([
    ['GET / HTTP/1.1\nHost: a\n\n', '400 bare LF in the head'],
    ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n', '400 bare LF in the head'],
    [
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      '400 both Content-Length and Transfer-Encoding',
    ],
    [`GET / HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(5000)}`, '431 head larger than 4096 bytes'],
  ])('refuses %j with a status and closes', async (bytes, refusal) => {
    const { connect, refusals } = await listen(say('never'));
    const socket = connect();
    socket.write(bytes, 'latin1');
    const text = await readToEnd(socket);
    expect(text).toContain(`HTTP/1.1 ${refusal.slice(0, 3)}`);
    expect(text).toContain('x-gw-reason: InvalidRequest');
    expect(text).not.toContain('never');
    expect(refusals).toEqual([refusal]);
  });

  test('refuses a body whose chunks are broken and tells the sink', async () => {
    const errors: string[] = [];
    const { connect } = await listen((request) =>
      request.body.pipe({ onData() {}, onEnd() {}, onError: (error) => void errors.push(error.message) }),
    );
    const socket = connect();
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    expect(await readToEnd(socket)).toContain('400 Bad Request');
    expect(errors).toEqual(['invalid chunk size']);
  });

  test('tells the handler when the client goes away before its answer', async () => {
    let gone: () => void = () => {};
    const left = new Promise<void>((resolve) => (gone = resolve));
    const { connect } = await listen((_request, _connection, transport) => transport.onClientGone(gone));
    const socket = connect();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    socket.once('connect', () => setImmediate(() => socket.destroy()));
    await left;
  });

  test('stops reading a body while its sink is full, and a slow reader stops the answer', async () => {
    let paused = 0;
    let resumed: () => void = () => {};
    const drained = new Promise<void>((resolve) => (resumed = resolve));
    const { connect } = await listen((_request, _connection, transport) => {
      let sink: BodySink | null = null;
      const push = (): void => {
        while (paused === 0 && sink !== null) sink.onData(Buffer.alloc(65536));
      };
      const body = {
        length: null,
        pipe: (s: BodySink) => ((sink = s), push()),
        pause: () => void paused++,
        resume: () => resumed(),
        cancel() {},
      };
      transport.respond({ status: 200, headers: new Headers(), body }, () => {});
    });
    const socket = connect();
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'readable');
    expect(paused).toBe(1);
    socket.resume();
    await drained;
  });

  test('cuts the connection when the body of an answer breaks, so that nobody takes it for whole', async () => {
    const deliveries: Delivery[] = [];
    const { connect } = await listen((_request, _connection, transport) => {
      const body = {
        length: null,
        pipe: (sink: BodySink) => {
          sink.onData(Buffer.from('part'));
          setImmediate(() => sink.onError(new Error('upstream broke')));
        },
        pause() {},
        resume() {},
        cancel() {},
      };
      transport.respond({ status: 200, headers: new Headers(), body }, (delivery) => void deliveries.push(delivery));
    });
    const socket = connect();
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const text = await readToEnd(socket);
    expect(text).toContain('4\r\npart\r\n');
    expect(text).not.toContain('0\r\n\r\n');
    expect(deliveries).toMatchObject([{ kind: 'cut', bytes: 4, error: { message: 'upstream broke' } }]);
  });

  test('drains: an idle connection closes, a busy one after its answer', async () => {
    let answer: () => void = () => {};
    let arrived: () => void = () => {};
    const busy = new Promise<void>((resolve) => (arrived = resolve));
    const { connect, connections } = await listen((request, connection, transport) => {
      answer = () => say('last')(request, connection, transport);
      arrived();
    });
    const idle = connect();
    await once(idle, 'connect');
    const working = connect();
    working.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await busy;
    for (const connection of connections) connection.drain();
    await readToEnd(idle);
    answer();
    expect(await readToEnd(working)).toMatch(/connection: close\r\n\r\nlast$/);
  });

  test('hands the raw connection over with the bytes that came behind the head', async () => {
    const { connect } = await listen((_request, _connection, transport) => {
      const raw = transport.takeOver(
        101,
        Headers.from([
          ['connection', 'upgrade'],
          ['upgrade', 'x'],
        ]),
      );
      raw?.on('data', (chunk: Buffer) => raw.end(`<${chunk.toString()}>`)).resume();
    });
    const socket = connect();
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nearly');
    expect(await readToEnd(socket)).toBe(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n<early>',
    );
  });

  test('ends a connection on which a head does not come in time, with 408 when it had begun', async () => {
    const { connect, connections, sweeper } = await listen(say('x'));
    const half = connect();
    half.write('GET / HT');
    const idle = connect();
    await once(idle, 'connect');
    const text = readToEnd(half);
    const closed = readToEnd(idle);
    while (connections.length < 2 || connections.every((connection) => connection.idle))
      await new Promise(setImmediate);
    sweeper.sweep(performance.now() + 5000);
    expect(await text).toContain('408 Request Timeout');
    await closed;
  });

  test('cuts a body on which nothing moves', async () => {
    const { connect, sweeper } = await listen((request) =>
      request.body.pipe({ onData() {}, onEnd() {}, onError() {} }),
    );
    const socket = connect();
    const text = readToEnd(socket);
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nab');
    await once(socket, 'connect');
    const timer = setInterval(() => sweeper.sweep(performance.now() + 5000), 20);
    cleanups.push(() => clearInterval(timer));
    expect(await text).toContain('408 Request Timeout');
  });

  test('does not wait for ever for the rest of a body that was answered already', async () => {
    const { connect, sweeper } = await listen(say('x'));
    const socket = connect();
    const drips = setInterval(() => socket.writable && socket.write('a'), 5);
    cleanups.push(() => clearInterval(drips));
    const text = readToEnd(socket);
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nab');
    await once(socket, 'data');
    sweeper.sweep(sweeper.now + 4000);
    expect(socket.readableEnded).toBe(false);
    sweeper.sweep(sweeper.now + 2000);
    expect(await text).toMatch(/^HTTP\/1\.1 200 /);
  });
});
