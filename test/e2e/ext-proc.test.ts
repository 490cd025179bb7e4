import { afterEach, describe, expect, test } from '@jest/globals';

import { Cleanup, echo } from './gateway.ts';
import {
  bytesOf,
  common,
  fieldsOf,
  modes,
  nothingOpen,
  processedGateway,
  processor,
  set,
  streamed,
} from './processor.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const BODY_MODES = ['none', 'buffered', 'bufferedPartial', 'fullDuplexStreamed'] as const;

describe('an external processor', () => {
  test('sees the head of a request and of its response, with the attributes of each', async () => {
    const service = await processor(cleanup);
    const gateway = await processedGateway(cleanup, service, {
      backend: (_request, response) => response.writeHead(201, { 'x-up': 'yes', 'content-length': '0' }).end(),
      more: `requestAttributes: {path: request.path, bad: jwt.sub, n: "1 + 1"}, responseAttributes: {code: response.code}, metadataContext: {app: {team: "'red'", bad: jwt.sub}, "gw.dev.grpc_initial_metadata": {x-tenant: "'t1'", x-n: "3", x-no: "[1]"}}`,
    });
    const answer = await gateway.ask('/a?b=c', { headers: { 'x-many': ['1', '2'] } });
    expect(answer.status).toBe(201);
    await nothingOpen(service);
    expect(service.parts()).toEqual(['requestHeaders', 'responseHeaders']);
    const [request, response] = service.streams[0]?.messages ?? [];
    expect(fieldsOf(service.about('requestHeaders')[0])).toMatchObject({
      ':method': 'GET',
      ':scheme': 'http',
      ':authority': 'shop.test',
      ':path': '/a?b=c',
      'x-many': '2',
    });
    expect(fieldsOf(service.about('responseHeaders')[0])).toMatchObject({ ':status': '201', 'x-up': 'yes' });
    expect(service.about('requestHeaders')[0]).toMatchObject({ endOfStream: true });
    expect(service.about('responseHeaders')[0]).toMatchObject({ endOfStream: true });
    const struct = (fields: object) => ({ 'envoy.filters.http.ext_proc': { fields } });
    expect(request?.['attributes']).toEqual(struct({ path: { stringValue: '/a' }, n: { numberValue: 2 } }));
    expect(response?.['attributes']).toEqual(struct({ code: { numberValue: 201 } }));
    expect(request?.['protocolConfig']).toEqual({
      requestBodyMode: 'FULL_DUPLEX_STREAMED',
      responseBodyMode: 'FULL_DUPLEX_STREAMED',
    });
    expect(response).not.toHaveProperty('protocolConfig');
    const context = { filterMetadata: { app: { fields: { team: { stringValue: 'red' } } } } };
    expect(request?.['metadataContext']).toEqual(context);
    expect(response?.['metadataContext']).toEqual(context);
    const { metadata } = service.streams[0] ?? {};
    expect(metadata?.get('x-tenant')).toEqual(['t1']);
    expect(metadata?.get('x-n')).toEqual(['3']);
    expect(metadata?.get('x-no')).toEqual([]);
    expect(service.streams[0]?.left).toBe('ended');
  });

  test('changes heads in both directions, and neither their framing nor what belongs to a connection', async () => {
    const headers = (prefix: string) => [
      set('x-set', prefix),
      set('x-append', prefix, 'APPEND_IF_EXISTS_OR_ADD'),
      { header: { key: 'x-old', value: prefix }, append: { value: true } },
      set('x-absent', prefix, 'ADD_IF_ABSENT'),
      set('x-there', prefix, 'ADD_IF_ABSENT'),
      set('x-missing', prefix, 'OVERWRITE_IF_EXISTS'),
      set('x-replaced', prefix, 'OVERWRITE_IF_EXISTS'),
      set('transfer-encoding', 'chunked'),
      set('content-length', '999'),
      set('connection', 'close'),
      set('x-bad', 'a\r\nx-smuggled: 1'),
      set('bad name', '1'),
    ];
    const service = await processor(cleanup, {
      requestHeaders: () =>
        common('requestHeaders', {
          headerMutation: {
            setHeaders: [...headers('req'), set(':path', '/new?x=1'), set(':authority', 'inner.test')],
            removeHeaders: ['X-Secret', 'transfer-encoding', 'host', ':path'],
          },
        }),
      responseHeaders: () =>
        common('responseHeaders', {
          headerMutation: { setHeaders: [...headers('res'), set(':status', '202')], removeHeaders: ['x-secret'] },
        }),
    });
    const gateway = await processedGateway(cleanup, service, {
      more: modes({ requestBodyMode: 'none', responseBodyMode: 'none' }),
      backend: (request, response) => {
        for (const name of ['x-old', 'x-append', 'x-there', 'x-replaced', 'x-secret']) response.setHeader(name, 'up');
        echo(request, response);
      },
    });
    const sent = { 'x-old': 'me', 'x-append': 'me', 'x-there': 'me', 'x-replaced': 'me', 'x-secret': 'me' };
    const answer = await gateway.ask('/old', { method: 'POST', body: 'hello', headers: sent });
    expect(answer.status).toBe(202);
    const seen = JSON.parse(answer.body);
    expect(seen).toMatchObject({ method: 'POST', url: '/new?x=1', body: 'hello' });
    const changed = (old: string, mine: string) => ({
      'x-set': mine,
      'x-append': mine,
      'x-old': `${old}, ${mine}`,
      'x-absent': mine,
      'x-there': old,
      'x-replaced': mine,
    });
    expect(seen.headers).toMatchObject({ ...changed('me', 'req'), host: 'inner.test', 'content-length': '5' });
    expect(answer.headers).toMatchObject(changed('up', 'res'));
    for (const { headers: each } of [seen, answer]) {
      for (const name of ['x-missing', 'x-secret', 'x-bad', 'x-smuggled', 'bad name'])
        expect(each).not.toHaveProperty([name]);
    }
    expect(answer.headers['content-length'] ?? answer.body.length).not.toBe('999');
    await nothingOpen(service);
  });

  test.each(BODY_MODES)('lets bodies pass unchanged with %s', async (mode) => {
    const service = await processor(cleanup);
    const gateway = await processedGateway(cleanup, service, {
      backend: echo,
      more: modes({ requestBodyMode: mode, responseBodyMode: mode }),
    });
    for (const body of ['hello', 'x'.repeat(300_000)]) {
      const answer = await gateway.ask('/a', { method: 'POST', body });
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.body).body).toBe(body);
    }
    await nothingOpen(service);
    const asked = service.about('requestBody', 1);
    expect(bytesOf(asked).toString()).toBe(mode === 'none' ? '' : 'x'.repeat(300_000));
    const messages = { none: 0, buffered: 1, bufferedPartial: 1, fullDuplexStreamed: asked.length };
    expect(asked).toHaveLength(messages[mode]);
    expect(asked.filter(({ endOfStream }) => endOfStream === true)).toEqual(asked.slice(-1));
    expect(service.streams.map(({ left }) => left)).toEqual(['ended', 'ended']);
  });

  test.each(['buffered', 'bufferedPartial'] as const)('replaces bodies with %s', async (mode) => {
    const service = await processor(cleanup, {
      requestHeaders: () => common('requestHeaders', { headerMutation: { removeHeaders: ['content-length'] } }),
      requestBody: () =>
        common('requestBody', {
          headerMutation: { setHeaders: [set('x-late', 'yes')] },
          bodyMutation: { body: Buffer.from('another') },
        }),
      responseHeaders: () => common('responseHeaders', { headerMutation: { removeHeaders: ['content-length'] } }),
      responseBody: (part) =>
        common('responseBody', {
          headerMutation: { setHeaders: [set('x-late', 'too')] },
          bodyMutation: { body: Buffer.concat([part['body'] as Buffer, Buffer.from('!')]) },
        }),
    });
    const gateway = await processedGateway(cleanup, service, {
      backend: echo,
      more: modes({ requestBodyMode: mode, responseBodyMode: mode }),
    });
    const answer = await gateway.ask('/a', { method: 'POST', body: 'hello' });
    expect(answer).toMatchObject({ status: 200, headers: { 'x-late': 'too' } });
    expect(answer.body.endsWith('!')).toBe(true);
    expect(JSON.parse(answer.body.slice(0, -1))).toMatchObject({
      body: 'another',
      headers: { 'x-late': 'yes', 'content-length': '7' },
    });
    await nothingOpen(service);
  });

  test('replaces bodies that stream, piece by piece, with more and with less', async () => {
    const service = await processor(cleanup, {
      requestBody: (part) => {
        const text = ((part['body'] as Buffer | undefined) ?? '').toString();
        return [
          streamed('requestBody', { body: text.toUpperCase() }),
          streamed('requestBody', { body: text === '' ? '.' : '-', endOfStream: part['endOfStream'] }),
        ];
      },
      responseBody: (part) =>
        part['endOfStream'] === true ? streamed('responseBody', { body: 'short', endOfStream: true }) : null,
    });
    const gateway = await processedGateway(cleanup, service, { backend: echo });
    let seen = '';
    const other = await processedGateway(cleanup, service, {
      backend: (request, response) => {
        request.on('data', (chunk: Buffer) => (seen += chunk.toString()));
        request.on('end', () => response.end('a long answer'));
      },
    });
    const answer = await other.ask('/a', { method: 'POST', body: 'hello' });
    expect(seen).toBe('HELLO-.');
    expect(answer).toMatchObject({ status: 200, body: 'short' });
    expect(answer.headers).not.toHaveProperty('content-length');
    expect((await gateway.ask('/a', { method: 'PUT', body: 'hello' })).body).toBe('short');
    await nothingOpen(service);
  });

  test('may answer a buffered body in pieces, or clear it', async () => {
    const service = await processor(cleanup, {
      requestBody: () => [
        ...Array.from({ length: 1000 }, (_, i) => streamed('requestBody', { body: `${i},` })),
        streamed('requestBody', { endOfStream: true }),
      ],
      responseBody: () => common('responseBody', { bodyMutation: { clearBody: true } }),
    });
    let seen = '';
    const gateway = await processedGateway(cleanup, service, {
      more: modes({ requestBodyMode: 'buffered', responseBodyMode: 'buffered' }),
      backend: (request, response) => {
        request.on('data', (chunk: Buffer) => (seen += chunk.toString()));
        request.on('end', () => response.setHeader('x-up', '1').end('a long answer'));
      },
    });
    const answer = await gateway.ask('/a', { method: 'POST', body: 'hello' });
    expect(answer).toMatchObject({ status: 200, body: '', headers: { 'x-up': '1', 'content-length': '0' } });
    expect(seen).toBe(Array.from({ length: 1000 }, (_, i) => `${i},`).join(''));
    await nothingOpen(service);
  });

  test('has to announce the length of a body that it replaces', async () => {
    let length = '3';
    const service = await processor(cleanup, {
      requestHeaders: () =>
        common('requestHeaders', { headerMutation: { setHeaders: [set('content-length', length)] } }),
      requestBody: () => common('requestBody', { bodyMutation: { body: Buffer.from('another') } }),
    });
    const gateway = await processedGateway(cleanup, service, {
      more: modes({ requestBodyMode: 'buffered', responseBodyMode: 'none' }),
      backend: echo,
    });
    const refused = await gateway.ask('/a', { method: 'POST', body: 'hello' });
    expect(refused.status).toBe(500);
    expect(refused.body).toBe('ext_proc failed: the service replaced a body by 7 bytes, but content-length is 3');
    length = '7';
    const answer = await gateway.ask('/a', { method: 'POST', body: 'hello' });
    expect(JSON.parse(answer.body)).toMatchObject({ body: 'another', headers: { 'content-length': '7' } });
    await nothingOpen(service);
  });

  test('is sent the beginning of a body that is larger than what is held, and may change that', async () => {
    const service = await processor(cleanup, {
      requestBody: () => common('requestBody', { bodyMutation: { body: Buffer.from('[start]') } }),
    });
    const gateway = await processedGateway(cleanup, service, {
      more: modes({ requestBodyMode: 'bufferedPartial', responseBodyMode: 'none' }),
      backend: echo,
      yaml: 'frontendPolicies: {http: {maxBufferSize: 1024}}',
    });
    const body = `${'a'.repeat(1024)}${'b'.repeat(5000)}`;
    const answer = await gateway.ask('/a', { method: 'POST', body });
    expect(JSON.parse(answer.body).body).toBe(`[start]${'b'.repeat(5000)}`);
    const [sent] = service.about('requestBody');
    expect(sent).not.toHaveProperty('endOfStream');
    expect(String(sent?.['body'])).toBe('a'.repeat(1024));
    await nothingOpen(service);
  });
});
