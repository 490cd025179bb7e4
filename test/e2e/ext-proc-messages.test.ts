import { afterEach, describe, expect, test } from '@jest/globals';
import type { AddressInfo } from 'node:net';

import { eventually, RawClient } from './clients.ts';
import { ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';
import { common, nothingOpen, processedGateway, processor, type Seen, set, streamed } from './processor.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

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
