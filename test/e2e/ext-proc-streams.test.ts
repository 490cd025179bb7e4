import { afterEach, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

import { answerOf, eventually, Http2Client, http2Upstream, RawClient } from './clients.ts';
import { ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';
import {
  bytesOf,
  common,
  fieldsOf,
  type Message,
  modes,
  nothingOpen,
  processedGateway,
  processor,
  type Script,
  type Seen,
  set,
  streamed,
} from './processor.ts';
import { settled } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

describe('an answer of the processor itself', () => {
  const immediate = (status: number, text = 'mine') => ({
    immediateResponse: {
      status: { code: status },
      headers: {
        setHeaders: [set('x-by', 'processor'), set('content-length', '77'), set('transfer-encoding', 'chunked')],
      },
      body: Buffer.from(text),
      details: 'because',
    },
  });

  test.each<[keyof Script, string, boolean]>([
    ['requestHeaders', 'none', false],
    ['requestBody', 'buffered', false],
    ['requestBody', 'bufferedPartial', false],
    ['requestBody', 'fullDuplexStreamed', true],
    ['responseHeaders', 'none', true],
    ['responseBody', 'buffered', true],
    ['responseBody', 'bufferedPartial', true],
  ])('at %s (%s) is what the client gets, an error or not', async (part, mode, mayAsk) => {
    for (const status of [200, 403, 503]) {
      const service = await processor(cleanup, { [part]: () => immediate(status) });
      let asked = 0;
      const gateway = await processedGateway(cleanup, service, {
        backend: (...parts) => ((asked += 1), echo(...parts)),
        more: modes({ requestBodyMode: mode, responseBodyMode: mode }),
      });
      const answer = await gateway.ask('/a', { method: 'POST', body: 'hello' });
      expect(answer).toMatchObject({ status, body: 'mine', headers: { 'x-by': 'processor', 'content-length': '4' } });
      expect(asked === 0 || mayAsk).toBe(true);
      await nothingOpen(service);
      await gateway.logged(`status=${status}`);
    }
  });

  test('has status 200 when none is set, and no body where none may be', async () => {
    let answer: Message = {};
    const service = await processor(cleanup, { requestHeaders: () => ({ immediateResponse: answer }) });
    const gateway = await processedGateway(cleanup, service, { backend: echo });
    expect(await gateway.ask('/a')).toMatchObject({ status: 200, body: '' });
    answer = { status: { code: 204 }, body: Buffer.from('x') };
    expect(await gateway.ask('/a')).toMatchObject({ status: 204, body: '' });
    answer = { status: { code: 304 }, body: Buffer.from('x') };
    expect(await gateway.ask('/a')).toMatchObject({ status: 304, body: '' });
    answer = { status: { code: 401 }, body: Buffer.from('x') };
    expect(await gateway.ask('/a', { method: 'HEAD' })).toMatchObject({ status: 401, body: '' });
    answer = { status: { code: 100 } };
    expect((await gateway.ask('/a')).status).toBe(500);
    await nothingOpen(service);
  });

  test('comes instead of the response of an upstream that was already asked', async () => {
    const asked = Promise.withResolvers<void>();
    const service = await processor(cleanup, {
      requestHeaders: (_part, seen) => {
        void asked.promise.then(() => seen.call.send(immediate(418)));
        return { requestHeaders: {} };
      },
    });
    const held: (() => void)[] = [];
    const gateway = await processedGateway(cleanup, service, {
      backend: (_request, response) => {
        held.push(() => response.end('upstream'));
        asked.resolve();
      },
    });
    const answering = gateway.ask('/a');
    await eventually('the processor has answered', () => service.streams[0]?.left === 'ended');
    for (const answer of held) answer();
    expect(await answering).toMatchObject({ status: 418, body: 'mine' });
  });

  test('ends an upload that streams already, with or without retries', async () => {
    let received = 0;
    const service = await processor(cleanup, {
      requestBody: (part) =>
        bytesOf([part]).includes('stop') ? immediate(413, 'enough') : streamed('requestBody', part),
    });
    for (const policies of ['', 'retry: {attempts: 2, codes: [500, 502, 503]}']) {
      const gateway = await processedGateway(cleanup, service, {
        policies,
        backend: (request) => {
          request.on('error', () => {});
          request.on('data', (chunk: Buffer) => (received += chunk.length));
        },
      });
      received = 0;
      const outgoing = httpRequest({ host: '127.0.0.1', port: gateway.http, method: 'POST', agent: false });
      outgoing.on('error', () => {});
      outgoing.write('first');
      const answering = once(outgoing, 'response');
      await eventually('the upstream has the first piece', () => received === 5);
      outgoing.write('stop');
      const [response] = (await answering) as [import('node:http').IncomingMessage];
      expect(response.statusCode).toBe(413);
      expect(response.headers['x-gw-reason']).toBe('ExtProc');
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      await once(response, 'end');
      expect(body).toBe('enough');
      outgoing.destroy();
      await nothingOpen(service);
    }
    expect(received).toBe(5);
  });

  test('is a status of gRPC for clients that speak it', async () => {
    const service = await processor(cleanup, {
      requestHeaders: (part) => ({
        immediateResponse: {
          body: Buffer.from('nö'),
          ...(fieldsOf(part)[':path'] === '/plain' ? { status: { code: 403 } } : { grpcStatus: { status: 9 } }),
        },
      }),
    });
    const gateway = await processedGateway(cleanup, service, { backend: echo });
    const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${gateway.http}`));
    const asGrpc = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };
    const status = await client.ask({ ...asGrpc, ':path': '/status' }, 'x');
    expect(status).toMatchObject({ status: 200, headers: { 'grpc-status': '9', 'grpc-message': 'n%C3%B6' } });
    const plain = await client.ask({ ...asGrpc, ':path': '/plain' }, 'x');
    expect(plain).toMatchObject({ status: 200, headers: { 'grpc-status': '7' } });
    await nothingOpen(service);
  });
});

describe('modes that the processor overrides', () => {
  const script: Script = {
    requestHeaders: () => ({
      requestHeaders: {},
      modeOverride: {
        requestBodyMode: 'BUFFERED',
        responseHeaderMode: 'SKIP',
        responseBodyMode: 'BUFFERED_PARTIAL',
        requestTrailerMode: 'SKIP',
        responseTrailerMode: 'SKIP',
      },
    }),
    requestBody: () => ({ requestBody: {} }),
    responseBody: () => ({ responseBody: {} }),
  };
  const base = { requestBodyMode: 'none', responseBodyMode: 'none' };

  test('hold for one exchange, where they are allowed', async () => {
    const service = await processor(cleanup, script);
    const allowed = await processedGateway(cleanup, service, {
      backend: echo,
      more: modes({ ...base, allowModeOverride: true }),
    });
    expect((await allowed.ask('/a', { method: 'POST', body: 'hello' })).status).toBe(200);
    const denied = await processedGateway(cleanup, service, { backend: echo, more: modes(base) });
    expect((await denied.ask('/a', { method: 'POST', body: 'hello' })).status).toBe(200);
    await nothingOpen(service);
    expect(service.parts(0)).toEqual(['requestHeaders', 'requestBody', 'responseBody']);
    expect(service.parts(1)).toEqual(['requestHeaders', 'responseHeaders']);
  });

  test('never stop a body from streaming, nor begin with a mode that is not spoken', async () => {
    const service = await processor(cleanup, {
      requestHeaders: () => ({
        requestHeaders: {},
        modeOverride: { requestBodyMode: 'NONE', responseBodyMode: 'STREAMED' },
      }),
    });
    const gateway = await processedGateway(cleanup, service, {
      backend: echo,
      more: modes({ responseBodyMode: 'none', allowModeOverride: true }),
    });
    expect(JSON.parse((await gateway.ask('/a', { method: 'POST', body: 'hello' })).body).body).toBe('hello');
    await nothingOpen(service);
    expect(service.parts().filter((part) => part === 'requestBody').length).toBeGreaterThan(0);
    expect(service.parts()).not.toContain('responseBody');
  });

  test('may let a response stream', async () => {
    const service = await processor(cleanup, {
      responseHeaders: () => ({ responseHeaders: {}, modeOverride: { responseBodyMode: 'FULL_DUPLEX_STREAMED' } }),
      responseBody: (part) => streamed('responseBody', { ...part, body: bytesOf([part]).toString().toUpperCase() }),
    });
    const gateway = await processedGateway(cleanup, service, {
      backend: (_request, response) => response.end('hello'),
      more: modes({ ...base, allowModeOverride: true }),
    });
    expect((await gateway.ask('/a')).body).toBe('HELLO');
    await nothingOpen(service);
  });

  test('nothing is asked where nothing is sent', async () => {
    const service = await processor(cleanup);
    const gateway = await processedGateway(cleanup, service, {
      backend: echo,
      more: modes({
        ...base,
        requestHeaderMode: 'skip',
        responseHeaderMode: 'skip',
        requestTrailerMode: 'skip',
        responseTrailerMode: 'skip',
      }),
    });
    expect((await gateway.ask('/a', { method: 'POST', body: 'x' })).status).toBe(200);
    expect(service.streams).toEqual([]);
    const bodies = await processedGateway(cleanup, service, {
      backend: echo,
      more: modes({ requestHeaderMode: 'skip', responseHeaderMode: 'skip', requestBodyMode: 'buffered' }),
    });
    const answer = await bodies.ask('/a', { method: 'POST', body: 'hello' });
    expect(JSON.parse(answer.body)).toMatchObject({ body: 'hello', headers: { 'content-length': '5' } });
    await nothingOpen(service);
    expect(service.parts()[0]).toBe('requestBody');
  });
});

describe('trailers', () => {
  test.each(['none', 'buffered', 'bufferedPartial', 'fullDuplexStreamed'])(
    'are sent and changed in both directions with %s',
    async (mode) => {
      const mutation = (value: string) => ({
        headerMutation: {
          setHeaders: [set('x-sum', value), set('content-length', '1'), set('authorization', 'x')],
          removeHeaders: ['x-gone'],
        },
      });
      const service = await processor(cleanup, {
        requestTrailers: () => ({ requestTrailers: mutation('req') }),
        responseTrailers: () => ({ responseTrailers: mutation('res') }),
      });
      let seen: Message = {};
      const backend = cleanup.add(
        await http2Upstream((stream) => {
          stream.on('trailers', (trailers) => (seen = { ...trailers }));
          stream.resume();
          stream.on('end', () => {
            stream.respond({ ':status': 200 }, { waitForTrailers: true });
            stream.once('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1', 'x-gone': '1' }));
            stream.end('done');
          });
        }),
      );
      const running = cleanup.add(
        await startGateway(`gateways: {default: {port: 80}}
routes:
- policies: {extProc: {host: "127.0.0.1:${service.port}", ${modes({ requestBodyMode: mode, responseBodyMode: mode })}}}
  backends: [{host: "127.0.0.1:${backend.port}", policies: {http: {version: HTTP/2.0}}}]
`),
      );
      const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${running.port(80)}`));
      const stream = client.session.request(
        { ':method': 'POST', ':path': '/a', ':authority': 'shop.test' },
        { waitForTrailers: true },
      );
      stream.once('wantTrailers', () => stream.sendTrailers({ 'x-sum': '0', 'x-gone': '1' }));
      stream.end('hello');
      const answer = await answerOf(stream);
      expect(answer).toMatchObject({ status: 200, text: 'done', trailers: { 'x-sum': 'res' } });
      expect(seen).toMatchObject({ 'x-sum': 'req' });
      for (const trailers of [seen, answer.trailers])
        for (const name of ['x-gone', 'content-length', 'authorization']) expect(trailers).not.toHaveProperty([name]);
      await nothingOpen(service);
      expect(fieldsOf(service.about('requestTrailers')[0])).toMatchObject({ 'x-sum': '0' });
      expect(fieldsOf(service.about('responseTrailers')[0])).toMatchObject({ 'x-sum': '1' });
      const bodies = [...service.about('requestBody'), ...service.about('responseBody')];
      expect(bodies.filter(({ endOfStream }) => endOfStream === true)).toEqual([]);
    },
  );

  test('are waited for in vain where a message has none', async () => {
    const service = await processor(cleanup);
    const gateway = await processedGateway(cleanup, service, {
      more: modes({ requestBodyMode: 'none', responseBodyMode: 'none' }),
      backend: (request, response) => (request.resume(), response.write('a'), response.end('b')),
    });
    expect(
      (await gateway.ask('/a', { method: 'POST', headers: { 'transfer-encoding': 'chunked' }, body: 'x' })).body,
    ).toBe('ab');
    await nothingOpen(service);
    expect(service.parts()).toEqual(['requestHeaders', 'responseHeaders']);
  });
});

describe('what the processor finds out', () => {
  test('is there for expressions as extproc, from both levels, and merged', async () => {
    const inner = await processor(cleanup, {
      requestHeaders: () => ({ requestHeaders: {}, dynamicMetadata: { user: { name: 'alice' }, level: 'route' } }),
      responseHeaders: () => ({ responseHeaders: {}, dynamicMetadata: { late: true } }),
    });
    const outer = await processor(cleanup, {
      requestHeaders: () => ({
        ...common('requestHeaders', { headerMutation: { setHeaders: [set(':path', '/chosen')] } }),
        dynamicMetadata: { level: 'gateway', outer: 1 },
      }),
      requestBody: (part) => ({ ...streamed('requestBody', part), dynamicMetadata: { ignored: true } }),
    });
    const backend = cleanup.add(await upstream(echo));
    const running = cleanup.add(
      await startGateway(`gateways:
  default:
    port: 80
    extProc: {host: "127.0.0.1:${outer.port}"}
routes:
- matches: [{path: {exact: /chosen}}]
  policies:
    extProc: {host: "127.0.0.1:${inner.port}", requestAttributes: {seen: extproc.level}}
    transformations: {request: {set: {x-all: "toJson(extproc)"}}}
  backends: [{host: "127.0.0.1:${backend.port}"}]
frontendPolicies: {accessLog: {add: {late: extproc.late}}}
`),
    );
    const answer = await ask(running.port(80), '/a', { method: 'POST', body: 'hello' });
    expect(answer.status).toBe(200);
    const seen = JSON.parse(answer.body);
    expect(seen.url).toBe('/chosen');
    expect(JSON.parse(seen.headers['x-all'])).toEqual({ user: { name: 'alice' }, level: 'route', outer: 1 });
    await running.logged('late=true');
    await nothingOpen(inner);
    await nothingOpen(outer);
    expect(inner.streams[0]?.messages[0]?.['attributes']).toEqual({
      'envoy.filters.http.ext_proc': { fields: { seen: { stringValue: 'gateway' } } },
    });
  });

  test('is asked for by conditions, and the choice holds for the response', async () => {
    const red = await processor(cleanup, {
      requestHeaders: () => common('requestHeaders', { headerMutation: { setHeaders: [set('x-team', 'none')] } }),
    });
    const rest = await processor(cleanup);
    const backend = cleanup.add(await upstream(echo));
    const running = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}
routes:
- policies:
    extProc:
      conditional:
      - {condition: 'request.headers["x-team"] == "red"', host: "127.0.0.1:${red.port}", responseAttributes: {by: "'red'"}}
      - {condition: 'request.headers["x-team"] == "blue"', host: "127.0.0.1:${rest.port}", responseAttributes: {by: "'blue'"}}
  backends: [{host: "127.0.0.1:${backend.port}"}]
`),
    );
    for (const team of ['red', 'blue', 'green'])
      expect((await ask(running.port(80), '/a', { headers: { 'x-team': team } })).status).toBe(200);
    await nothingOpen(red);
    await nothingOpen(rest);
    expect(red.streams).toHaveLength(1);
    expect(rest.streams).toHaveLength(1);
    expect(red.parts()).toEqual(['requestHeaders', 'responseHeaders', 'responseBody', 'responseBody']);
    const attributes = ({ messages }: Seen) =>
      messages.find((message) => message['responseHeaders'] !== undefined)?.['attributes'];
    expect([red, rest].map(({ streams: [stream] }) => stream && attributes(stream))).toEqual(
      ['red', 'blue'].map((by) => ({ 'envoy.filters.http.ext_proc': { fields: { by: { stringValue: by } } } })),
    );
  });
});

describe('messages of other kinds', () => {
  test('HEAD, 204 and interim responses pass, and answers of the gateway itself are not processed', async () => {
    const service = await processor(cleanup);
    const gateway = await processedGateway(cleanup, service, {
      backend: (request, response) => {
        if (request.url === '/hints') response.writeEarlyHints({ link: '</a.css>; rel=preload' });
        if (request.url === '/none') response.writeHead(204);
        else response.setHeader('content-length', '5');
        response.end(request.method === 'HEAD' || request.url === '/none' ? undefined : 'hello');
      },
    });
    const head = await gateway.ask('/a', { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '5' } });
    expect(await gateway.ask('/none')).toMatchObject({ status: 204, body: '' });
    const raw = new RawClient(gateway.http);
    cleanup.add(raw);
    raw.write('GET /hints HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n\r\n');
    expect(await raw.until((text) => text.includes('hello'))).toMatch(/^HTTP\/1.1 103 /);
    await nothingOpen(service);
    expect(service.parts(0)).toEqual(['requestHeaders', 'responseHeaders']);
    expect(service.parts(1)).toEqual(['requestHeaders', 'responseHeaders']);
    const redirecting = await processedGateway(cleanup, service, {
      backend: echo,
      policies: 'requestRedirect: {path: {full: /b}}',
    });
    expect((await redirecting.ask('/a', { method: 'POST', body: 'x'.repeat(500_000) })).status).toBe(302);
    await nothingOpen(service);
    expect(service.parts(3)).not.toContain('responseHeaders');
  });

  test('a status that has no body takes it away, and a changed method does not confuse framing', async () => {
    const service = await processor(cleanup, {
      requestHeaders: () => common('requestHeaders', { headerMutation: { setHeaders: [set(':method', 'HEAD')] } }),
      responseHeaders: () => common('responseHeaders', { headerMutation: { setHeaders: [set(':status', '204')] } }),
    });
    const gateway = await processedGateway(cleanup, service, {
      backend: (_request, response) => response.end('hello'),
    });
    const raw = new RawClient(gateway.http);
    cleanup.add(raw);
    raw.write(
      'GET /a HTTP/1.1\r\nhost: shop.test\r\n\r\nGET /b HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n\r\n',
    );
    await raw.closed;
    expect(raw.text.match(/HTTP\/1.1 204/g)).toHaveLength(2);
    expect(raw.text.split('\r\n\r\n').filter((part) => part !== '' && !part.startsWith('HTTP/1.1'))).toEqual([]);
    const noBody = await processor(cleanup, {
      responseHeaders: () => common('responseHeaders', { headerMutation: { setHeaders: [set(':status', '204')] } }),
    });
    const second = await processedGateway(cleanup, noBody, { backend: (_request, response) => response.end('hello') });
    expect(await second.ask('/a')).toMatchObject({ status: 204, body: '' });
    const toHead = await processor(cleanup, {
      requestHeaders: () => common('requestHeaders', { headerMutation: { setHeaders: [set(':method', 'HEAD')] } }),
    });
    const third = await processedGateway(cleanup, toHead, {
      backend: (_request, response) => response.setHeader('content-length', '5').end(),
    });
    expect(await third.ask('/a')).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
    for (const each of [service, noBody, toHead]) await nothingOpen(each);
  });

  test('an upgrade passes, without its stream, and keeps no call open', async () => {
    const service = await processor(cleanup);
    const backend = await upstream(() => {});
    cleanup.add(backend);
    backend.server.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: chat\r\n\r\n');
      socket.pipe(socket);
    });
    const gateway = await processedGateway(cleanup, service, {
      backend: (backend.server.address() as AddressInfo).port,
    });
    const raw = new RawClient(gateway.http);
    cleanup.add(raw);
    raw.write('GET /a HTTP/1.1\r\nhost: shop.test\r\nconnection: upgrade\r\nupgrade: chat\r\n\r\n');
    await raw.until((text) => text.startsWith('HTTP/1.1 101') && text.endsWith('\r\n\r\n'));
    raw.write('ping');
    await raw.until((text) => text.endsWith('ping'));
    await nothingOpen(service);
    expect(service.parts()).toEqual(['requestHeaders']);
    raw.close();
  });

  test('a client that leaves in the middle leaves nothing open', async () => {
    const service = await processor(cleanup);
    let received = 0;
    let cut = 0;
    const gateway = await processedGateway(cleanup, service, {
      backend: (request, response) => {
        request.on('error', () => {});
        response.on('close', () => (cut += 1));
        if (request.method === 'POST') request.on('data', (chunk: Buffer) => (received += chunk.length));
        else response.write('first');
      },
    });
    const upload = new RawClient(gateway.http);
    upload.write('POST /a HTTP/1.1\r\nhost: shop.test\r\ncontent-length: 1000\r\n\r\nhello');
    await eventually('the upstream has the first piece', () => received === 5);
    upload.close();
    const download = new RawClient(gateway.http);
    download.write('GET /a HTTP/1.1\r\nhost: shop.test\r\n\r\n');
    await download.until((text) => text.includes('first'));
    download.close();
    await nothingOpen(service);
    await eventually('the upstream was told', () => cut === 2);
    expect(received).toBe(5);
  });
});

describe('a body of 40 MiB', () => {
  // Well above what the sockets of the system take by themselves on the way.
  const size = 40 * 1024 * 1024;
  const block = Buffer.alloc(64 * 1024, 'abcdefgh');
  const whole = createHash('sha256');
  for (let i = 0; i < size; i += block.length) whole.update(block);
  const digest = whole.digest('hex');

  test('waits outside while the processor does not read, and arrives whole', async () => {
    const paused: Seen[] = [];
    const service = await processor(cleanup, {
      requestHeaders: (_part, seen) => {
        seen.call.pause();
        paused.push(seen);
        return { requestHeaders: {} };
      },
    });
    const sum = createHash('sha256');
    const gateway = await processedGateway(cleanup, service, {
      backend: (request, response) => {
        request.on('data', (chunk: Buffer) => sum.update(chunk));
        request.on('end', () => response.end(sum.digest('hex')));
      },
    });
    const upload = await slowUpload(gateway.http, size, block);
    await eventually('the processor was asked', () => paused.length === 1);
    // Windows of three connections, and buffers of as many sockets: far less than the body.
    expect(await settled('the upload', upload.written)).toBeLessThan(size / 2);
    paused[0]?.call.resume();
    expect(await upload.answer).toContain(digest);
    await nothingOpen(service);
  });

  test('waits outside while the upstream does not read', async () => {
    const service = await processor(cleanup);
    const held: (() => void)[] = [];
    const gateway = await processedGateway(cleanup, service, {
      backend: (request, response) => {
        request.pause();
        held.push(() => {
          const sum = createHash('sha256');
          request.on('data', (chunk: Buffer) => sum.update(chunk));
          request.on('end', () => response.end(sum.digest('hex')));
          request.resume();
        });
      },
    });
    const upload = await slowUpload(gateway.http, size, block);
    await eventually('the upstream was asked', () => held.length === 1);
    expect(await settled('the upload', upload.written)).toBeLessThan(size / 2);
    for (const resume of held) resume();
    expect(await upload.answer).toContain(digest);
    await nothingOpen(service);
  });

  test('waits outside while the client does not read its response', async () => {
    const service = await processor(cleanup);
    let written = 0;
    const gateway = await processedGateway(cleanup, service, {
      backend: (_request, response) => {
        const more = (): void => {
          while (written < size) {
            written += block.length;
            if (!response.write(block)) {
              response.once('drain', more);
              return;
            }
          }
          response.end();
        };
        more();
      },
    });
    const response = await fetch(`http://127.0.0.1:${gateway.http}/a`);
    expect(await settled('the download', () => written)).toBeLessThan(size / 2);
    const sum = createHash('sha256');
    for await (const chunk of response.body ?? []) sum.update(chunk);
    expect(sum.digest('hex')).toBe(digest);
    await nothingOpen(service);
  });
});

/** Writes as fast as the gateway takes it. */
async function slowUpload(port: number, size: number, block: Buffer) {
  const client = new RawClient(port);
  cleanup.add(client);
  let written = 0;
  client.write(`POST /a HTTP/1.1\r\nhost: shop.test\r\ncontent-length: ${size}\r\nconnection: close\r\n\r\n`);
  const more = (): void => {
    while (written < size) {
      written += block.length;
      if (!client.socket.write(block)) {
        client.socket.once('drain', more);
        return;
      }
    }
  };
  more();
  return { written: () => written - client.socket.writableLength, answer: client.closed.then(() => client.text) };
}
