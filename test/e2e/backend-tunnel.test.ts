import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, fixture, fixturePath, http2Upstream, echoStream, RawClient, tcpUpstream } from './clients.ts';
import { connectProxy, type ConnectProxyOptions } from './connect-proxy.ts';
import { type Answer, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function proxy(options: ConnectProxyOptions = {}) {
  return cleanup.add(await connectProxy(options));
}

async function gateway(backend: string, more = '') {
  const running = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}\nroutes: [{backends: [${backend}]}]\n${more}`),
  );
  return { ...running, http: running.port(80) };
}

async function httpsEcho(certificate = 'a', onConnection = () => {}): Promise<number> {
  const server = createHttpsServer({ cert: fixture(`${certificate}.crt`), key: fixture(`${certificate}.key`) }, echo);
  server.on('secureConnection', onConnection);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.add({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  // `as`: a TCP server that listens has an address with a port.
  return (server.address() as AddressInfo).port;
}

function echoed(answer: Answer): { url: string; body: string; headers: Record<string, string> } {
  return JSON.parse(answer.body) as ReturnType<typeof echoed>;
}

const TLS = `backendTLS: {root: ${fixturePath('ca.crt')}, hostname: a.example.com}`;

describe('plaintext HTTP through a proxy', () => {
  test('is handed over with the whole address, over connections that are used again', async () => {
    const backend = cleanup.add(await upstream(echo));
    const way = await proxy({ hosts: { 'shop.internal': '127.0.0.1' } });
    const running = await gateway(
      `{host: "shop.internal:${backend.port}", policies: {backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}}}`,
    );
    for (const path of ['/a?b=c', '/d']) {
      const answer = await ask(running.http, path, { method: 'POST', body: 'hello' });
      expect([answer.status, echoed(answer).url, echoed(answer).body]).toEqual([200, path, 'hello']);
      expect(echoed(answer).headers['host']).toBe(`shop.internal:${backend.port}`);
    }
    expect(way.asked.map(({ method, target, host }) => [method, target, host])).toEqual([
      ['POST', `http://shop.internal:${backend.port}/a?b=c`, `shop.internal:${backend.port}`],
      ['POST', `http://shop.internal:${backend.port}/d`, `shop.internal:${backend.port}`],
    ]);
    expect(way.connections()).toBe(1);
  });

  test('shows the credential of the gateway, never that of the client, and the backend sees neither', async () => {
    const backend = cleanup.add(await upstream(echo));
    const way = await proxy({ credential: 'Basic Z3c6c2VjcmV0' });
    const auth = '{key: {value: Z3c6c2VjcmV0, location: {header: {name: proxy-authorization, prefix: "Basic "}}}}';
    const running = await gateway(
      `{host: "127.0.0.1:${backend.port}", policies: {backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}, policies: {backendAuth: ${auth}}}}}`,
    );
    const answer = await ask(running.http, '/', { headers: { 'proxy-authorization': 'Basic mine' } });
    expect(answer.status).toBe(200);
    expect(way.asked[0]?.credential).toBe('Basic Z3c6c2VjcmV0');
    expect(answer.body).not.toContain('proxy-authorization');
    const dump = await (await fetch(`${running.admin}/config_dump`)).text();
    expect(dump).toContain('backendTunnel');
    expect(dump).not.toContain('Z3c6c2VjcmV0');
  });

  test('that the proxy wants authentication is told to the log, and is no answer of the backend', async () => {
    const way = await proxy({ credential: 'Basic secret' });
    const running = await gateway(
      `{host: "shop.internal:80", policies: {backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}}}`,
    );
    const answer = await ask(running.http, '/');
    expect([answer.status, answer.headers['proxy-authenticate']]).toEqual([503, undefined]);
    expect(answer.body).toBe('upstream call failed: the proxy requires authentication (407)');
    expect(way.asked[0]?.target).toBe('http://shop.internal/');
  });

  test('asks for a tunnel when the client wants another protocol', async () => {
    const backend = cleanup.add(await upstream(echo));
    backend.server.on('upgrade', (_request, socket) => {
      cleanup.add({ close: () => socket.destroy() });
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.pipe(socket);
    });
    const way = await proxy();
    const running = await gateway(
      `{host: "127.0.0.1:${backend.port}", policies: {backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}}}`,
    );
    const client = cleanup.add(new RawClient(running.http));
    client.write('GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
    await client.until((text) => text.includes('\r\n\r\n'));
    client.write('ping');
    expect(await client.until((text) => text.endsWith('ping'))).toMatch(/^HTTP\/1\.1 101 /);
    expect(way.asked.map(({ method, target }) => [method, target])).toEqual([['CONNECT', `127.0.0.1:${backend.port}`]]);
  });
});

describe('a tunnel through a proxy', () => {
  test('carries TLS that is verified end to end, and leaves names to the proxy', async () => {
    const port = await httpsEcho();
    const way = await proxy({ hosts: { 'a.example.com': '127.0.0.1' }, credential: 'Bearer secret' });
    const running = await gateway(
      `{host: "a.example.com:${port}", policies: {backendTLS: {root: ${fixturePath('ca.crt')}}, backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}, policies: {backendAuth: {key: secret}}}}}`,
    );
    const answer = await ask(running.http, '/x');
    expect([answer.status, echoed(answer).url]).toEqual([200, '/x']);
    expect(way.asked).toMatchObject([
      {
        method: 'CONNECT',
        target: `a.example.com:${port}`,
        host: `a.example.com:${port}`,
        credential: 'Bearer secret',
      },
    ]);
    expect(echoed(answer).headers).not.toHaveProperty('proxy-authorization');
  });

  test('does not make a certificate of another name good', async () => {
    const port = await httpsEcho('b');
    const way = await proxy();
    const running = await gateway(
      `{host: "127.0.0.1:${port}", policies: {${TLS}, backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}}}`,
    );
    const answer = await ask(running.http, '/');
    expect([answer.status, answer.body]).toEqual([
      503,
      'upstream call failed: certificate verification failed: it was issued for another name',
    ]);
  });

  test('may begin over TLS itself', async () => {
    const port = await httpsEcho();
    const way = await proxy({ certificate: 'b' });
    const running = await gateway(
      `{host: "127.0.0.1:${port}", policies: {${TLS}, backendTunnel: {proxy: {backend: way}}}}`,
      `backends: [{name: way, host: "127.0.0.1:${way.port}", policies: {backendTLS: {root: ${fixturePath('ca.crt')}, hostname: b.example.com}}}]`,
    );
    expect((await ask(running.http, '/')).status).toBe(200);
    expect(way.asked).toHaveLength(1);
  });

  test('may lead through a proxy behind a proxy', async () => {
    const port = await httpsEcho();
    const far = await proxy();
    const near = await proxy();
    const running = await gateway(
      `{host: "127.0.0.1:${port}", policies: {${TLS}, backendTunnel: {proxy: {host: "127.0.0.1:${far.port}"}, policies: {backendTunnel: {proxy: {host: "127.0.0.1:${near.port}"}}}}}}`,
    );
    expect((await ask(running.http, '/')).status).toBe(200);
    expect(near.asked.map(({ target }) => target)).toEqual([`127.0.0.1:${far.port}`]);
    expect(far.asked.map(({ target }) => target)).toEqual([`127.0.0.1:${port}`]);
  });

  test('carries HTTP/2 with and without TLS', async () => {
    const secure = cleanup.add(await http2Upstream(echoStream, { certificate: 'a' }));
    const plain = cleanup.add(await http2Upstream(echoStream));
    const way = await proxy();
    const through = `backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}`;
    const running = await gateway(`{host: "127.0.0.1:${secure.port}", policies: {${TLS}, ${through}}}`);
    expect((await ask(running.http, '/')).status).toBe(200);
    const other = await gateway(`{host: "127.0.0.1:${plain.port}", policies: {http: {version: HTTP/2.0}, ${through}}}`);
    expect((await ask(other.http, '/')).status).toBe(200);
    expect(way.asked.map(({ method }) => method)).toEqual(['CONNECT', 'CONNECT']);
    expect([secure.sessions.size, plain.sessions.size]).toEqual([1, 1]);
  });

  test('names an IPv6 backend in brackets', async () => {
    const way = await proxy({ refuses: 403 });
    const running = await gateway(
      `{host: "[::1]:9", policies: {${TLS}, backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}}}`,
    );
    const answer = await ask(running.http, '/');
    expect([answer.status, answer.body]).toEqual([
      503,
      'upstream call failed: the proxy refused the tunnel with status 403',
    ]);
    expect(way.asked[0]).toMatchObject({ target: '[::1]:9', host: '[::1]:9' });
  });

  test.each([
    ['wants authentication', { credential: 'x' }, 'requires authentication (407)'],
    ['says 204', { refuses: 204 }, 'refused the tunnel with status 204'],
  ])('fails when the proxy %s', async (_name, options, message) => {
    const way = await proxy(options);
    const running = await gateway(
      `{host: "127.0.0.1:9", policies: {${TLS}, backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}}}`,
    );
    const answer = await ask(running.http, '/');
    expect([answer.status, answer.body]).toEqual([503, `upstream call failed: the proxy ${message}`]);
  });

  test.each([
    ['hangs up', '', 'closed the connection instead of answering'],
    ['speaks something else', 'SSH-2.0-x\r\n\r\n', 'gave an answer that is not HTTP: malformed status line'],
    [
      'answers without end',
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`,
      'gave an answer that is not HTTP: head larger than 32768 bytes',
    ],
    [
      'sends interim answers without end',
      'HTTP/1.1 100 Continue\r\n\r\n'.repeat(50),
      'sends interim answers without end',
    ],
  ])('fails when the proxy %s', async (_name, bytes, message) => {
    const way = cleanup.add(
      await tcpUpstream((socket) => socket.once('data', () => (bytes === '' ? socket.end() : socket.write(bytes)))),
    );
    const running = await gateway(
      `{host: "127.0.0.1:9", policies: {${TLS}, backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}}}`,
    );
    const answer = await ask(running.http, '/');
    expect([answer.status, answer.body]).toEqual([503, `upstream call failed: the proxy ${message}`]);
    await eventually('nothing stays open', () => way.sockets.size === 0);
  });

  test('fails when the proxy resets the connection', async () => {
    const way = cleanup.add(await tcpUpstream((socket) => socket.once('data', () => socket.resetAndDestroy())));
    const running = await gateway(
      `{host: "127.0.0.1:9", policies: {${TLS}, backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}}}`,
    );
    const answer = await ask(running.http, '/');
    const told = 'upstream call failed: the proxy broke off: connection reset';
    expect([answer.status, answer.body]).toEqual([503, told]);
  });

  test('is given up in time when the proxy says nothing', async () => {
    const way = cleanup.add(await tcpUpstream((socket) => socket.resume()));
    const running = await gateway(
      `{host: "127.0.0.1:9", policies: {${TLS}, tcp: {connectTimeout: 50ms}, backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}}}`,
    );
    expect((await ask(running.http, '/')).status).toBe(504);
    await eventually('nothing stays open', () => way.sockets.size === 0);
  });

  test('is not shared between backends that are reached in different ways', async () => {
    const port = await httpsEcho();
    const [one, other] = [await proxy(), await proxy()];
    const running = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routes:
- {name: direct, matches: [{path: {exact: /direct}}], backends: [{host: "127.0.0.1:${port}", policies: {${TLS}}}]}
- {name: one, matches: [{path: {exact: /one}}], backends: [{host: "127.0.0.1:${port}", policies: {${TLS}, backendTunnel: {proxy: {host: "127.0.0.1:${one.port}"}}}}]}
- {name: other, matches: [{path: {exact: /other}}], backends: [{host: "127.0.0.1:${port}", policies: {${TLS}, backendTunnel: {proxy: {host: "127.0.0.1:${other.port}"}}}}]}
`),
    );
    for (const path of ['/direct', '/one', '/other']) expect((await ask(running.port(80), path)).status).toBe(200);
    expect([one.asked.length, other.asked.length]).toEqual([1, 1]);
  });
});

describe('raw bytes through a proxy', () => {
  test("flow both ways, the first word being the backend's", async () => {
    const backend = cleanup.add(
      await tcpUpstream((socket) => {
        socket.write('220 ready\r\n');
        socket.pipe(socket);
      }),
    );
    const way = await proxy();
    const running = cleanup.add(
      await startGateway(`
gateways: {default: {port: 90, protocol: TCP}}
tcpRoutes: [{backends: [{host: "127.0.0.1:${backend.port}", policies: {backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}}}]}]
`),
    );
    const client = cleanup.add(new RawClient(running.port(90)));
    await client.until((text) => text === '220 ready\r\n');
    client.write('EHLO\r\n');
    await client.until((text) => text.endsWith('EHLO\r\n'));
    expect(way.asked.map(({ method, target }) => [method, target])).toEqual([['CONNECT', `127.0.0.1:${backend.port}`]]);
  });

  test('keeps what the backend said in one piece with the answer of the proxy', async () => {
    const way = cleanup.add(
      await tcpUpstream((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n220 ready\r\n');
          socket.pipe(socket);
        });
      }),
    );
    const running = cleanup.add(
      await startGateway(`
gateways: {default: {port: 90, protocol: TCP}}
tcpRoutes: [{backends: [{host: "mail.internal:25", policies: {backendTunnel: {proxy: {host: "127.0.0.1:${way.port}"}}}}]}]
`),
    );
    const client = cleanup.add(new RawClient(running.port(90)));
    await client.until((text) => text === '220 ready\r\n');
    client.write('QUIT\r\n');
    await client.until((text) => text.endsWith('QUIT\r\n'));
  });
});

describe('a configuration is refused', () => {
  const through = (more: string): string =>
    `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:9", policies: {backendTunnel: ${more}}}]}]\n`;

  test.each([
    [
      'whose proxy is shown a token by query',
      through(
        '{proxy: {host: "p:1"}, policies: {backendAuth: {key: {value: x, location: {queryParameter: {name: k}}}}}}',
      ),
      'a `key` in a header',
    ],
    [
      'whose proxy has header changes',
      through('{proxy: {host: "p:1"}, policies: {requestHeaderModifier: {set: {a: b}}}}'),
      'has no meaning on the way to a proxy',
    ],
    [
      'whose proxy leads through itself',
      `${through('{proxy: {backend: p}}')}backends: [{name: p, host: "p:1", policies: {backendTunnel: {proxy: {backend: p}}}}]`,
      'leads through itself',
    ],
    [
      'whose proxy has no address',
      `${through('{proxy: {backend: p}}')}backends: [{name: p, internal: forward}]`,
      'cannot be a proxy',
    ],
    [
      'whose backend is a local socket',
      'gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "unix:/tmp/x", policies: {backendTunnel: {proxy: {host: "p:1"}}}}]}]',
      'cannot be reached through a proxy',
    ],
  ])('%s', async (_name, text, message) => {
    await expect(startGateway(text).then((running) => cleanup.add(running))).rejects.toThrow(message);
  });
});
