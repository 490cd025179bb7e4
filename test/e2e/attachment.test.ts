import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:tls';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { fixture, fixturePath, RawClient } from './clients.ts';
import { type Ask, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function start(text: string) {
  const running = cleanup.add(await startGateway(text));
  return {
    ...running,
    ask: (path: string, options: Ask = {}) => ask(running.port(80), path, options),
  };
}

async function backend(): Promise<string> {
  return `127.0.0.1:${cleanup.add(await upstream(echo)).port}`;
}

/** An entry of `policies`. */
const entry = (name: string, target: string, policy: string, phase = 'route'): string =>
  `- {name: {name: ${name}, namespace: default}, target: {${target}}, phase: ${phase}, policy: {${policy}}}\n`;

const GATEWAY = 'gateway: {gatewayName: default, gatewayNamespace: default}';
const LISTENER = 'gateway: {gatewayName: default, gatewayNamespace: default, listenerName: default}';
const ROUTE = 'route: {name: r, namespace: default}';
const RULE = 'route: {name: r, namespace: default, ruleName: one}';
const stamp = (who: string): string => `responseHeaderModifier: {set: {x-from: ${who}}}`;

describe('policies of several levels', () => {
  // From the least to the most specific.
  const levels = [
    entry('gateway', GATEWAY, stamp('gateway')),
    entry('listener', LISTENER, stamp('listener')),
    entry('route', ROUTE, stamp('route')),
    entry('rule', RULE, stamp('rule')),
  ];
  const routes = (own = ''): string =>
    `gateways: {default: {port: 80}}\nroutes: [{name: r, ruleName: one, policies: {${own} directResponse: {status: 200}}}]\npolicies:\n`;

  test.each(['gateway', 'listener', 'route', 'rule'].map((name, index): [string, number] => [name, index]))(
    'of the route phase: %s beats what is less specific, whatever the order of the file',
    async (name, index) => {
      const gateway = await start(
        routes() +
          levels
            .slice(0, index + 1)
            .toReversed()
            .join(''),
      );
      expect((await gateway.ask('/')).headers['x-from']).toBe(name);
    },
  );

  test('of the route phase: what the route says itself beats them all', async () => {
    const gateway = await start(routes(`${stamp('inline')},`) + levels.join(''));
    expect((await gateway.ask('/')).headers['x-from']).toBe('inline');
  });

  test('follow the chain of delegation: the child beats the parent, and inherits the rest', async () => {
    const gateway = await start(`
gateways: {default: {port: 80}}
routeGroups:
- name: g
  routes:
  - {name: own, matches: [{path: {exact: /own}}], policies: {${stamp('child')}, directResponse: {status: 200}}}
  - {name: bare, matches: [{path: {exact: /bare}}], policies: {directResponse: {status: 200}}}
  - {name: aimed, matches: [{path: {exact: /aimed}}], policies: {directResponse: {status: 200}}}
routes: [{name: r, policies: {${stamp('parent')}}, backends: [{routeGroup: g}]}]
policies:
${entry('child', 'route: {name: aimed, namespace: default}', stamp('aimed'))}`);
    const from = async (path: string) => (await gateway.ask(path)).headers['x-from'];
    expect(await from('/own')).toBe('child');
    expect(await from('/bare')).toBe('parent');
    // Inline policies of the whole chain beat those that are attached.
    expect(await from('/aimed')).toBe('parent');
  });

  test('of the route phase: the buffer that is least specific holds', async () => {
    const limit = (bytes: number) => `buffer: {request: {maxBytes: ${bytes}}}`;
    const gateway = await start(
      `gateways: {default: {port: 80}}\nroutes: [{name: r, policies: {${limit(1000)}}, backends: [{host: "${await backend()}"}]}]\npolicies:\n${entry('g', GATEWAY, limit(10))}`,
    );
    const post = async (length: number) =>
      (await gateway.ask('/', { method: 'POST', body: 'x'.repeat(length) })).status;
    expect(await post(10)).toBe(200);
    expect(await post(11)).toBe(413);
  });

  test('of the gateway phase: the listener beats the gateway, and what is written on it beats both', async () => {
    const allow = (origin: string) => `cors: {allowOrigins: ["https://${origin}.test"]}`;
    const attached =
      entry('g', GATEWAY, allow('gateway'), 'gateway') + entry('l', LISTENER, allow('listener'), 'gateway');
    const allowed = async (text: string) => {
      const gateway = await start(text);
      const found = await Promise.all(
        ['gateway', 'listener', 'inline'].map(async (origin) => {
          const { headers } = await gateway.ask('/', { headers: { origin: `https://${origin}.test` } });
          return headers['access-control-allow-origin'] === undefined ? [] : [origin];
        }),
      );
      return found.flat();
    };
    const answer = 'routes: [{policies: {directResponse: {status: 200}}}]\npolicies:\n';
    expect(await allowed(`gateways: {default: {port: 80}}\n${answer}${attached}`)).toEqual(['listener']);
    expect(await allowed(`gateways: {default: {port: 80, ${allow('inline')}}}\n${answer}${attached}`)).toEqual([
      'inline',
    ]);
  });

  test('of the gateway phase: rules add up, and those of the route phase decide apart from them', async () => {
    const rule = (name: string) => `authorization: {rules: [{deny: '"x-${name}" in request.headers'}]}`;
    const gateway = await start(`
gateways: {default: {port: 80, ${rule('inline')}}}
routes: [{name: r, policies: {${rule('route')}, directResponse: {status: 200}}}]
policies:
${entry('g', GATEWAY, rule('gateway'), 'gateway')}${entry('l', LISTENER, rule('listener'), 'gateway')}${entry('p', GATEWAY, rule('phase'))}`);
    const status = async (name: string) => (await gateway.ask('/', { headers: { [`x-${name}`]: '1' } })).status;
    expect(await status('nobody')).toBe(200);
    for (const name of ['inline', 'gateway', 'listener', 'route', 'phase']) expect(await status(name)).toBe(403);
  });

  test('about a backend: reference, named backend, route, backend target, listener, gateway', async () => {
    const header = (who: string): string => `requestHeaderModifier: {set: {x-to: ${who}}}`;
    const host = await backend();
    const seen = async (reference: string, named: string, attached: string) => {
      const gateway = await start(`
gateways: {default: {port: 80}}
backends: [{name: b, host: "${host}"${named === '' ? '' : `, policies: {${header(named)}}`}}]
routes: [{name: r, backends: [{backend: b${reference === '' ? '' : `, policies: {${header(reference)}}`}}]}]
policies:
${attached}`);
      const { headers } = JSON.parse((await gateway.ask('/')).body) as { headers: Record<string, string> };
      return headers['x-to'];
    };
    const aimed = entry('b', 'backend: {backend: {name: b, namespace: default}}', header('target'));
    expect(await seen('reference', 'named', aimed)).toBe('reference');
    expect(await seen('', 'named', aimed)).toBe('named');
    expect(await seen('', '', aimed)).toBe('target');
  });
});

describe('policies about a service', () => {
  test('hold for its requests; those of one port beat those of all', async () => {
    const host = await backend();
    const [address = '', port = ''] = host.split(':');
    const header = (who: string): string => `requestHeaderModifier: {set: {x-to: ${who}}}`;
    const gateway = await start(`
gateways: {default: {port: 80}}
services: [{name: s, namespace: ns, hostname: s.ns.svc, ports: {81: ${port}, 82: ${port}}}]
workloads: [{uid: w, name: w, namespace: ns, workloadIps: ["${address}"], services: {ns/s.ns.svc: {81: ${port}, 82: ${port}}}}]
routes:
- {name: all, matches: [{path: {exact: /all}}], backends: [{service: {name: ns/s.ns.svc, port: 81}}]}
- {name: port, matches: [{path: {exact: /port}}], backends: [{service: {name: ns/s.ns.svc, port: 82}}]}
policies:
${entry('a', 'backend: {service: {hostname: s.ns.svc, namespace: ns}}', header('all'))}${entry('b', 'backend: {service: {hostname: s.ns.svc, namespace: ns, port: 82}}', header('port'))}`);
    const seen = async (path: string) =>
      (JSON.parse((await gateway.ask(path)).body) as { headers: Record<string, string> }).headers['x-to'];
    expect(await seen('/all')).toBe('all');
    expect(await seen('/port')).toBe('port');
  });
});

describe('policies about connections of TCP routes', () => {
  test('are merged as those of HTTP routes are', async () => {
    const server = createTlsServer({ cert: fixture('a.crt'), key: fixture('a.key') }, (socket) => socket.pipe(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanup.add(server);
    // `as`: a TCP server that listens has an address with a port.
    const { port } = server.address() as AddressInfo;
    const tls = `backendTLS: {root: ${fixturePath('ca.crt')}, hostname: a.example.com}`;
    const gateway = await start(`
gateways: {default: {port: 90, listeners: [{name: t, protocol: TCP}]}}
tcpRoutes: [{name: t, backends: [{host: "127.0.0.1:${port}"}]}]
policies:
${entry('tls', GATEWAY, tls)}`);
    const client = cleanup.add(new RawClient(gateway.port(90)).write('hello'));
    expect(await client.until((text) => text.includes('hello'))).toBe('hello');
  });
});
