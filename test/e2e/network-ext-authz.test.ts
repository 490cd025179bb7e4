import { connect as connectTls } from 'node:tls';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, fixture, fixturePath, Http2Client, RawClient, tcpUpstream } from './clients.ts';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Decides by what is in the question. */
async function service(decide: (url: string) => number = () => 200) {
  const asked: { method: string; url: string; headers: Record<string, unknown> }[] = [];
  const server = cleanup.add(
    await upstream((request, response) => {
      const { method = '', url = '', headers } = request;
      asked.push({ method, url, headers });
      response.writeHead(decide(url)).end('not for clients');
    }),
  );
  return { asked, port: server.port };
}

async function gatewayWith(port: number, more = '', http = '{}') {
  return cleanup.add(
    await startGateway(`frontendPolicies:
  networkExtAuthz: {host: "127.0.0.1:${port}", protocol: {http: ${http}}${more === '' ? '' : `, ${more}`}}
gateways: {default: {port: 80}}
routes:
- policies: {directResponse: {status: 200, body: served}}
`),
  );
}

const GET = 'GET / HTTP/1.1\r\nhost: shop.test\r\n\r\n';

describe('a service that is asked about connections', () => {
  test('is asked once for each, with an empty GET', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayWith(port);
    const client = new RawClient(gateway.port(80)).write(GET);
    await client.until((text) => text.includes('served'));
    client.write(GET);
    await client.until((text) => text.split('served').length === 3);
    client.socket.destroy();
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ method: 'GET', url: '/' });
    expect(asked[0]?.headers).not.toHaveProperty('authorization');
    expect((await ask(gateway.port(80), '/')).body).toBe('served');
    expect(asked).toHaveLength(2);
  });

  test('sees the ends of the connection by expressions', async () => {
    const { asked, port } = await service();
    const http = `{path: "'/check?from=' + source.address", addRequestHeaders: {x-port: "string(destination.port)"}}`;
    const gateway = await gatewayWith(port, '', http);
    await ask(gateway.port(80), '/');
    expect(asked[0]).toMatchObject({
      url: '/check?from=127.0.0.1',
      headers: { 'x-port': String(gateway.port(80)) },
    });
  });

  test.each([401, 204, 302, 500])('closes the connection without a word when it answers %i', async (status) => {
    const { port } = await service(() => status);
    const gateway = await gatewayWith(port, '', '{}');
    const client = new RawClient(gateway.port(80)).write(GET);
    await client.closed;
    expect(client.text).toBe('');
    expect(gateway.log.filter((line) => line.includes('http.status'))).toEqual([]);
  });

  test.each([
    ['deny', ''],
    ['{denyWithStatus: 503}', ''],
    ['allow', 'served'],
  ])('and is down, under %s', async (mode, wanted) => {
    const gateway = await gatewayWith(1, `failureMode: ${mode}`);
    const client = new RawClient(gateway.port(80)).write(GET.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'));
    await client.closed;
    expect(client.text.includes('served')).toBe(wanted !== '');
    expect(client.text === '').toBe(wanted === '');
  });

  test('refuses when an expression has no value, whatever the failure mode', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayWith(port, 'failureMode: allow', '{path: "jwt.sub"}');
    const client = new RawClient(gateway.port(80)).write(GET);
    await client.closed;
    expect(client.text).toBe('');
    expect(asked).toHaveLength(0);
  });

  test('may be remembered by address', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayWith(port, 'cache: {key: [source.address], ttl: 1h}');
    for (let i = 0; i < 3; i++) expect((await ask(gateway.port(80), '/')).body).toBe('served');
    expect(asked).toHaveLength(1);
  });

  test('is no longer waited for when the client resets its connection', async () => {
    let gone = false;
    let asked = 0;
    const server = cleanup.add(
      await upstream((_request, response) => {
        asked += 1;
        response.on('close', () => (gone = true));
      }),
    );
    const gateway = await gatewayWith(server.port, 'policies: {http: {requestTimeout: 60s}}');
    const client = new RawClient(gateway.port(80)).write(GET);
    await eventually('the question', () => asked === 1);
    client.socket.resetAndDestroy();
    await eventually('the call is given up', () => gone);
  });

  test('holds back what the client has sent already, in one piece and in several', async () => {
    let answer = (): void => {};
    let asked = 0;
    const server = cleanup.add(
      await upstream((_request, response) => {
        asked += 1;
        answer = () => response.end();
      }),
    );
    const gateway = await gatewayWith(server.port);
    const client = new RawClient(gateway.port(80)).write(GET.slice(0, 20));
    await eventually('the question', () => asked === 1);
    client.write(GET.slice(20));
    client.write(GET);
    expect(client.text).toBe('');
    answer();
    await client.until((text) => text.split('served').length === 3);
    client.socket.destroy();
  });
});

describe('connections of every kind are asked about', () => {
  test('with TLS, when it is known which name and protocol they ask for', async () => {
    const { asked, port } = await service();
    const tls = `{cert: "${fixturePath('a.crt')}", key: "${fixturePath('a.key')}"}`;
    const gateway = cleanup.add(
      await startGateway(`frontendPolicies:
  networkExtAuthz: {host: "127.0.0.1:${port}", protocol: {http: {path: "'/' + destination.hostname"}}}
gateways: {default: {port: 443, tls: ${tls}}}
routes:
- policies: {directResponse: {status: 200, body: served}}
`),
    );
    const options = { servername: 'a.example.com', ca: fixture('ca.crt') };
    const http1 = connectTls({ port: gateway.port(443), host: '127.0.0.1', ...options });
    const chunks: Buffer[] = [];
    http1.on('data', (chunk: Buffer) => chunks.push(chunk));
    http1.write(GET.replace('shop.test', 'a.example.com'));
    await eventually('an answer', () => Buffer.concat(chunks).toString().includes('served'));
    http1.destroy();
    const http2 = cleanup.add(await Http2Client.connect(`https://127.0.0.1:${gateway.port(443)}`, options));
    for (let i = 0; i < 2; i++)
      expect(await http2.ask({ ':path': '/', ':authority': 'a.example.com' })).toMatchObject({ text: 'served' });
    expect(asked.map(({ url }) => url)).toEqual(['/a.example.com', '/a.example.com']);
  });

  test('with HTTP/2 in plaintext', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayWith(port);
    const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${gateway.port(80)}`));
    for (let i = 0; i < 2; i++) expect(await client.ask({ ':path': '/' })).toMatchObject({ text: 'served' });
    expect(asked).toHaveLength(1);
  });

  test('that carry bytes, before a backend is dialled', async () => {
    let allowed = false;
    const { port } = await service(() => (allowed ? 200 : 403));
    let dialled = 0;
    const backend = cleanup.add(
      await tcpUpstream((socket) => {
        dialled += 1;
        socket.end('hello');
      }),
    );
    const gateway = cleanup.add(
      await startGateway(`frontendPolicies:
  networkExtAuthz: {host: "127.0.0.1:${port}", protocol: {http: {}}}
gateways: {default: {port: 80, protocol: TCP}}
tcpRoutes:
- backends: [{host: "127.0.0.1:${backend.port}"}]
`),
    );
    const refused = new RawClient(gateway.port(80));
    await refused.closed;
    expect([refused.text, dialled]).toEqual(['', 0]);
    allowed = true;
    const served = new RawClient(gateway.port(80));
    await served.closed;
    expect([served.text, dialled]).toEqual(['hello', 1]);
  });
});

describe('the policy of connections', () => {
  test.each([
    ['gRPC', '{host: "127.0.0.1:1", protocol: {grpc: {}}}', 'unknown key'],
    ['a protocol of its own choice', '{host: "127.0.0.1:1"}', 'protocol'],
    ['headers of a request', '{host: "127.0.0.1:1", protocol: {http: {}}, includeRequestHeaders: [x]}', 'unknown key'],
    ['no service', '{protocol: {http: {}}}', 'service'],
  ])('does not take %s', async (_what, policy, message) => {
    await expect(
      startGateway(`frontendPolicies: {networkExtAuthz: ${policy}}\ngateways: {default: {port: 80}}\n`),
    ).rejects.toThrow(message);
  });
});
