import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, RawClient } from './clients.ts';
import { Cleanup } from './gateway.ts';
import { authorizing } from './authorization-service.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { service, gatewayWith } = authorizing(cleanup);

describe('a service that gives no answer', () => {
  const modes: readonly (readonly [string, number, string])[] = [
    ['deny', 403, 'external authorization failed'],
    ['{denyWithStatus: 503}', 503, 'Authorization service unavailable'],
    ['allow', 200, ''],
  ];

  /** Answers every connection with these bytes and closes it; null never answers. */
  async function raw(bytes: string | null) {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => (bytes === null ? undefined : socket.end(bytes)));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const sockets = new Set<{ destroy(): void }>();
    server.on('connection', (socket) => sockets.add(socket));
    cleanup.add({
      close: () => {
        for (const socket of sockets) socket.destroy();
        return new Promise((resolve) => server.close(resolve));
      },
    });
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async function expectMode(host: number, [mode, status, body]: (typeof modes)[number], policies = '') {
    const gateway = await gatewayWith({
      host,
      more: `failureMode: ${mode}${policies}`,
    });
    const answer = await gateway.ask('/');
    const { 'x-gw-reason': reason } = answer.headers;
    expect([answer.status, reason]).toEqual(status === 200 ? [200, undefined] : [status, 'ExtAuth']);
    expect(answer.body).toContain(body);
    await gateway.logged('warn', 'ext_authz', 'the service cannot be asked');
  }

  test.each(modes)('because it is down, under %s', async (...mode) => {
    await expectMode(1, mode);
  });

  test.each(modes)('because it hangs up, under %s', async (...mode) => {
    await expectMode(await raw(''), mode);
  });

  test.each(modes)('because it talks nonsense, under %s', async (...mode) => {
    await expectMode(await raw('220 mail.test ESMTP\r\n'), mode);
  });

  test.each(modes)('because its answer is endless, under %s', async (...mode) => {
    const { port } = await service((_asked, response) => {
      response.writeHead(200);
      response.end('x'.repeat(2 * 1024 * 1024));
    });
    await expectMode(port, mode);
  });

  test.each(modes)('because its answer breaks off, under %s', async (...mode) => {
    await expectMode(await raw('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'), mode);
  });

  test.each(modes)('because it is too slow, under %s', async (...mode) => {
    await expectMode(await raw(null), mode, ', policies: {http: {requestTimeout: 50ms}}');
  });

  test('in the two seconds that it has by default', async () => {
    const gateway = await gatewayWith({ host: await raw(null) });
    const startedAt = performance.now();
    expect((await gateway.ask('/')).status).toBe(403);
    expect(performance.now() - startedAt).toBeGreaterThan(1900);
  });

  test('within the timeout of the request makes that time out', async () => {
    const gateway = await gatewayWith({ host: await raw(null), policies: 'timeout: {requestTimeout: 50ms}' });
    expect(await gateway.ask('/')).toMatchObject({ status: 504, body: 'request timeout' });
  });

  test('is no longer waited for when the client has left', async () => {
    let gone = false;
    const { asked, port } = await service((_asked, response) => response.on('close', () => (gone = true)));
    const gateway = await gatewayWith({ host: port, more: 'policies: {http: {requestTimeout: 60s}}' });
    const client = new RawClient(gateway.port(80));
    client.write('GET / HTTP/1.1\r\nhost: shop.test\r\n\r\n');
    await eventually('the question', () => asked.length === 1);
    client.socket.destroy();
    await eventually('the call is given up', () => gone);
    await gateway.logged('http.status=499');
    expect(gateway.log.some((line) => line.includes('cannot be asked'))).toBe(false);
  });
});
