import { afterEach, describe, expect, test } from '@jest/globals';
import { constants } from 'node:http2';

import { BufferedBody } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import type { Delivery } from '../../../proxy/exchange/transport.ts';
import { hasTool, RawClient, run } from './harness.ts';
import { answer, FedBody, frame, get, Http2Ports, PREFACE } from './http2-client.ts';

const withCurl = hasTool('curl') ? describe : describe.skip;

const ports = new Http2Ports();
afterEach(() => ports.kill());

describe('HTTP/2', () => {
  test('is told from HTTP/1 by its preface, and requests arrive whole', async () => {
    const { port: opened, session: client } = await ports.open();
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
      const { port: opened } = await ports.open();
      const url = `http://127.0.0.1:${opened.number}/curl`;
      const ran = await run('curl', ['-sS', '--http2-prior-knowledge', '-d', 'x=1', url]);
      expect(ran).toMatchObject({ code: 0, stderr: '' });
      expect(ran.stdout).toMatch(/^POST .*\/curl HTTP\/2\.0\n[^]*\n\nx=1$/);
      const head = await run('curl', ['-sS', '-I', '--http2-prior-knowledge', url]);
      expect(head.stdout).toContain('HTTP/2 200');
    });
  });

  test('trailers go both ways, as gRPC needs', async () => {
    const { session: client } = await ports.open({
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
    const { session: client } = await ports.open({
      handler: (_request, _connection, transport) => {
        transport.informational(103, Headers.from([['link', '</a.css>']]));
        transport.informational(101, new Headers());
        transport.respond({ status: 204, headers: new Headers(), body: new BufferedBody(Buffer.alloc(0)) }, () => {});
      },
    });
    expect(await get(client, { ':path': '/' })).toMatchObject({ informational: [103], headers: { ':status': 204 } });
  });

  test('a client that waits for 100 Continue gets it when its body is read', async () => {
    const { session: client } = await ports.open();
    const stream = client.request({ ':method': 'POST', ':path': '/', expect: '100-continue' });
    stream.on('continue', () => stream.end('now'));
    const { body } = await answer(stream);
    expect(body).toMatch(/\n\nnow$/);
    expect(body).not.toContain('expect');
  });

  test('hop-by-hop fields of a response are left out, repeated ones kept in order', async () => {
    const { session: client } = await ports.open({
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
    const { session: client } = await ports.open({
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
    const { port: opened, session: client } = await ports.open({
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
    const { port: opened, session: client } = await ports.open();
    const { headers } = await get(client, { ':path': '/', ':authority': 'a', host: 'b' });
    expect(headers).toMatchObject({ ':status': 400, 'x-gw-reason': 'InvalidRequest' });
    expect(opened.requests).toHaveLength(0);
  });

  test('a response that breaks is cut, so that the client knows', async () => {
    let delivery: Delivery | null = null;
    const { session: client } = await ports.open({
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
    const { session: client } = await ports.open({
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
    const { session: client } = await ports.open({
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
    const { session: client } = await ports.open({
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
    const { port: opened, session: client } = await ports.open({
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
    const { port: opened, session: client } = await ports.open({
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
