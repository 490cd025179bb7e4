import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually } from './clients.ts';
import { ask, Cleanup, echo, type RunningGateway, startGateway, upstream } from './gateway.ts';

const withIPv6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1')
  ? describe
  : describe.skip;
const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** An upstream with a name that can be told to fail. */
async function member(name: string) {
  const state = { status: 200, calls: 0, hang: false };
  const server = cleanup.add(
    await upstream((_request: IncomingMessage, response: ServerResponse) => {
      state.calls += 1;
      if (!state.hang) response.writeHead(state.status, { 'x-member': name }).end(name);
    }),
  );
  return Object.assign(state, { name, port: server.port, server });
}

type Member = Awaited<ReturnType<typeof member>>;

interface ServiceOptions {
  /** Of the route's backend. */
  readonly policies?: string;
  /** Of the route. */
  readonly route?: string;
  /** Behind the address of each workload. */
  readonly workload?: (index: number) => string;
  readonly balancer?: string;
}

function serviceConfig(members: readonly Pick<Member, 'name' | 'port'>[], options: ServiceOptions = {}): string {
  const { policies = '{}', route = '{}', workload = () => '', balancer } = options;
  const workloads = members.map(
    ({ name, port }, index) =>
      `- {uid: ${name}, name: ${name}, namespace: shop, workloadIps: ["127.0.0.1"], services: {"shop/cart.shop": {80: ${port}}}${workload(index)}}`,
  );
  return `
gateways: {default: {port: 80}}
routes:
- policies: ${route}
  backends: [{service: {name: shop/cart.shop, port: 80}, policies: ${policies}}]
services:
- {name: cart, namespace: shop, hostname: cart.shop, vips: [], ports: {80: 80}${balancer === undefined ? '' : `, loadBalancer: ${balancer}`}}
workloads: ${workloads.length === 0 ? '[]' : `\n${workloads.join('\n')}`}
`;
}

async function running(text: string): Promise<RunningGateway & { tell(): Promise<string> }> {
  const gateway = cleanup.add(await startGateway(text));
  return { ...gateway, tell: async () => (await ask(gateway.port(80), '/')).body };
}

/** Bodies of `count` requests, one after the other, and how often each came. */
async function tally(tell: () => Promise<string>, count: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let n = 0; n < count; n++) {
    const body = await tell();
    counts[body] = (counts[body] ?? 0) + 1;
  }
  return counts;
}

interface DumpedEndpoint {
  readonly endpoint: { readonly name: string };
  readonly info: { readonly [field: string]: unknown };
  readonly capacity: number;
}

/** Endpoints of the dump by name, active and rejected ones. */
async function endpoints(admin: string): Promise<Record<'active' | 'rejected', Record<string, DumpedEndpoint>>> {
  const dump = JSON.stringify(await (await fetch(`${admin}/config_dump`)).json());
  const found = { active: {}, rejected: {} } as Record<'active' | 'rejected', Record<string, DumpedEndpoint>>;
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('active' in node && 'rejected' in node) {
      // `as`: the shape of an endpoint group in a dump.
      const group = node as Record<'active' | 'rejected', Record<string, DumpedEndpoint>>;
      Object.assign(found.active, group.active);
      Object.assign(found.rejected, group.rejected);
      return;
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(JSON.parse(dump));
  return found;
}

const EVICT = '{health: {eviction: {duration: 1h, consecutiveFailures: 2}}}';

describe('a service', () => {
  test('shares requests between its workloads', async () => {
    const members = [await member('one'), await member('two'), await member('three')];
    const { tell } = await running(serviceConfig(members));
    const counts = await tally(tell, 60);
    expect(Object.keys(counts).sort()).toEqual(['one', 'three', 'two']);
  });

  test('prefers workloads that answer fast', async () => {
    const [slow, fast] = [await member('slow'), await member('fast')];
    slow.server.server.removeAllListeners('request');
    slow.server.server.on('request', (_request, response) => setTimeout(() => response.end('slow'), 200));
    const { tell } = await running(serviceConfig([slow, fast]));
    const counts = await tally(tell, 40);
    expect(counts['fast'] ?? 0).toBeGreaterThan(counts['slow'] ?? 0);
  });

  test('never uses a workload whose capacity is 0', async () => {
    const members = [await member('drained'), await member('used')];
    const { tell, admin } = await running(serviceConfig(members, { workload: (n) => `, capacity: ${n}` }));
    expect(await tally(tell, 20)).toEqual({ used: 20 });
    expect(members[0]?.calls).toBe(0);
    const { active, rejected } = await endpoints(admin);
    expect([...Object.values(active), ...Object.values(rejected)].map(({ capacity }) => capacity).sort()).toContain(0);
  });

  test('gives larger workloads more', async () => {
    const members = [await member('small'), await member('large')];
    const { tell } = await running(serviceConfig(members, { workload: (n) => `, capacity: ${n === 0 ? 1 : 50}` }));
    const counts = await tally(tell, 40);
    expect(counts['large']).toBeGreaterThan(20);
  });

  test('leaves unhealthy workloads out, unless it allows all', async () => {
    const members = [await member('sick'), await member('well')];
    const workload = (n: number) => (n === 0 ? ', status: Unhealthy' : '');
    const only = await running(serviceConfig(members, { workload }));
    expect(await tally(only.tell, 20)).toEqual({ well: 20 });
    const balancer = '{routingPreferences: [], mode: Standard, healthPolicy: AllowAll}';
    const all = await running(serviceConfig(members, { workload, balancer }));
    expect(Object.keys(await tally(all.tell, 40)).sort()).toEqual(['sick', 'well']);
  });

  test.each([
    ['has no workloads', () => ''],
    ['is drained', () => ', capacity: 0'],
    ['is unhealthy', () => ', status: Unhealthy'],
  ])('that %s has no healthy backends', async (name, workload) => {
    const members = name === 'has no workloads' ? [] : [await member('only')];
    const { port, logged } = await running(serviceConfig(members, { workload }));
    expect(await ask(port(80), '/')).toMatchObject({
      status: 503,
      body: 'no healthy backends',
      headers: { 'x-gw-reason': 'NoHealthyBackend' },
    });
    await logged('http.status=503', 'reason=NoHealthyBackend');
  });
});

describe('an endpoint that fails', () => {
  test('is taken out after its count of failures, shown as evicted, and others take over', async () => {
    const members = [await member('bad'), await member('good')];
    const [bad] = members;
    if (bad !== undefined) bad.status = 500;
    const { tell, admin } = await running(serviceConfig(members, { policies: EVICT }));
    await eventually('the bad one has failed twice', async () => {
      await tell();
      return bad?.calls === 2;
    });
    await tally(tell, 20);
    expect(bad?.calls).toBe(2);
    const { active, rejected } = await endpoints(admin);
    expect(Object.keys(active)).toEqual(['good']);
    expect(rejected['bad']?.info).toMatchObject({
      consecutiveFailures: 2,
      timesEjected: 1,
      totalRequests: 2,
      pendingRequests: 0,
      evictedUntil: expect.stringMatching(/^(59m|1h)/),
      lastError: expect.stringMatching(/^status at /),
    });
  });

  test('is used all the same when there is no other', async () => {
    const only = await member('only');
    only.status = 500;
    const { tell, port } = await running(serviceConfig([only], { policies: EVICT }));
    await tally(tell, 3);
    only.status = 200;
    expect((await ask(port(80), '/')).status).toBe(200);
  });

  test('comes back when its time is over, with the health it is given', async () => {
    const members = [await member('bad'), await member('good')];
    const [bad] = members;
    if (bad !== undefined) bad.status = 503;
    const policies = '{health: {eviction: {duration: 150ms, consecutiveFailures: 1, restoreHealth: 1}}}';
    const { tell, admin } = await running(serviceConfig(members, { policies }));
    await eventually('it is out', async () => {
      await tell();
      return 'bad' in (await endpoints(admin)).rejected;
    });
    if (bad !== undefined) bad.status = 200;
    const before = bad?.calls ?? 0;
    await eventually('it is called again', async () => {
      await tell();
      return (bad?.calls ?? 0) > before;
    });
    const { active } = await endpoints(admin);
    expect(active['bad']?.info).toMatchObject({ health: 1, consecutiveFailures: 0, evictedUntil: null });
  });

  test('stays without a health policy, whatever it answers', async () => {
    const members = [await member('bad'), await member('good')];
    if (members[0] !== undefined) members[0].status = 500;
    const { tell, admin } = await running(serviceConfig(members));
    await tally(tell, 20);
    expect((await endpoints(admin)).rejected).toEqual({});
  });

  test('is not tried again by the retry of the request that evicted it', async () => {
    const members = [await member('bad'), await member('good')];
    const [bad, good] = members;
    if (bad !== undefined) bad.status = 500;
    const { port, logged } = await running(
      serviceConfig(members, {
        policies: '{health: {eviction: {duration: 1h, consecutiveFailures: 1}}}',
        route: '{retry: {attempts: 3, codes: [500]}}',
      }),
    );
    for (let n = 0; n < 15; n++) expect((await ask(port(80), '/')).status).toBe(200);
    expect(bad?.calls).toBe(1);
    expect(good?.calls).toBe(15);
    await logged('http.status=200', 'retry.attempt=1');
  });

  test.each([
    ['refuses connections', 'connect'],
    ['never answers', 'timeout'],
    ['cuts its answers', 'reset'],
  ])('because it %s is told with that error', async (_name, error) => {
    const bad = await member('bad');
    if (error === 'connect') await bad.server.close();
    bad.hang = error === 'timeout';
    if (error === 'reset') {
      bad.server.server.removeAllListeners('request');
      bad.server.server.on('request', (request) => request.socket.destroy());
    }
    const { port, admin } = await running(
      serviceConfig([bad], { policies: EVICT, route: '{timeout: {backendRequestTimeout: 80ms}}' }),
    );
    for (let n = 0; n < 2; n++) expect((await ask(port(80), '/')).status).toBeGreaterThanOrEqual(503);
    const { rejected } = await endpoints(admin);
    expect(rejected['bad']?.info).toMatchObject({ lastError: expect.stringMatching(new RegExp(`^${error} at `)) });
  });

  test('is out for three seconds when nothing says how long, whatever a 5xx asks for', async () => {
    const members = [await member('bad'), await member('good')];
    const [bad] = members;
    bad?.server.server.removeAllListeners('request');
    bad?.server.server.on('request', (_request, response) => {
      response.writeHead(500, { 'retry-after': '3600' }).end('bad');
    });
    const { tell, admin } = await running(serviceConfig(members, { policies: '{health: {eviction: {}}}' }));
    await eventually('it is out', async () => {
      await tell();
      return 'bad' in (await endpoints(admin)).rejected;
    });
    expect((await endpoints(admin)).rejected['bad']?.info).toMatchObject({
      evictedUntil: expect.stringMatching(/^[23](\.\d+)?s$/),
    });
  });

  test('is not blamed for a client that leaves', async () => {
    const only = await member('only');
    only.hang = true;
    const { port, admin, logged } = await running(serviceConfig([only], { policies: EVICT }));
    for (let n = 1; n <= 3; n++) {
      const controller = new AbortController();
      const asked = fetch(`http://127.0.0.1:${port(80)}/`, { signal: controller.signal }).catch(() => null);
      await eventually('the call arrived', () => only.calls === n);
      controller.abort();
      await asked;
    }
    await logged('client went away');
    await eventually('nothing is pending', async () => {
      return (await endpoints(admin)).active['only']?.info['pendingRequests'] === 0;
    });
    expect((await endpoints(admin)).active['only']?.info).toMatchObject({ consecutiveFailures: 0, totalRequests: 3 });
  });
});

test('weights share requests between backends', async () => {
  const [often, seldom] = [await member('often'), await member('seldom')];
  const { tell } = await running(`
gateways: {default: {port: 80}}
routes: [{backends: [{host: "127.0.0.1:${often.port}", weight: 19}, {host: "127.0.0.1:${seldom.port}", weight: 1}]}]`);
  const counts = await tally(tell, 100);
  expect(counts['often']).toBeGreaterThan(75);
});

describe('a host backend', () => {
  test('may be a unix socket', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gw-e2e-'));
    cleanup.add({ close: () => rm(folder, { recursive: true }) });
    const path = join(folder, 'app.sock');
    const server = createServer(echo).listen(path);
    cleanup.add({ close: () => server.close() });
    const { port, logged } = await running(
      `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "unix:${path}"}]}]`,
    );
    const answer = await ask(port(80), '/over/unix');
    expect(JSON.parse(answer.body)).toMatchObject({ url: '/over/unix', headers: { host: 'shop.test' } });
    await logged(`endpoint=${path}`);
  });

  withIPv6('on a machine with IPv6', () => {
    test('may be a literal in brackets', async () => {
      const server = createServer(echo).listen(0, '::1');
      await once(server, 'listening');
      cleanup.add({ close: () => (server.closeAllConnections(), server.close()) });
      const address = server.address();
      const number = typeof address === 'object' && address !== null ? address.port : 0;
      const { port, logged } = await running(
        `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "[::1]:${number}"}]}]`,
      );
      expect((await ask(port(80), '/')).status).toBe(200);
      await logged(`endpoint=[::1]:${number}`);
    });
  });

  test('that is named once shares its health with every route', async () => {
    const server = await member('shared');
    server.status = 500;
    const { port, admin } = await running(`
gateways: {default: {port: 80}}
backends: [{name: shared, host: "127.0.0.1:${server.port}", policies: ${EVICT}}]
routes:
- {matches: [{path: {pathPrefix: /a}}], backends: [{backend: shared}]}
- {matches: [{path: {pathPrefix: /b}}], backends: [{backend: /shared}]}`);
    await ask(port(80), '/a');
    await ask(port(80), '/b');
    const { rejected } = await endpoints(admin);
    expect(Object.values(rejected)).toMatchObject([{ info: { consecutiveFailures: 2, totalRequests: 2 } }]);
  });
});

describe('a dynamic backend', () => {
  const DYNAMIC = 'gateways: {default: {port: 80}}\nroutes: [{backends: [{dynamic: {}}]}]';

  test('goes where each request says', async () => {
    const [one, two] = [await member('one'), await member('two')];
    const { port } = await running(DYNAMIC);
    for (const { name, port: number } of [one, two, one]) {
      expect((await ask(port(80), '/', { headers: { host: `127.0.0.1:${number}` } })).body).toBe(name);
    }
  });

  test.each([
    ['a name that does not resolve', 'nowhere.invalid:80', 503],
    ['a port that nobody listens on', '127.0.0.1:1', 503],
  ])('asked for %s says so', async (_name, host, status) => {
    const { port } = await running(DYNAMIC);
    expect((await ask(port(80), '/', { headers: { host } })).status).toBe(status);
  });
});

describe('a gateway that knows where it runs', () => {
  test('prefers the endpoints of its zone, and goes further only when none of them is left', async () => {
    const near = await member('near');
    const far = await member('far');
    const text = serviceConfig([near, far], {
      balancer: '{routingPreferences: [Region, Zone], mode: Failover, healthPolicy: OnlyHealthy}',
      policies: '{health: {eviction: {duration: 1h, consecutiveFailures: 1}}}',
      workload: (index) => `, locality: {region: eu, zone: eu-${index + 1}, subzone: ""}`,
    });
    const gateway = cleanup.add(await startGateway(text, { env: { LOCALITY: 'eu/eu-1' } }));
    const tell = async (): Promise<string> => (await ask(gateway.port(80), '/')).body;
    expect(await tally(tell, 10)).toEqual({ near: 10 });
    near.status = 500;
    expect(await tally(tell, 5)).toEqual({ near: 1, far: 4 });
  });
});
