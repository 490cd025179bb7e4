import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';

import { afterEach, describe, expect, test } from '@jest/globals';

import { Secret } from '../../../src/shared/secret.ts';
import { decodeConfigDump } from '../../../src/admin/protocol/decode-config-dump.ts';
import { bind, gatewayConfig, World } from '../supervisor/world.ts';

let world: World | null = null;
let folder: string | null = null;

async function start(...args: Parameters<typeof World.start>): Promise<World> {
  world = await World.start(...args);
  return world;
}

afterEach(async () => {
  await world?.stop();
  world = null;
  if (folder !== null) await rm(folder, { recursive: true, force: true });
  folder = null;
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A request with any headers, `Host` included. */
async function raw(
  running: World,
  options: { path: string; method?: string; headers?: Record<string, string> },
): Promise<Answer> {
  const [host, port] = (running.gateway.addresses.admin ?? '').split(':');
  const sent = request({ host, port, agent: false, ...options }).end();
  const [response] = await once(sent, 'response');
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += String(chunk);
  return { status: response.statusCode, headers: response.headers, body };
}

describe('the router', () => {
  test('unknown paths are 404, wrong methods 405 with what is allowed', async () => {
    const running = await start(gatewayConfig({}));
    expect((await running.admin('/nothing')).status).toBe(404);
    const wrong = await running.admin('/quitquitquit');
    expect([wrong.status, wrong.headers.get('allow'), await wrong.text()]).toEqual([405, 'POST', '']);
    const put = await running.admin('/logging', { method: 'PUT' });
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    expect((await running.admin('/config_dump', { method: 'HEAD' })).status).toBe(200);
  });

  test('the index names every endpoint and loads nothing from elsewhere', async () => {
    const running = await start(gatewayConfig({}));
    const answer = await running.admin('/');
    const page = await answer.text();
    expect(answer.headers.get('content-type')).toContain('text/html');
    for (const path of [
      '/config_dump',
      '/config_status',
      '/debug/trace',
      '/logging',
      '/memory',
      '/debug/tasks',
      '/debug/pprof/profile',
      '/debug/pprof/heap',
      '/quitquitquit',
    ]) {
      expect(page).toContain(path);
    }
    expect(page).not.toMatch(/https?:\/\/|<script|src=/);
  });

  test('garbage and endless heads end the connection, not the server', async () => {
    const running = await start(gatewayConfig({}));
    const [host = '', port] = (running.gateway.addresses.admin ?? '').split(':');
    for (const bytes of [
      '\u0000\u0001garbage\r\n\r\n',
      `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      'GET http:// HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    ]) {
      const socket = connect({ host, port: Number(port) });
      socket.on('error', () => {});
      socket.resume().write(bytes);
      await once(socket, 'close');
    }
    expect((await running.admin('/logging')).status).toBe(200);
  });
});

describe('web pages that somebody has open', () => {
  test.each(['evil.example', 'evil.example:15000', 'localhost.evil.example', '127.0.0.1.evil.example', '10.9.8.7'])(
    'a request for host %s is refused',
    async (host) => {
      const running = await start(gatewayConfig({}));
      const answer = await raw(running, { path: '/config_dump', headers: { host } });
      expect(answer.status).toBe(403);
      expect(answer.body).not.toContain('binds');
    },
  );

  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1:15000', '[::1]:15000', 'gateway.localhost'])(
    'host %s is this machine',
    async (host) => {
      const running = await start(gatewayConfig({}));
      expect((await raw(running, { path: '/logging', headers: { host } })).status).toBe(200);
    },
  );

  test.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'http://evil.example' }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
  ])('what changes something answers %j with %i', async (headers, status) => {
    const running = await start(gatewayConfig({}));
    const answer = await raw(running, {
      path: '/logging?level=debug',
      method: 'POST',
      headers: { host: 'localhost', ...headers },
    });
    expect(answer.status).toBe(status);
    expect((await running.admin('/logging')).status).toBe(200);
  });
});

describe('/logging', () => {
  test('shows, adds and resets, in every thread', async () => {
    const running = await start(gatewayConfig({ logging: { level: 'info', format: 'json' } }));
    const log = async (path: string, method = 'POST') => (await running.admin(path, { method })).text();
    expect(await log('/logging', 'GET')).toBe('current log level is info\n');
    expect(await log('/logging')).toBe('current log level is info\n');
    await (await running.traffic('/seen')).text();
    await running.until(() => running.output.includes('"http.path":"/seen"'));
    expect(await log('/logging?level=request=off,config=debug')).toBe(
      'current log level is info,request=off,config=debug\n',
    );
    await (await running.traffic('/unseen')).text();
    expect(await log('/logging?reset')).toBe('current log level is info\n');
    await (await running.traffic('/again')).text();
    await running.until(() => running.output.includes('"http.path":"/again"'));
    expect(running.output).not.toContain('/unseen');
    expect(await log('/logging?reset&level=warn')).toBe('current log level is warn\n');
  });

  test('refuses what it does not understand and changes nothing; GET cannot change', async () => {
    const running = await start(gatewayConfig({}));
    const answer = await running.admin('/logging?level=loud', { method: 'POST' });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/^Invalid level provided: .*loud.*\nusage:/);
    expect((await running.admin('/logging?level=debug')).status).toBe(405);
    expect(await (await running.admin('/logging')).text()).toBe('current log level is info\n');
  });
});

describe('dumps', () => {
  test('/config_dump has every key of the protocol, live endpoints, and no secret', async () => {
    const listener = {
      key: 'gateway/default',
      name: 'default',
      gatewayName: 'default',
      gatewayNamespace: 'default',
      hostname: '*',
      protocol: {
        kind: 'HTTPS',
        tls: { mode: 'static', cert: { pem: 'CERT' }, key: { pem: new Secret('PRIVATE-KEY') } },
      },
      routes: [
        {
          key: 'gateway/default/default/shop',
          name: 'shop',
          namespace: 'default',
          hostnames: ['shop.test'],
          matches: [{ path: { kind: 'pathPrefix', value: '/' }, method: 'GET', headers: [], query: [] }],
          policies: {
            timeout: { requestTimeoutMs: 1500 },
            requestHeaderModifier: {
              add: [],
              set: [
                ['Authorization', 'Bearer TOKEN'],
                ['x-team', 'a'],
              ],
              remove: [],
            },
            backendTLS: { key: { pem: new Secret('CLIENT-KEY') }, verify: 'full' },
          },
          backends: [
            {
              weight: 1,
              index: 0,
              policies: {},
              target: {
                kind: 'inline',
                backend: {
                  kind: 'host',
                  key: 'gateway/default/default/shop/backend0',
                  target: { kind: 'tcp', host: '::1', port: 9 },
                },
              },
            },
          ],
        },
      ],
      tcpRoutes: [],
      policies: {},
    } as const;
    const config = gatewayConfig({}, [bind(0, { listeners: [listener] })]);
    const running = await start(config, {
      dataPlane: new URL('../supervisor/fake-data-plane-any.ts', import.meta.url),
    });
    const text = await (await running.admin('/config_dump')).text();
    expect(text).not.toMatch(/PRIVATE-KEY|CLIENT-KEY|TOKEN/);
    const dump = JSON.parse(text);
    expect(Object.keys(dump)).toEqual([
      'workloads',
      'services',
      'binds',
      'routes',
      'policies',
      'backends',
      'models',
      'version',
      'config',
      'revision',
    ]);
    expect(dump.binds[0].address).toBe(`127.0.0.1:${running.port}`);
    expect(dump.version).toMatchObject({ version: '1.2.3', git_revision: 'abc' });
    const decoded = decodeConfigDump(dump);
    expect(decoded.revision).toBe('r-a: 1');
    expect(decoded.binds[0]?.listeners[0]).toMatchObject({
      name: 'default',
      gateway: 'default/default',
      protocol: 'HTTPS',
    });
    expect(decoded.binds[0]?.listeners[0]?.routes[0]).toMatchObject({
      matches: [{ path: 'prefix /', method: 'GET' }],
      backends: [{ name: '[::1]:9', weight: 1 }],
      policies: ['timeout', 'requestHeaderModifier', 'backendTLS'],
    });
    expect(decoded.backends[0]).toMatchObject({
      kind: 'host',
      target: '[::1]:9',
      endpoints: [{ health: 1, requests: 0, evicted: false }],
    });
    expect(dump.binds[0].listeners['gateway/default'].routes['gateway/default/default/shop'].inlinePolicies[0]).toEqual(
      { timeout: { requestTimeout: '1.5s' } },
    );
  });

  test('/memory tells what the runtime, the threads and the system know', async () => {
    const running = await start(gatewayConfig({ workerThreads: 2 }));
    const memory = await (await running.admin('/memory')).json();
    expect(memory).toMatchObject({ capture_mode: 'runtime', allocation_stats: null, pprof: null });
    const { allocator } = memory as { allocator: { process: { rss: number }; threads: { thread: string }[] } };
    expect(allocator.process.rss).toBeGreaterThan(1_000_000);
    expect(allocator.threads.map(({ thread }) => thread)).toEqual(['control', 'data-0', 'data-1']);
  });

  test('/debug/tasks lists the work of every thread', async () => {
    const running = await start(gatewayConfig({ workerThreads: 2 }));
    const tasks = await (await running.admin('/debug/tasks')).json();
    expect(tasks).toMatchObject({
      workload: ['data-0: fake plane with 0 requests', 'data-1: fake plane with 0 requests'],
    });
  });

  test('/debug/pprof refuses parameters out of range and profiles every thread', async () => {
    const running = await start(gatewayConfig({}));
    expect((await running.admin('/debug/pprof/profile?seconds=0')).status).toBe(400);
    expect((await running.admin('/debug/pprof/profile?frequency=1001')).status).toBe(400);
    const heap = await running.admin('/debug/pprof/heap');
    const bytes = new Uint8Array(await heap.arrayBuffer());
    expect([heap.status, bytes[0], bytes[1]]).toEqual([200, 0x1f, 0x8b]);
  });

  test('an internal backend reaches the same router from a data thread', async () => {
    const running = await start(gatewayConfig({}));
    const answer = await running.traffic('/admin/logging');
    expect(await answer.text()).toBe('current log level is info\n');
    expect((await running.traffic('/admin/debug/trace')).status).toBe(501);
  });
});

describe('addresses', () => {
  test('a unix socket serves, replaces a stale one and goes away with the gateway', async () => {
    folder = await mkdtemp(join(tmpdir(), 'gw-'));
    const path = join(folder, 'admin.sock');
    const stale = createServer().listen(path);
    await once(stale, 'listening');
    const running = await start(gatewayConfig({ adminAddr: { kind: 'unix', path } }));
    expect(running.gateway.addresses.admin).toBe(`unix:${path}`);
    const [response] = await once(
      request({ socketPath: path, path: '/logging', headers: { host: 'anything' } }).end(),
      'response',
    );
    response.resume();
    expect(response.statusCode).toBe(200);
    stale.close();
  });

  test('a file that is no socket is not removed', async () => {
    folder = await mkdtemp(join(tmpdir(), 'gw-'));
    const path = join(folder, 'precious');
    await writeFile(path, 'data');
    await expect(World.start(gatewayConfig({ adminAddr: { kind: 'unix', path } }))).rejects.toThrow('is not a socket');
    expect((await stat(path)).size).toBe(4);
  });

  test('off opens nothing', async () => {
    const running = await start(gatewayConfig({ adminAddr: { kind: 'off' }, statsAddr: { kind: 'off' } }));
    expect(running.gateway.addresses).toMatchObject({ admin: null, stats: null });
    expect((await running.traffic('/')).status).toBe(200);
  });
});

describe('readiness', () => {
  const ready = (running: World) => `http://${running.gateway.addresses.readiness}/healthz/ready`;

  test('says ready, and knows its one path and method', async () => {
    const running = await start(gatewayConfig({}));
    const answer = await fetch(ready(running));
    expect([answer.status, await answer.text()]).toEqual([200, 'ready\n']);
    expect((await fetch(ready(running), { method: 'POST' })).status).toBe(405);
    expect((await fetch(ready(running).replace('ready', 'live'))).status).toBe(404);
  });

  test.each([
    ['version 1', Buffer.from('PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n')],
    [
      'version 2',
      Buffer.concat([
        Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a, 0x20, 0, 0, 0]),
      ]),
    ],
  ])('tolerates a PROXY header of %s, whole or byte by byte', async (_name, header) => {
    const running = await start(gatewayConfig({}));
    const [host = '', port] = (running.gateway.addresses.readiness ?? '').split(':');
    const message = Buffer.concat([
      header,
      Buffer.from('GET /healthz/ready HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
    ]);
    for (const step of [message.byteLength, 7]) {
      const socket = connect({ host, port: Number(port), noDelay: true });
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk) => (text += String(chunk)));
      for (let at = 0; at < message.byteLength; at += step) {
        socket.write(message.subarray(at, at + step));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await once(socket, 'close');
      expect(text).toMatch(/^HTTP\/1\.1 200 OK.*ready\n$/s);
    }
  });

  test('names a data thread that is stuck', async () => {
    const running = await start(gatewayConfig({}));
    await expect(
      Promise.race([
        running.traffic('/block'),
        running.until(async () => (await (await fetch(ready(running))).text()).includes('data thread 0'), 2000),
      ]),
    ).resolves.toBeUndefined();
  }, 30_000);
});
