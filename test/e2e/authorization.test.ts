import tls, { type ConnectionOptions } from 'node:tls';

import { afterEach, describe, expect, test } from '@jest/globals';

import type { TraceEvent, TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import { fixture, fixturePath, RawClient, tcpUpstream } from './clients.ts';
import { ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function start(text: string) {
  const running = cleanup.add(await startGateway(text));
  return {
    ...running,
    ask: (path: string, headers: Record<string, string> = {}) => ask(running.port(80), path, { headers }),
  };
}

async function backend(): Promise<string> {
  return `127.0.0.1:${cleanup.add(await upstream(echo)).port}`;
}

/** The events of the next request. */
async function traceOf(admin: string, request: () => Promise<unknown>): Promise<TraceMessage[]> {
  const response = await fetch(`${admin}/debug/trace`);
  const [text] = await Promise.all([response.text(), request()]);
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  // `as`: the server writes what the protocol says.
  return lines.map((line) => (JSON.parse(line.slice(6)) as TraceEvent).message);
}

const outcomes = (messages: readonly TraceMessage[]) =>
  messages.flatMap((message) => (message.type === 'authorizationResult' ? [message] : []));

describe('rules', () => {
  const DENIED = { status: 403, body: 'authorization failed', headers: { 'x-gw-reason': 'Authorization' } };

  test('of the gateway, the route and the backend decide one after the other', async () => {
    const { ask, admin, logged } = await start(`
gateways: {default: {port: 80, listeners: [{name: main, protocol: HTTP, authorization: {rules: [{deny: 'request.headers["x-at"] == "gateway"'}]}}]}}
routes:
- name: r1
  policies: {authorization: {rules: [{deny: 'request.headers["x-at"] == "route"'}, 'request.method == "GET"']}}
  backends:
  - host: ${await backend()}
    policies: {authorization: {rules: [{deny: 'request.headers["x-at"] == "backend"'}]}}
`);
    expect((await ask('/', { 'x-at': 'nowhere' })).status).toBe(200);
    for (const at of ['gateway', 'route', 'backend']) expect(await ask('/', { 'x-at': at })).toMatchObject(DENIED);
    await logged('Authorization', '403');
    const seen = outcomes(await traceOf(admin, () => ask('/', { 'x-at': 'backend' })));
    expect(seen.map(({ result, rules }) => [result, ...rules.map(({ source }) => source)])).toEqual([
      ['allow', 'listener default/default/main'],
      ['allow', 'route default/r1', 'route default/r1'],
      ['deny', 'route default/r1 backend 0'],
    ]);
  });

  test('of everything that is attached to a route count together', async () => {
    const { ask, admin } = await start(`
gateways: {default: {port: 80}}
routes:
- name: r1
  policies: {authorization: {rules: ['request.path == "/own"']}}
  backends: [{host: ${await backend()}}]
policies:
- name: {name: everywhere, namespace: default}
  target: {gateway: {gatewayName: default, gatewayNamespace: default}}
  policy: {authorization: {rules: [{allow: 'request.path == "/gateway"'}, {require: '!("x-bad" in request.headers)'}]}}
- name: {name: here, namespace: default}
  target: {route: {name: r1, namespace: default}}
  policy: {authorization: {rules: [{deny: '"x-worse" in request.headers'}]}}
`);
    expect((await ask('/own')).status).toBe(200);
    expect((await ask('/gateway')).status).toBe(200);
    expect((await ask('/other')).status).toBe(403);
    expect((await ask('/own', { 'x-bad': '1' })).status).toBe(403);
    expect((await ask('/own', { 'x-worse': '1' })).status).toBe(403);
    const [outcome] = outcomes(await traceOf(admin, () => ask('/own')));
    expect(outcome).toEqual({
      type: 'authorizationResult',
      result: 'allow',
      rules: [
        {
          name: 'request.path == "/gateway"',
          matched: false,
          mode: 'allow',
          source: 'policy default/everywhere on gateway default/default',
        },
        {
          name: '!("x-bad" in request.headers)',
          matched: true,
          mode: 'require',
          source: 'policy default/everywhere on gateway default/default',
        },
        {
          name: '"x-worse" in request.headers',
          matched: false,
          mode: 'deny',
          source: 'policy default/here on route default/r1',
        },
        { name: 'request.path == "/own"', matched: true, mode: 'allow', source: 'route default/r1' },
      ],
    });
  });

  test('that fail are false: a claim that is missing allows nobody and denies nobody', async () => {
    const { ask } = await start(`
gateways: {default: {port: 80}}
routes:
- {name: allow, matches: [{path: {exact: /allow}}], policies: {authorization: {rules: ['jwt.sub == "ann"']}, directResponse: {status: 200}}}
- {name: require, matches: [{path: {exact: /require}}], policies: {authorization: {rules: [{require: 'jwt.sub != "eve"'}]}, directResponse: {status: 200}}}
- {name: deny, matches: [{path: {exact: /deny}}], policies: {authorization: {rules: [{deny: 'jwt.sub == "eve"'}]}, directResponse: {status: 200}}}
- {name: text, matches: [{path: {exact: /text}}], policies: {authorization: {rules: ['"true"']}, directResponse: {status: 200}}}
- {name: none, matches: [{path: {exact: /none}}], policies: {authorization: {rules: []}, directResponse: {status: 200}}}
`);
    const statuses = await Promise.all(
      ['/allow', '/require', '/deny', '/text', '/none'].map(async (path) => (await ask(path)).status),
    );
    expect(statuses).toEqual([403, 403, 200, 403, 200]);
  });

  test('that do not parse are refused before anything starts', async () => {
    await expect(
      start(`gateways: {default: {port: 80}}\nroutes: [{policies: {authorization: {rules: ['request.path ==']}}}]`),
    ).rejects.toThrow(/request\.path ==/);
  });

  test('on bodies see the whole of them, and nothing of what is too large to be held', async () => {
    const running = await start(`
gateways: {default: {port: 80}}
routes:
- policies: {authorization: {rules: ['string(request.body) == "open sesame"']}}
  backends: [{host: ${await backend()}}]
`);
    const post = (body: string) => ask(running.port(80), '/', { method: 'POST', body });
    expect((await post('open sesame')).status).toBe(200);
    expect((await post('open wheat')).status).toBe(403);
    expect((await post('x'.repeat(3 * 1024 * 1024))).status).toBe(403);
  });
});

describe('rules about connections', () => {
  const network = (rule: string) => `frontendPolicies: {networkAuthorization: {rules: [${rule}]}}\n`;
  const plain = `gateways: {default: {port: 80}}\nroutes: [{policies: {directResponse: {status: 200, body: hello}}}]\n`;
  const secure = `
gateways:
  default:
    port: 443
    listeners:
    - {name: a, protocol: HTTPS, hostname: a.example.com, tls: {cert: ${fixturePath('a.crt')}, key: ${fixturePath('a.key')}}}
    - {name: mutual, protocol: HTTPS, hostname: mutual.wild.example.com, tls: {cert: ${fixturePath('wildcard.crt')}, key: ${fixturePath('wildcard.key')}, root: ${fixturePath('client-ca.crt')}}}
routes: [{gateways: [default/a, default/mutual], policies: {directResponse: {status: 200, body: hello}}}]
`;

  async function overTls(port: number, options: ConnectionOptions): Promise<string> {
    const socket = tls.connect({ host: '127.0.0.1', port, ca: fixture('ca.crt'), ...options });
    cleanup.add({ close: () => socket.destroy() });
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => {});
    socket.write(`GET / HTTP/1.1\r\nHost: ${options.servername}\r\nConnection: close\r\n\r\n`);
    await new Promise((resolve) => socket.once('close', resolve));
    return text;
  }

  test('close those that are denied without a word, and tell the log', async () => {
    const { port, logged } = await start(
      `config: {logging: {level: debug}, adminAddr: "127.0.0.1:1", statsAddr: "127.0.0.1:1", readinessAddr: "127.0.0.1:1"}\n${network(`{deny: 'source.address == "127.0.0.1"'}`)}${plain}`,
    );
    const client = new RawClient(port(80)).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.closed;
    expect(client.text).toBe('');
    expect(await logged('connection denied')).toContain('source.address == ');
    await logged('connection refused', 'denied');
  });

  test('ask once for all requests of those that are allowed', async () => {
    const { port } = await start(`${network(`'cidr("127.0.0.0/8").containsIP(source.address)'`)}${plain}`);
    const client = cleanup.add(new RawClient(port(80)).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2)));
    await client.until((text) => text.split('hello').length === 3);
  });

  test('see the client that the PROXY protocol names', async () => {
    const { port } = await start(
      `${network(`{deny: 'source.address == "192.0.2.7"'}`).replace('{network', '{proxyProtocol: {version: v1}, network')}${plain}`,
    );
    const from = (address: string) =>
      new RawClient(port(80)).write(
        `PROXY TCP4 ${address} 192.0.2.1 5000 80\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      );
    const [denied, allowed] = [from('192.0.2.7'), from('192.0.2.8')];
    await Promise.all([denied.closed, allowed.closed]);
    expect(denied.text).toBe('');
    expect(allowed.text).toContain('hello');
  });

  test('see the server name and the certificate of a client', async () => {
    const { port } = await start(
      `${network(`'destination.hostname == "a.example.com"', 'has(source.subjectCn) && source.subjectCn != ""'`)}${secure}`,
    );
    const certificate = { cert: fixture('client.crt'), key: fixture('client.key') };
    expect(await overTls(port(443), { servername: 'a.example.com' })).toContain('hello');
    expect(await overTls(port(443), { servername: 'mutual.wild.example.com', ...certificate })).toContain('hello');
    const { port: closed } = await start(`${network(`{deny: 'destination.hostname == "a.example.com"'}`)}${secure}`);
    expect(await overTls(closed(443), { servername: 'a.example.com' })).toBe('');
  });

  test('decide about TCP, and about TLS that is passed through, by its server name', async () => {
    const server = cleanup.add(await tcpUpstream((socket) => socket.pipe(socket)));
    const backends = `backends: [{host: "127.0.0.1:${server.port}"}]`;
    const tcp = `gateways: {default: {port: 90, listeners: [{name: t, protocol: TCP}]}}\ntcpRoutes: [{${backends}}]\n`;
    const denied = await start(`${network(`'source.port == 1u'`)}${tcp}`);
    const client = new RawClient(denied.port(90)).write('hello');
    await client.closed;
    expect(client.text).toBe('');
    const allowed = await start(`${network(`'source.port > 1u'`)}${tcp}`);
    const other = cleanup.add(new RawClient(allowed.port(90)).write('hello'));
    await other.until((text) => text === 'hello');
    const passed = await start(
      `${network(`{deny: 'destination.hostname == "a.example.com"'}`)}${tcp.replace('protocol: TCP', 'protocol: TLS')}`,
    );
    const opened = server.opened();
    expect(await overTls(passed.port(90), { servername: 'a.example.com' })).toBe('');
    expect(server.opened()).toBe(opened);
  });

  test('cannot be about requests', async () => {
    await expect(start(`${network(`{deny: 'request.path == "/"'}`)}${plain}`)).rejects.toThrow(
      'a connection has no `request`',
    );
  });
});
