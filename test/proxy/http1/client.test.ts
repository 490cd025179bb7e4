import { once } from 'node:events';
import net from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { UpstreamError, type UpstreamRequest } from '../../../proxy/backends/upstream.ts';
import { type Body, BufferedBody, type BodySink, emptyBody } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import { Http1Client } from '../../../proxy/http1/client.ts';
import { FieldParser } from '../../../proxy/http1/fields.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A server that does what `script` says with each connection, and a client on a connection to it. */
async function clientTo(script: (socket: net.Socket) => void): Promise<Http1Client> {
  const server = net.createServer(script);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const socket = net.connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  await once(socket, 'connect');
  cleanups.push(() => (socket.destroy(), server.close()));
  return new Http1Client(socket, {
    peer: 'up:1',
    maxHeadBytes: 4096,
    maxHeaders: 50,
    fields: new FieldParser({ keepSpelling: false }),
    preserveCase: false,
  });
}

function get(target: string, changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    method: 'GET',
    scheme: 'http',
    authority: 'up.test',
    target,
    headers: new Headers(),
    body: emptyBody,
    upgrade: null,
    ...changes,
  };
}

function read(body: Body): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    body.pipe({
      onData: (chunk) => (text += Buffer.from(chunk).toString()),
      onEnd: () => resolve(text),
      onError: reject,
    });
  });
}

const answer = (text: string) => (socket: net.Socket) =>
  socket.on('data', () => socket.write(text)).on('error', () => {});

describe('a call on an HTTP/1.1 connection', () => {
  test('sends head and body and reads the answer, again and again', async () => {
    const received: string[] = [];
    const client = await clientTo((socket) =>
      socket.on('data', (chunk) => {
        received.push(chunk.toString());
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\n\r\nok');
      }),
    );
    for (const target of ['/1', '/2']) {
      const headers = Headers.from([['X-Team', 'red']]);
      const response = await client.send(
        get(target, { method: 'POST', headers, body: new BufferedBody(Buffer.from('hi')) }),
      ).response;
      expect(response).toMatchObject({ status: 200, peer: 'up:1', upgraded: null });
      expect(await read(response.body)).toBe('ok');
      expect(client.reusable).toBe(true);
    }
    expect(received).toEqual(
      ['/1', '/2'].map(
        (target) => `POST ${target} HTTP/1.1\r\nhost: up.test\r\nx-team: red\r\ncontent-length: 2\r\n\r\nhi`,
      ),
    );
  });

  test.each<[string, string, string, boolean]>([
    [
      'a chunked body',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n',
      'abc',
      true,
    ],
    [
      'an interim response before the final one',
      'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx',
      'x',
      true,
    ],
    ['no body', 'HTTP/1.1 204 No Content\r\n\r\n', '', true],
    ['connection: close', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx', 'x', false],
    ['more than the answer', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\n', 'x', false],
  ])('reads %s', async (_name, text, body, reusable) => {
    const client = await clientTo(answer(text));
    const interim: number[] = [];
    const response = await client.send(get('/', { onInformational: (status) => void interim.push(status) })).response;
    expect(await read(response.body)).toBe(body);
    expect(client.reusable).toBe(reusable);
    expect(interim).toEqual(text.includes('103') ? [103] : []);
  });

  test('takes a body that ends with the connection, also one that it reads late', async () => {
    const client = await clientTo((socket) => socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it')));
    const response = await client.send(get('/')).response;
    await new Promise(setImmediate);
    expect(await read(response.body)).toBe('all of it');
    expect(client.reusable).toBe(false);
  });

  test.each<[string, (socket: net.Socket) => void, string]>([
    ['closes without a word', (socket) => socket.on('data', () => socket.end()), 'reset'],
    [
      'resets inside the head',
      (socket) => socket.on('data', () => socket.write('HTTP/1.1 2', () => socket.resetAndDestroy())),
      'reset',
    ],
    ['answers garbage', answer('<html>\r\n\r\n'), 'protocol'],
    ['answers with a head that never ends', answer(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(5000)}`), 'protocol'],
    [
      'answers with two lengths',
      answer('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'),
      'protocol',
    ],
  ])('fails when the upstream %s', async (_name, script, kind) => {
    const client = await clientTo(script);
    const error = await client.send(get('/')).response.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UpstreamError);
    expect(error).toMatchObject({ kind, peer: 'up:1' });
    expect(client.reusable).toBe(false);
  });

  test('ends a body in an error when the upstream cuts it', async () => {
    const client = await clientTo((socket) =>
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')),
    );
    const response = await client.send(get('/')).response;
    await expect(read(response.body)).rejects.toThrow('connection closed by upstream');
  });

  test.each([
    ['nothing', 'content-length: 10\r\n\r\n'],
    ['a part', 'content-length: 10\r\n\r\nabc'],
    ['a part in chunks', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ])('ends a body of which %s has come in an error also when it is read late', async (_what, rest) => {
    const client = await clientTo((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${rest}`, () => socket.destroy()));
    });
    const closed = new Promise<void>((resolve) => (client.onClosed = resolve));
    const { body } = await client.send(get('/')).response;
    // One with bytes that wait is told of the end, too.
    await closed;
    await expect(read(body)).rejects.toThrow(UpstreamError);
  });

  test('gives a late reader what has come of a body that the connection ends', async () => {
    for (const text of ['', 'abc']) {
      const client = await clientTo((socket) => {
        socket.on('error', () => {});
        socket.on('data', () => socket.end(`HTTP/1.0 200 OK\r\n\r\n${text}`));
      });
      const closed = new Promise<void>((resolve) => (client.onClosed = resolve));
      const { body } = await client.send(get('/')).response;
      await closed;
      expect(await read(body)).toBe(text);
    }
  });

  test('is given up without harm to the call that follows on another connection', async () => {
    const client = await clientTo(() => {});
    const call = client.send(get('/'));
    call.cancel();
    await expect(call.response).rejects.toMatchObject({ kind: 'cancelled' });
    call.cancel();
    expect(client.reusable).toBe(false);
  });

  test('stops sending when the upstream has answered in full already', async () => {
    const client = await clientTo((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n'));
      socket.on('error', () => {});
    });
    let cancelled = false;
    const body: Body = {
      length: 1 << 20,
      pipe: (sink: BodySink) => sink.onData(Buffer.alloc(1000)),
      pause() {},
      resume() {},
      cancel: () => (cancelled = true),
    };
    const response = await client.send(get('/', { method: 'POST', body })).response;
    expect(response.status).toBe(413);
    await new Promise(setImmediate);
    expect(cancelled).toBe(true);
    expect(client.reusable).toBe(false);
  });

  test('never lets an upstream take a broken request body for a whole one', async () => {
    let closed: () => void = () => {};
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const client = await clientTo((socket) =>
      socket
        .on('close', closed)
        .on('error', () => {})
        .resume(),
    );
    const body: Body = {
      length: null,
      pipe: (sink: BodySink) => {
        sink.onData(Buffer.from('part'));
        setImmediate(() => sink.onError(new Error('client left')));
      },
      pause() {},
      resume() {},
      cancel() {},
    };
    await expect(client.send(get('/', { method: 'POST', body })).response).rejects.toMatchObject({ kind: 'cancelled' });
    await gone;
  });

  test('hands over the raw connection after 101', async () => {
    const client = await clientTo((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nfirst');
        socket.on('data', (chunk) => socket.end(`<${chunk.toString()}>`));
      }),
    );
    const { upgraded, status } = await client.send(get('/', { upgrade: 'x' })).response;
    expect(status).toBe(101);
    let text = '';
    upgraded?.on('data', (chunk: Buffer) => (text += chunk.toString())).resume();
    upgraded?.write('raw');
    if (upgraded !== null) await once(upgraded, 'end');
    expect(text).toBe('first<raw>');
    cleanups.push(() => upgraded?.destroy());
  });
});
