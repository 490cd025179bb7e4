import { createServer, connect } from 'node:net';
import { once } from 'node:events';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually } from './clients.ts';
import { type Ask, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function gatewayWith(rest: string) {
  const running = cleanup.add(await startGateway(`gateways: {default: {port: 80}}\n${rest}`));
  return { ...running, ask: (path: string, options?: Ask) => ask(running.port(80), path, options) };
}

describe('a direct response', () => {
  test('computes its body and headers from the request, collected body included', async () => {
    const { ask } = await gatewayWith(`
routes:
- policies:
    directResponse:
      status: 200
      bodyExpression: '{"path": request.path, "size": size(request.body)}'
      headers: {content-type: '"application/json"', x-none: 'request.headers["none"]'}`);
    const answer = await ask('/a?b', { method: 'POST', body: 'hello' });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers).not.toHaveProperty('x-none');
    expect(JSON.parse(answer.body)).toEqual({ path: '/a', size: 5 });
  });

  test('is 500 when its body cannot be computed', async () => {
    const { ask } = await gatewayWith(
      `routes: [{policies: {directResponse: {status: 200, bodyExpression: 'request.headers["none"]'}}}]`,
    );
    const answer = await ask('/');
    expect(answer).toMatchObject({ status: 500, headers: { 'x-gw-reason': 'Internal' } });
    expect(answer.body).toContain('failed to apply filters');
  });

  test('is the one whose condition holds, and none lets the request go on', async () => {
    const server = cleanup.add(await upstream(echo));
    const { ask } = await gatewayWith(`
routes:
- backends: [{host: "127.0.0.1:${server.port}"}]
  policies:
    directResponse:
      conditional:
      - {condition: 'request.path == "/teapot"', status: 418, body: short}
      - {condition: 'request.headers["x-debug"] == "1"', status: 200, bodyExpression: 'request.method'}`);
    expect(await ask('/teapot')).toMatchObject({ status: 418, body: 'short' });
    expect(await ask('/', { headers: { 'x-debug': '1' } })).toMatchObject({ status: 200, body: 'GET' });
    expect(JSON.parse((await ask('/other')).body)).toMatchObject({ url: '/other' });
  });
});

describe('a delay by expression', () => {
  test('beyond the request timeout is 504, and a failing one does not wait', async () => {
    const { ask } = await gatewayWith(`
routes:
- policies:
    timeout: {requestTimeout: 50ms}
    delay: {duration: 'request.headers["x-wait"] == "long" ? duration("1h") : int(request.headers["x-wait"])'}
    directResponse: {status: 204}`);
    expect(await ask('/', { headers: { 'x-wait': 'long' } })).toMatchObject({ status: 504, body: 'request timeout' });
    expect((await ask('/', { headers: { 'x-wait': 'x' } })).status).toBe(204);
    expect((await ask('/', { headers: { 'x-wait': '1' } })).status).toBe(204);
  });
});

describe('retries by expression', () => {
  async function flaky(retry: string) {
    const seen: (string | undefined)[] = [];
    const server = cleanup.add(
      await upstream((request, response) => {
        seen.push(request.headers['x-retry-attempt']?.toString());
        if (seen.length < 3) response.setHeader('x-busy', '1');
        response.end(String(seen.length));
      }),
    );
    const gateway = await gatewayWith(`
routes:
- backends: [{host: "127.0.0.1:${server.port}"}]
  policies: {retry: ${retry}}`);
    return { ...gateway, seen };
  }

  test('happen while the condition holds for the response, whatever its status', async () => {
    const { ask, seen } = await flaky(`{attempts: 5, codes: [], condition: 'response.headers["x-busy"] == "1"'}`);
    expect(await ask('/', { method: 'POST', body: 'b' })).toMatchObject({ status: 200, body: '3' });
    expect(seen).toEqual([undefined, '1', '2']);
  });

  test('do not happen where the precondition does not hold, or fails', async () => {
    for (const precondition of ['request.method == "GET"', 'request.headers["none"] == "x"']) {
      const { ask, seen } = await flaky(`{attempts: 5, codes: [200], precondition: '${precondition}'}`);
      expect((await ask('/', { method: 'POST', body: 'b' })).status).toBe(200);
      expect(seen).toEqual([undefined]);
    }
  });
});

interface Replica {
  readonly port: number;
}

/** A service whose endpoints answer with their names. */
async function serviceOf(count: number, listener: (name: string) => Parameters<typeof upstream>[0]) {
  const replicas: Replica[] = [];
  for (let i = 0; i < count; i++) replicas.push(cleanup.add(await upstream(listener(`e${i}`))));
  const workloads = replicas.map(({ port }, i) =>
    JSON.stringify({
      uid: `e${i}`,
      name: `e${i}`,
      namespace: 'default',
      workloadIps: ['127.0.0.1'],
      services: { 'default/svc.test': { 80: port } },
    }),
  );
  return `
services: [{name: svc, namespace: default, hostname: svc.test, vips: [], ports: {80: 8080}}]
workloads: [${workloads.join(', ')}]`;
}

describe('session affinity', () => {
  test('keeps equal values on one endpoint, and balances what has none', async () => {
    const service = await serviceOf(4, (name) => (_request, response) => response.end(name));
    const { ask } = await gatewayWith(`${service}
routes:
- backends:
  - service: {name: default/svc.test, port: 80}
    policies: {sessionAffinity: {source: 'request.headers["x-user"]'}}`);
    const homes = new Map<string, Set<string>>();
    for (let i = 0; i < 60; i++) {
      const user = `user-${i % 12}`;
      const { body } = await ask('/', { headers: { 'x-user': user } });
      homes.set(user, (homes.get(user) ?? new Set()).add(body));
    }
    expect([...homes.values()].every((names) => names.size === 1)).toBe(true);
    expect(new Set([...homes.values()].flatMap((names) => [...names])).size).toBeGreaterThan(1);
    const balanced = new Set<string>();
    for (let i = 0; i < 60; i++) balanced.add((await ask('/')).body);
    expect(balanced.size).toBeGreaterThan(1);
  });
});

describe('health by expression', () => {
  test('takes out an endpoint that says it is too busy, for as long as it says, and none by its status', async () => {
    const service = await serviceOf(2, (name) => (_request, response) => {
      if (name === 'e0') response.writeHead(429, { 'retry-after': '3600' });
      else response.writeHead(500);
      response.end(name);
    });
    const running = await gatewayWith(`${service}
routes:
- backends:
  - service: {name: default/svc.test, port: 80}
    policies: {health: {unhealthyExpression: 'response.code == 429', eviction: {}}}
  policies: {transformations: {response: {set: {':status': '200'}}}}`);
    await eventually('the busy endpoint is out', async () => {
      const { body } = await running.ask('/');
      const dump = await (await fetch(`${running.admin}/config_dump`)).text();
      return body === 'e1' && /"rejected":\s*\{\s*"e0"/.test(dump);
    });
    for (let i = 0; i < 20; i++) expect((await running.ask('/')).body).toBe('e1');
  });
});

describe('a dynamic backend with a target', () => {
  test('dials what the expression says, and answers 503 when it says nothing', async () => {
    const a = cleanup.add(await upstream((_request, response) => response.end('a')));
    const b = cleanup.add(await upstream((_request, response) => response.end('b')));
    const { ask } = await gatewayWith(`
routes:
- backends: [{dynamic: {target: '"127.0.0.1:" + request.headers["x-port"]'}}]`);
    expect((await ask('/', { headers: { 'x-port': String(a.port) } })).body).toBe('a');
    expect((await ask('/', { headers: { 'x-port': String(b.port) } })).body).toBe('b');
    expect(await ask('/')).toMatchObject({ status: 503, headers: { 'x-gw-reason': 'NoHealthyBackend' } });
    expect(await ask('/', { headers: { 'x-port': '99999' } })).toMatchObject({ status: 503 });
    expect(await ask('/', { headers: { 'x-port': '1/../x' } })).toMatchObject({ status: 503 });
  });

  test('of a TCP route sees the connection', async () => {
    const server = createServer((socket) => socket.end('tcp says hello'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanup.add({ close: () => new Promise<void>((resolve) => server.close(() => resolve())) });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const running = cleanup.add(
      await startGateway(`
gateways: {default: {port: 90, protocol: TCP}}
tcpRoutes:
- backends: [{dynamic: {target: 'string(source.address) + ":${port}"'}}]`),
    );
    const socket = connect(running.port(90), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    await once(socket, 'close');
    expect(text).toBe('tcp says hello');
  });
});

describe('a computed authority', () => {
  test('is what a backend with a name gets', async () => {
    const server = cleanup.add(await upstream(echo));
    const { ask } = await gatewayWith(`
routes:
- backends: [{host: "localhost:${server.port}"}]
  matches: [{path: {exact: /set}}]
  policies: {transformations: {request: {set: {':authority': '"chosen.test"'}}}}
- backends: [{host: "localhost:${server.port}"}]`);
    expect(JSON.parse((await ask('/set')).body).headers.host).toBe('chosen.test');
    expect(JSON.parse((await ask('/')).body).headers.host).toBe(`localhost:${server.port}`);
  });
});
