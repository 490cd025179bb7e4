import { afterEach, describe, expect, test } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { once } from 'node:events';

import { eventually, Http2Client } from './clients.ts';
import { Cleanup, echo } from './gateway.ts';
import {
  bytesOf,
  fieldsOf,
  type Message,
  modes,
  nothingOpen,
  processedGateway,
  processor,
  type Script,
  set,
  streamed,
} from './processor.ts';

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
