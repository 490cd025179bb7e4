import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

import { afterEach, describe, expect, test } from '@jest/globals';

import type { ConfigDump, EndpointGroupDump } from '../../src/admin/protocol/config-dump.ts';
import type { ConfigStatus } from '../../src/admin/protocol/status.ts';
import { systemCodeOf } from '../../src/shared/errors.ts';
import { eventually, fixture, RawClient, signal } from './clients.ts';
import { ConfigFolder, LOCAL_SERVERS } from './config-folder.ts';
import { ask, Cleanup, type RunningGateway, startGateway, upstream, type Upstream } from './gateway.ts';
import { Hammer, KeepAliveClient } from './load.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const THREADS = 2;

async function start(text: string): Promise<RunningGateway> {
  return cleanup.add(await startGateway(text, { threads: THREADS }));
}

/** An upstream that answers everything with its name. */
async function named(name: string): Promise<Upstream> {
  return cleanup.add(await upstream((_request, response) => response.end(name)));
}

/** Routes of the gateway on port 80 that answer by themselves, or from a backend. */
function answering(text: string, ports: readonly number[] = [80]): string {
  const gateways = ports.map((port) => `  p${port}: {port: ${port}}`).join('\n');
  const names = ports.map((port) => `p${port}`).join(', ');
  return `gateways:\n${gateways}\nroutes:\n- gateways: [${names}]\n  policies: {directResponse: {status: 200, body: ${text}}}\n`;
}

async function status(running: RunningGateway): Promise<ConfigStatus> {
  const answer = await fetch(`${running.admin}/config_status`);
  // `as`: what the gateway under test says of itself.
  return (await answer.json()) as ConfigStatus;
}

async function metric(running: RunningGateway, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${running.stats}/metrics`)).text();
  return text
    .split('\n')
    .find((line) => line.startsWith(name))
    ?.split(' ')
    .at(-1);
}

/** Answers of so many new connections, which the kernel spreads over the threads. */
function answersOf(port: number, connections = 16): Promise<string[]> {
  return Promise.all(Array.from({ length: connections }, async () => (await ask(port, '/')).body));
}

async function refused(port: number): Promise<boolean> {
  const code = await ask(port, '/').then(
    () => undefined,
    (error: unknown) => systemCodeOf(error),
  );
  return code === 'ECONNREFUSED';
}

describe('a reload under load', () => {
  test('fails not one request and closes not one connection while routes and backends change', async () => {
    const backends = [await named('one'), await named('two'), await named('three')];
    const generation = (n: number): string => {
      const backend = `{host: "127.0.0.1:${backends[n % 3]?.port}"}`;
      const others = Array.from({ length: n % 7 }, (_, at) => {
        return `- name: other-${n}-${at}\n  matches: [{path: {exact: "/${n}/${at}"}}]\n  policies: {directResponse: {status: 204}}`;
      });
      const match = n % 2 === 0 ? '{pathPrefix: /load}' : '{exact: /load}';
      const route = `- name: load-${n}\n  matches: [{path: ${match}}]\n  backends: [${n % 4 === 0 ? 'BACKEND, BACKEND' : 'BACKEND'}]`;
      return `gateways: {default: {port: 80}}\nroutes:\n${[...others, route.replaceAll('BACKEND', backend)].join('\n')}`;
    };
    const running = await start(generation(0));
    const hammer = cleanup.add(new Hammer(running.port(80), '/load'));
    const seen = new Set<string>();
    for (let n = 1; n <= 20; n++) {
      const before = hammer.answers.length;
      await expect(running.reload(generation(n))).resolves.toMatchObject({ kind: 'live' });
      // The requests under way may end where they began; the ones behind them must not.
      await hammer.rounds(1);
      const settled = hammer.answers.length;
      await hammer.rounds(1);
      const bodies = new Set(hammer.answers.slice(settled).map(({ body }) => body));
      expect(bodies).toEqual(new Set([['one', 'two', 'three'][n % 3]]));
      for (const { body } of hammer.answers.slice(before)) seen.add(body);
    }
    await hammer.stop();
    expect(hammer.failures).toEqual([]);
    expect(hammer.answers.filter((answer) => answer.status !== 200)).toEqual([]);
    expect(hammer.answers.filter((answer) => !answer.reused)).toHaveLength(8);
    expect(seen).toEqual(new Set(['one', 'two', 'three']));
  });

  test('lets a response under way finish from a backend that is gone from the configuration', async () => {
    const goOn = signal();
    const server = cleanup.add(
      await upstream((_request, response) => {
        response.write('begun ');
        void goOn.promise.then(() => response.end('finished'));
      }),
    );
    const running = await start(
      `gateways: {default: {port: 80}}\nroutes:\n- backends: [{host: "127.0.0.1:${server.port}"}]`,
    );
    const client = new RawClient(running.port(80));
    client.write('GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    await client.until((text) => text.includes('begun'));
    await running.reload(answering('new').replaceAll('p80', 'default'));
    expect(await answersOf(running.port(80), 4)).toEqual(Array.from({ length: 4 }, () => 'new'));
    goOn.resolve();
    await client.until((text) => text.includes('finished') && text.endsWith('0\r\n\r\n'));
    // The connection is still good, and its next request meets the new configuration.
    client.write('GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    await client.until((text) => text.endsWith('new'));
    client.socket.destroy();
  });

  test('opens and closes ports while others serve', async () => {
    const running = await start(answering('same'));
    const hammer = cleanup.add(new Hammer(running.port(80), '/', 4));
    for (let n = 0; n < 4; n++) {
      await running.reload(answering('same', [80, 81, 82]));
      const added = running.port(81);
      expect(added).toBeGreaterThan(0);
      expect(await answersOf(added)).toEqual(Array.from({ length: 16 }, () => 'same'));
      await running.reload(answering('same'));
      await eventually('the removed port refuses connections', () => refused(added));
      await hammer.rounds(1);
    }
    await hammer.stop();
    expect(hammer.failures).toEqual([]);
    expect(hammer.answers.filter((answer) => answer.status !== 200 || answer.body !== 'same')).toEqual([]);
  });

  test('that removes a port lets the requests on it finish, with a word that the connection ends', async () => {
    const goOn = signal();
    const arrived = signal();
    const server = cleanup.add(
      await upstream((_request, response) => {
        arrived.resolve();
        void goOn.promise.then(() => response.end('finished'));
      }),
    );
    const text = (ports: string) =>
      `gateways: {${ports}}\nroutes:\n- gateways: [stays]\n  backends: [{host: "127.0.0.1:${server.port}"}]`;
    const running = await start(
      `${text('stays: {port: 80}, goes: {port: 81}')}\n- gateways: [goes]\n  backends: [{host: "127.0.0.1:${server.port}"}]`,
    );
    const port = running.port(81);
    const answer = ask(port, '/', { headers: { connection: 'keep-alive' } });
    await arrived.promise;
    await running.reload(text('stays: {port: 80}'));
    await eventually('the removed port refuses connections', () => refused(port));
    goOn.resolve();
    expect(await answer).toMatchObject({ status: 200, body: 'finished', headers: { connection: 'close' } });
  });
});

describe('a configuration that is refused', () => {
  test.each([
    ['cannot be parsed', 'gateways: {default: {port: 80}', /test\.yaml:\d+:\d+/],
    ['has an unknown key', 'gateways: {default: {port: 80, prot: HTTP}}', /prot/],
    ['names a backend that does not exist', `${answering('x')}- backends: [{backend: nowhere}]`, /nowhere/],
  ])('because it %s leaves the old one in every thread, and the status tells why', async (_why, broken, reason) => {
    const running = await start(answering('old'));
    const before = await status(running);
    expect(before).toMatchObject({ rejected: null, diff: [] });
    const result = await running.reload(broken);
    expect(result.kind).toBe('rejected');
    expect(await answersOf(running.port(80))).toEqual(Array.from({ length: 16 }, () => 'old'));
    const told = await status(running);
    expect(told.live).toEqual(before.live);
    expect(JSON.stringify(told.rejected?.errors)).toMatch(reason);
    expect(await metric(running, 'gw_config_synchronized')).toBe('0');
    await running.reload(answering('new'));
    expect(await status(running)).toMatchObject({ rejected: null, diff: [] });
    expect(await metric(running, 'gw_config_synchronized')).toBe('1');
    expect(await answersOf(running.port(80))).toEqual(Array.from({ length: 16 }, () => 'new'));
  });

  test('because a port is in use opens nothing, closes nothing and changes nothing in any thread', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    cleanup.add({ close: () => new Promise((resolve) => holder.close(resolve)) });
    // `as`: a TCP server that listens has an address with a port.
    const taken = (holder.address() as AddressInfo).port;
    const running = await start(answering('old', [80, 81]));
    const ports = running.gateway.addresses.binds;
    const hammer = cleanup.add(new Hammer(running.port(81), '/', 2));
    const result = await running.reload(answering('new', [80, 82, taken]));
    expect(result).toMatchObject({ kind: 'rejected' });
    expect(result.kind === 'rejected' ? result.error.message : '').toContain(`port ${taken}`);
    expect(running.gateway.addresses.binds).toEqual(ports);
    expect(await answersOf(running.port(80))).toEqual(Array.from({ length: 16 }, () => 'old'));
    expect((await status(running)).rejected?.errors).toEqual([
      expect.objectContaining({ code: 'GW_BIND', message: expect.stringContaining(`port ${taken}`) }),
    ]);
    await hammer.rounds(1);
    await hammer.stop();
    expect(hammer.failures).toEqual([]);
    expect(new Set(hammer.answers.map(({ body }) => body))).toEqual(new Set(['old']));
  });
});

describe('what an unchanged definition has learned survives a reload', () => {
  async function infoOf(running: RunningGateway, name: string) {
    // `as`: what the gateway under test says of itself.
    const dump = (await (await fetch(`${running.admin}/config_dump`)).json()) as ConfigDump;
    const hosts = dump.backends.flatMap(({ backend }) => (typeof backend === 'object' ? [backend['host']] : []));
    const host = hosts.find((each) => isHost(each) && each.name === name);
    const [group] = isHost(host) ? host.endpoints : [];
    return Object.values({ ...group?.active, ...group?.rejected })[0]?.info;
  }

  interface HostDump {
    readonly name: string;
    readonly endpoints: readonly EndpointGroupDump[];
  }

  function isHost(value: unknown): value is HostDump {
    return typeof value === 'object' && value !== null && 'name' in value && 'endpoints' in value;
  }

  test('the counters of an endpoint, its health and those of the metrics, but not those of a changed one', async () => {
    const good = await named('good');
    const moved = await named('moved');
    const bad = cleanup.add(await upstream((_request, response) => response.writeHead(500).end()));
    const text = (movedTo: number, comment: string): string => `# ${comment}
gateways: {default: {port: 80}}
backends:
- {name: good, host: "127.0.0.1:${good.port}"}
- {name: bad, host: "127.0.0.1:${bad.port}", policies: {health: {eviction: {duration: 1m}}}}
- {name: moved, host: "127.0.0.1:${movedTo}"}
routes:
- {name: good, matches: [{path: {exact: /good}}], backends: [{backend: good}]}
- {name: bad, matches: [{path: {exact: /bad}}], backends: [{backend: bad}]}
- {name: moved, matches: [{path: {exact: /moved}}], backends: [{backend: moved}]}
`;
    const running = await start(text(moved.port, 'first'));
    for (const path of ['/good', '/good', '/good', '/bad', '/moved']) await ask(running.port(80), path);
    await eventually('the endpoints are accounted for', async () => {
      return (
        (await infoOf(running, 'bad'))?.totalRequests === 1 && (await infoOf(running, 'good'))?.totalRequests === 3
      );
    });
    const before = await infoOf(running, 'bad');
    expect(before).toMatchObject({ health: 0.7, consecutiveFailures: 1, timesEjected: 1 });
    expect(before?.evictedUntil).not.toBeNull();
    const elsewhere = await named('elsewhere');
    await expect(running.reload(text(elsewhere.port, 'second'))).resolves.toMatchObject({ kind: 'live' });
    expect(await infoOf(running, 'good')).toMatchObject({ totalRequests: 3, health: 1 });
    const after = await infoOf(running, 'bad');
    expect(after).toEqual({ ...before, evictedUntil: after?.evictedUntil });
    expect(after?.evictedUntil).not.toBeNull();
    expect(await infoOf(running, 'moved')).toMatchObject({ totalRequests: 0 });
    await ask(running.port(80), '/good');
    await eventually('counting goes on', async () => (await infoOf(running, 'good'))?.totalRequests === 4);
    const series = /^gw_requests_total\{[^}]*route="default\/good"[^}]*\} 4$/m;
    await eventually('the metrics go on', async () => {
      return series.test(await (await fetch(`${running.stats}/metrics`)).text());
    });
  });
});

describe('a file that is watched', () => {
  const config = (text: string): string => LOCAL_SERVERS + answering(text);

  async function folder(): Promise<ConfigFolder> {
    return cleanup.add(await ConfigFolder.make());
  }

  test('goes live when an editor writes it anew, replaces it, and when it comes back after it was gone', async () => {
    const place = await folder();
    await place.write('config.yaml', config('one'));
    await place.start('config.yaml');
    const answers = async (text: string): Promise<void> => {
      await eventually(`${text} is live`, async () =>
        (await answersOf(place.port(80), 4)).every((body) => body === text),
      );
    };
    await answers('one');
    await place.replace('config.yaml', config('two'));
    await answers('two');
    await place.write('config.yaml', config('three'));
    await answers('three');
    await place.replace('config.yaml', `${config('four')}nonsense: 1\n`);
    await eventually('the broken one is rejected', () => place.gateway.status.rejected !== null);
    await answers('three');
    await place.replace('config.yaml', config('five'));
    await answers('five');
    await eventually('the rejection is forgotten', () => place.gateway.status.rejected === null);
  });

  test('goes live when the volume that it lies in is swapped', async () => {
    const place = await folder();
    await place.publish('config.yaml', config('one'));
    await place.start('config.yaml');
    for (const text of ['two', 'three']) {
      await place.publish('config.yaml', config(text));
      await eventually(`${text} is live`, async () => (await ask(place.port(80), '/')).body === text);
    }
  });

  describe('is a certificate', () => {
    const secure = `${LOCAL_SERVERS}gateways: {web: {port: 443, tls: {cert: web.crt, key: web.key}}, plain: {port: 80}}
routes:
- gateways: [web, plain]
  policies: {directResponse: {status: 200, body: hello}}
`;

    async function handshake(port: number): Promise<TLSSocket> {
      const socket = connectTls({ host: '127.0.0.1', port, servername: 'a.test', rejectUnauthorized: false });
      socket.on('error', () => {});
      await once(socket, 'secureConnect');
      return socket;
    }

    async function certificateOf(port: number): Promise<string> {
      const socket = await handshake(port);
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    }

    async function secureFolder(): Promise<ConfigFolder> {
      const place = await folder();
      await place.write('web.crt', fixture('a.crt'));
      await place.write('web.key', fixture('a.key'));
      await place.write('config.yaml', secure);
      await place.start('config.yaml');
      return place;
    }

    test('new handshakes get the new one, connections of the old one drain, others stay', async () => {
      const place = await secureFolder();
      const port = place.port(443);
      const first = await certificateOf(port);
      const plain = cleanup.add(new KeepAliveClient(place.port(80)));
      await plain.ask('/');
      const old = await handshake(port);
      let received = '';
      old.on('data', (chunk: Buffer) => (received += chunk.toString()));
      const ended = once(old, 'close');
      old.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
      await eventually('the old connection works', () => received.endsWith('hello'));
      await place.replace('web.key', fixture('b.key'));
      await place.replace('web.crt', fixture('b.crt'));
      await eventually('the new certificate is served', async () => (await certificateOf(port)) !== first);
      const seen = await Promise.all(Array.from({ length: 8 }, () => certificateOf(port)));
      expect(new Set(seen).size).toBe(1);
      await ended;
      expect(await plain.ask('/')).toMatchObject({ status: 200, reused: true });
    });

    test('that does not fit its key is rejected, and the old one is served on', async () => {
      const place = await secureFolder();
      const port = place.port(443);
      const first = await certificateOf(port);
      await place.replace('web.crt', fixture('b.crt'));
      await eventually('it is rejected', () => place.gateway.status.rejected !== null);
      expect(JSON.stringify(place.gateway.status.rejected)).not.toContain('PRIVATE KEY');
      expect(await certificateOf(port)).toBe(first);
      await place.replace('web.key', fixture('b.key'));
      await eventually('the pair goes live', async () => (await certificateOf(port)) !== first);
      await eventually('the rejection is forgotten', () => place.gateway.status.rejected === null);
    });
  });
});
