import { createServer, type Server } from 'node:net';
import { once } from 'node:events';

import { afterEach, describe, expect, test } from '@jest/globals';

import { GwError } from '../../../src/shared/errors.ts';
import { createDataPlane } from './fake-data-plane.ts';
import { bind, gatewayConfig, World } from './world.ts';

const refusedBy = (thread: number) =>
  bind(0, {
    listeners: [
      {
        key: 'l',
        name: 'l',
        gatewayName: 'default',
        gatewayNamespace: 'default',
        hostname: `refused-by-${thread}`,
        protocol: { kind: 'HTTP' },
        policies: {},
        routes: [],
        tcpRoutes: [],
      },
    ],
  });

let world: World | null = null;
const others: Server[] = [];

async function start(...args: Parameters<typeof World.start>): Promise<World> {
  world = await World.start(...args);
  return world;
}

afterEach(async () => {
  await world?.stop();
  world = null;
  for (const server of others.splice(0)) server.close();
});

async function listening(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  others.push(server);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('starting', () => {
  test('serves from a worker thread on a port that the system chose', async () => {
    const { gateway, port, traffic } = await start(gatewayConfig({}));
    expect(port).toBeGreaterThan(0);
    expect(gateway.addresses.admin).toMatch(/^127\.0\.0\.1:\d+$/);
    const answer = await traffic.call(world, '/');
    expect(await answer.json()).toEqual({ revision: 'r-a: 1', thread: 0, keepalive: 90_000 });
  });

  test('serves inside the caller’s own thread when asked to', async () => {
    const running = await start(gatewayConfig({}), { inThread: true, create: createDataPlane });
    expect((await running.traffic('/')).status).toBe(200);
  });

  test('several threads share one port that the system chose', async () => {
    const running = await start(gatewayConfig({ workerThreads: 3 }));
    const seen = new Set<number>();
    await running.until(async () => {
      const { thread } = JSON.parse(await (await running.traffic('/')).text());
      seen.add(Number(thread));
      return seen.size === 3;
    });
    expect(seen.size).toBe(3);
  });

  test.each([1, 2])('a port that somebody else holds is fatal and named (%i threads)', async (workerThreads) => {
    const port = await listening();
    const starting = World.start(gatewayConfig({ workerThreads }, [bind(port)]));
    await expect(starting).rejects.toMatchObject({ code: 'GW_BIND', message: expect.stringContaining(`port ${port}`) });
    await expect(starting).rejects.toThrow(/in use/);
  });

  test('an admin port in use is fatal and says which setting moves it', async () => {
    const port = await listening();
    const config = gatewayConfig({ adminAddr: { kind: 'tcp', hosts: ['127.0.0.1'], port } });
    await expect(World.start(config)).rejects.toMatchObject({
      code: 'GW_PORT_IN_USE',
      hint: expect.stringContaining('adminAddr'),
    });
  });

  test('a configuration that no thread can compile is fatal with its own error', async () => {
    await expect(World.start(gatewayConfig({}, [refusedBy(0)]))).rejects.toMatchObject({
      code: 'GW_TEST',
      hint: 'none',
    });
  });

  test('a log level that is not understood is fatal', async () => {
    await expect(World.start(gatewayConfig({ logging: { level: 'loud', format: 'text' } }))).rejects.toThrow(
      /config\.logging\.level/,
    );
  });
});

describe('reloading', () => {
  test('a good configuration goes live in every thread and keeps its port', async () => {
    const running = await start(gatewayConfig({ workerThreads: 2 }));
    const before = running.port;
    running.provider.text = 'a: 2';
    await expect(running.gateway.reload()).resolves.toEqual({ kind: 'live', revision: 'r-a: 2' });
    expect(running.port).toBe(before);
    for (let n = 0; n < 8; n++) expect(await (await running.traffic('/')).json()).toMatchObject({ revision: 'r-a: 2' });
  });

  test('when one thread cannot prepare, nothing changes anywhere and the reason is kept', async () => {
    const running = await start(gatewayConfig({ workerThreads: 2 }));
    running.provider.text = 'a: broken';
    running.provider.next = gatewayConfig({ workerThreads: 2 }, [refusedBy(1)]);
    const result = await running.gateway.reload();
    expect(result.kind).toBe('rejected');
    for (let n = 0; n < 8; n++) expect(await (await running.traffic('/')).json()).toMatchObject({ revision: 'r-a: 1' });
    const status = await (await running.admin('/config_status')).json();
    expect(status).toMatchObject({
      live: { revision: 'r-a: 1', source: 'test.yaml' },
      rejected: {
        revision: 'r-a: broken',
        errors: [{ message: 'this configuration cannot be compiled', code: 'GW_TEST' }],
      },
      diff: [{ kind: 'changed', path: 'text', before: 'a: 1', after: 'a: broken' }],
    });
  });

  test('a file that cannot be read keeps the old configuration, turns the gauge, and a good one turns it back', async () => {
    const running = await start(gatewayConfig({}));
    const gauge = async () =>
      /^gw_config_synchronized (\d)$/m.exec(
        await (await fetch(`http://${running.gateway.addresses.stats}/metrics`)).text(),
      )?.[1];
    expect(await gauge()).toBe('1');
    const good = running.provider.next;
    running.provider.next = new GwError('test.yaml:1:1: not YAML', { code: 'GW_CONFIG_SYNTAX' });
    await running.gateway.reload();
    expect(await gauge()).toBe('0');
    expect(running.gateway.status.rejected?.errors[0]?.message).toContain('not YAML');
    expect((await running.traffic('/')).status).toBe(200);
    running.provider.next = good;
    await running.gateway.reload();
    expect(await gauge()).toBe('1');
    expect(running.gateway.status.rejected).toBeNull();
  });

  test('a changed file is loaded, and changes that come together are loaded once', async () => {
    const running = await start(gatewayConfig({}));
    const before = running.provider.reads;
    running.provider.text = 'a: 3';
    for (let n = 0; n < 10; n++) running.provider.changed();
    await running.until(() => running.gateway.status.live.revision === 'r-a: 3');
    expect(running.provider.reads).toBe(before + 1);
  });

  test('the process section stays as it was at the start and the status says so', async () => {
    const running = await start(gatewayConfig({}));
    const changed = gatewayConfig({ terminationMinDeadlineMs: 7 });
    running.provider.next = {
      ...changed,
      process: { ...changed.process, backend: { ...changed.process.backend, poolIdleTimeoutMs: 5 } },
    };
    running.provider.text = 'a: 4';
    await running.gateway.reload();
    expect(await (await running.traffic('/')).json()).toMatchObject({ keepalive: 90_000 });
    expect(running.gateway.status.restartNeeded).toEqual([
      'config.terminationMinDeadlineMs',
      'config.backend.poolIdleTimeoutMs',
    ]);
  });

  test('a new bind on a port of somebody else is refused, also with shared ports', async () => {
    const running = await start(gatewayConfig({ workerThreads: 2 }));
    const port = await listening();
    running.provider.next = gatewayConfig({ workerThreads: 2 }, [bind(0), bind(port)]);
    running.provider.text = 'a: 5';
    const result = await running.gateway.reload();
    expect(result).toMatchObject({ kind: 'rejected', error: { code: 'GW_BIND' } });
    expect((await running.traffic('/')).status).toBe(200);
  });
});

describe('a crashed data thread', () => {
  test('is replaced with the live configuration on the same port while the process stays up', async () => {
    const running = await start(gatewayConfig({}));
    await (await running.traffic('/')).text();
    const { port } = running;
    await expect(running.traffic('/crash')).rejects.toThrow('fetch failed');
    await running.until(
      async () =>
        (await running.traffic('/').then(
          (answer) => answer.status,
          () => 0,
        )) === 200,
    );
    expect(running.port).toBe(port);
    expect(running.output).toMatch(/data-0 crashed and is started again.*crashed on request/);
    const metrics = await (await fetch(`http://${running.gateway.addresses.stats}/metrics`)).text();
    expect(metrics).toMatch(/gw_requests_total\{.*method="GET".*\} 2/);
  });
});

describe('shutting down', () => {
  test('waits for what is open, is not ready meanwhile, and a second call cuts it', async () => {
    const running = await start(gatewayConfig({ terminationMaxDeadlineMs: 60_000 }));
    const answer = await running.traffic('/hang');
    const ending = running.gateway.shutdown();
    const ready = await fetch(`http://${running.gateway.addresses.readiness}/healthz/ready`);
    expect([ready.status, await ready.text()]).toEqual([500, 'not ready, pending: draining\n']);
    void running.gateway.shutdown();
    await ending;
    await expect(answer.text()).rejects.toThrow('terminated');
    await running.gateway.done;
  });

  test('ends at the maximum deadline at the latest', async () => {
    const running = await start(gatewayConfig({ terminationMaxDeadlineMs: 50 }));
    const answer = await running.traffic('/hang');
    await running.gateway.shutdown();
    await expect(answer.text()).rejects.toThrow('terminated');
    expect(running.output).toContain('the deadline has passed');
  });

  test('/quitquitquit answers and then ends the gateway', async () => {
    const running = await start(gatewayConfig({}));
    const answer = await running.admin('/quitquitquit', { method: 'POST' });
    expect([answer.status, await answer.text()]).toEqual([200, 'shutdown now\n']);
    await running.gateway.done;
  });
});
