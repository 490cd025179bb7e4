import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, RawClient } from './clients.ts';
import { type Ask, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Decide = (asked: Asked, response: ServerResponse, count: number) => void;

/** An authorization service that notes what it was asked. */
async function service(decide: Decide = (_asked, response) => response.end()) {
  const asked: Asked[] = [];
  const server = await upstream((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      asked.push(one);
      decide(one, response, asked.length);
    });
  });
  return cleanup.add({ asked, port: server.port, close: () => server.close() });
}

interface Setup {
  /** What stands under `protocol.http`. */
  readonly http?: string;
  /** Further keys of the policy. */
  readonly more?: string;
  /** Further policies of the route. */
  readonly policies?: string;
  /** The authorization service: `host` of the policy. */
  readonly host: string | number;
}

function policy({ http = '{}', more = '', host }: Setup): string {
  const target = typeof host === 'number' ? `127.0.0.1:${host}` : host;
  return `{host: "${target}", protocol: {http: ${http}}${more === '' ? '' : `, ${more}`}}`;
}

/** A gateway whose only route asks the service, in front of an upstream that echoes. */
async function gatewayWith(setup: Setup) {
  const backend = cleanup.add(await upstream(echo));
  const running = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
routes:
- policies: {extAuthz: ${policy(setup)}${setup.policies === undefined ? '' : `, ${setup.policies}`}}
  backends: [{host: "127.0.0.1:${backend.port}"}]
`),
  );
  return { ...running, backend, ask: (path: string, options?: Ask) => ask(running.port(80), path, options) };
}

describe('an authorization service that is asked over HTTP', () => {
  test('sees method, path and the authorization of the request, and nothing else', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayWith({ host: port });
    const headers = { authorization: 'Bearer t', cookie: 'a=1', 'x-team': 'red' };
    const answer = await gateway.ask('/a%20b?c=d', { method: 'PUT', headers, body: 'hello' });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ method: 'PUT', url: '/a%20b?c=d', body: 'hello' });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ method: 'PUT', url: '/a%20b?c=d', body: '' });
    const { host, ...rest } = asked[0]?.headers ?? {};
    expect(host).toBe(`127.0.0.1:${port}`);
    expect(rest).toEqual({ authorization: 'Bearer t', 'content-length': '0' });
  });

  test('sees the headers that are listed, the first value of each, and only those', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayWith({
      host: port,
      http: '{addRequestHeaders: {x-path: "request.path", x-port: "source.port", x-Team: "\'blue\'"}}',
      more: 'includeRequestHeaders: [X-Team, x-many, x-port, ":authority", content-length]',
    });
    const headers = { authorization: 'Bearer t', 'x-team': 'red', 'x-many': ['1', '2'], 'x-port': 'client' };
    await gateway.ask('/p?q', { headers });
    // A value that is no string takes the header away.
    expect(asked[0]?.headers).toMatchObject({ host: 'shop.test', 'x-team': 'blue', 'x-many': '1', 'x-path': '/p' });
    expect(asked[0]?.headers).not.toHaveProperty('authorization');
    expect(asked[0]?.headers).not.toHaveProperty('x-port');
  });

  test('is asked at the path and with the body that expressions give', async () => {
    const { asked, port } = await service();
    const http = `{path: "'/check?for=' + request.path", body: "{'method': request.method}"}`;
    const gateway = await gatewayWith({ host: port, http });
    await gateway.ask('/a');
    expect(asked[0]).toMatchObject({ url: '/check?for=/a', body: '{"method":"GET"}' });
    expect(asked[0]?.headers).not.toHaveProperty('x-envoy-auth-partial-body');
  });

  test.each([
    ['path', `{path: "request.headers['x-none']"}`],
    ['path', `{path: "'no slash'"}`],
    ['path', `{path: "'/a b'"}`],
    ['body', `{body: "request.headers['x-none']"}`],
  ])('is not asked when the %s is not to be had, and the request is refused', async (_part, http) => {
    const { asked, port } = await service();
    const gateway = await gatewayWith({ host: port, http, more: 'failureMode: allow' });
    const answer = await gateway.ask('/');
    expect(answer).toMatchObject({ status: 403, body: 'external authorization failed' });
    expect(asked).toHaveLength(0);
  });

  test('gives headers to the backend, in the place of those of the client', async () => {
    const { port } = await service((_asked, response) => {
      response.setHeader('x-user', 'alice');
      response.setHeader('x-group', ['a', 'b']);
      response.setHeader('x-secret', 'no');
      response.end('ok');
    });
    const gateway = await gatewayWith({
      host: port,
      http: '{includeResponseHeaders: [X-User, x-group, content-length]}',
    });
    const { headers } = JSON.parse((await gateway.ask('/', { headers: { 'x-user': 'mallory' } })).body);
    expect(headers).toMatchObject({ 'x-user': 'alice', 'x-group': 'a, b' });
    expect(headers).not.toHaveProperty('x-secret');
    expect(headers).not.toHaveProperty('content-length');
  });

  test('leaves values for the rules that run after it', async () => {
    const { port } = await service((asked, response) => {
      response.setHeader('x-tier', asked.headers.authorization ?? '');
      response.end('{"roles": ["admin", "dev"]}');
    });
    const gateway = await gatewayWith({
      host: port,
      http: `{metadata: {tier: "response.headers['x-tier']", roles: "json(response.body).roles", none: "response.headers['x-none']"}}`,
      policies: `authorization: {rules: [{require: "extauthz.tier == 'gold'"}, {require: "'admin' in extauthz.roles"}, {require: "!has(extauthz.none)"}]}`,
    });
    expect((await gateway.ask('/', { headers: { authorization: 'gold' } })).status).toBe(200);
    expect(await gateway.ask('/', { headers: { authorization: 'tin' } })).toMatchObject({
      status: 403,
      body: 'authorization failed',
    });
  });

  test.each([401, 403, 404, 429, 500, 503, 302])(
    'that answers %i is passed on to the client as it is',
    async (status) => {
      const { port } = await service((_asked, response) => {
        response.writeHead(status, { 'content-type': 'text/x-no', 'x-why': 'because', 'set-cookie': ['a=1', 'b=2'] });
        response.end('go away');
      });
      const gateway = await gatewayWith({ host: port });
      const answer = await gateway.ask('/');
      expect(answer).toMatchObject({ status, body: 'go away' });
      expect(answer.headers).toMatchObject({
        'content-type': 'text/x-no',
        'x-why': 'because',
        'set-cookie': ['a=1', 'b=2'],
        'x-gw-reason': 'ExtAuth',
      });
      await gateway.logged('reason=ExtAuth', `http.status=${status}`);
    },
  );

  test.each([201, 204, 206])('that answers %i has not allowed anything', async (status) => {
    const { port } = await service((_asked, response) => response.writeHead(status).end());
    const gateway = await gatewayWith({ host: port });
    expect(await gateway.ask('/')).toMatchObject({ status: 403, body: 'external authorization failed' });
  });

  test('sends clients to log in when it is configured so', async () => {
    const { port } = await service((asked, response) =>
      response.writeHead(Number(asked.headers.authorization)).end('login first'),
    );
    const gateway = await gatewayWith({ host: port, http: `{redirect: "'https://login.test/?back=' + request.path"}` });
    for (const status of ['401', '403']) {
      const answer = await gateway.ask('/a', { headers: { authorization: status } });
      expect(answer).toMatchObject({ status: 302, body: '' });
      expect(answer.headers.location).toBe('https://login.test/?back=/a');
    }
    expect((await gateway.ask('/a', { headers: { authorization: '400' } })).status).toBe(400);
  });

  test('refuses when the place to log in is not to be had', async () => {
    const { port } = await service((_asked, response) => response.writeHead(401).end('login first'));
    const gateway = await gatewayWith({ host: port, http: `{redirect: "response.headers['x-login']"}` });
    expect(await gateway.ask('/')).toMatchObject({ status: 403, body: 'external authorization failed' });
  });

  test('tells gRPC clients in their own words', async () => {
    const { port } = await service((_asked, response) =>
      response.writeHead(401, { 'content-type': 'text/html', 'www-authenticate': 'Basic' }).end('<p>no'),
    );
    const gateway = await gatewayWith({ host: port });
    const answer = await gateway.ask('/s.S/M', { method: 'POST', headers: { 'content-type': 'application/grpc' } });
    expect(answer).toMatchObject({ status: 200, body: '' });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/grpc',
      'grpc-status': '16',
      'www-authenticate': 'Basic',
    });
  });
});

describe('the body of a request', () => {
  const big = 'x'.repeat(3000);

  test('goes to the service and to the backend', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayWith({ host: port, more: 'includeRequestBody: {maxRequestBytes: 3000}' });
    const headers = { 'transfer-encoding': 'chunked' };
    const answer = await gateway.ask('/', { method: 'POST', headers, body: big });
    expect(JSON.parse(answer.body).body).toBe(big);
    expect(asked[0]?.body).toBe(big);
    expect(asked[0]?.headers['x-envoy-auth-partial-body']).toBe('false');
  });

  test.each([
    ['of a known length', {}],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('that is too large and %s is refused before anybody is asked', async (_how, headers) => {
    const { asked, port } = await service();
    const gateway = await gatewayWith({
      host: port,
      more: 'includeRequestBody: {maxRequestBytes: 2999}, failureMode: allow',
    });
    const answer = await gateway.ask('/', { method: 'POST', headers, body: big });
    expect(answer.status).toBe(413);
    expect(answer.headers['x-gw-reason']).toBe('ExtAuth');
    expect(asked).toHaveLength(0);
    // The next request finds a gateway in order.
    expect((await gateway.ask('/')).status).toBe(200);
  });

  test.each([
    ['of a known length', {}],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('goes in part when it is %s, larger, and that is asked for', async (_how, headers) => {
    const { asked, port } = await service();
    const more = 'includeRequestBody: {maxRequestBytes: 10, allowPartialMessage: true}';
    const gateway = await gatewayWith({ host: port, more });
    const answer = await gateway.ask('/', { method: 'POST', headers, body: big });
    expect(JSON.parse(answer.body).body).toBe(big);
    expect(asked[0]?.body).toBe(big.slice(0, 10));
    expect(asked[0]?.headers['x-envoy-auth-partial-body']).toBe('true');
  });

  test('may come in drips, on both sides of the limit', async () => {
    const { asked, port } = await service();
    const more = 'includeRequestBody: {maxRequestBytes: 4, allowPartialMessage: true}';
    const gateway = await gatewayWith({ host: port, more });
    const client = new RawClient(gateway.port(80));
    client.write('POST / HTTP/1.1\r\nhost: shop.test\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n');
    for (const chunk of ['ab', 'cd', 'e'])
      client.write(`1\r\n${chunk[0]}\r\n`.repeat(1)).write(`1\r\n${chunk[1] ?? '-'}\r\n`);
    await eventually('the question', () => asked.length === 1);
    client.write('1\r\nz\r\n0\r\n\r\n');
    expect(await client.until((text) => text.includes('"body"') && text.includes('}'))).toContain('"body":"abcde-z"');
    expect(asked[0]?.body).toBe('abcd');
  });

  test('that breaks off leaves nothing asked and nothing sent', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayWith({ host: port, more: 'includeRequestBody: {}' });
    const client = new RawClient(gateway.port(80));
    client.write('POST / HTTP/1.1\r\nhost: shop.test\r\ncontent-length: 10\r\nexpect: 100-continue\r\n\r\n');
    await client.until((text) => text.includes('100 Continue'));
    client.write('abc');
    client.socket.destroy();
    await gateway.logged('http.status=499');
    expect(asked).toHaveLength(0);
  });
});

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

describe('remembered answers', () => {
  const cache = (key = 'request.headers["authorization"]', ttl = '1h') => `cache: {key: ['${key}'], ttl: '${ttl}'}`;
  const as = (authorization: string): Ask => ({ headers: { authorization } });

  test('are given again to requests with the same key: headers, values and all', async () => {
    const { asked, port } = await service((one, response) => {
      response.setHeader('x-user', one.headers.authorization ?? '');
      response.end();
    });
    const gateway = await gatewayWith({
      host: port,
      http: `{includeResponseHeaders: [x-user], metadata: {user: "response.headers['x-user']"}}`,
      more: cache(),
      policies: `authorization: {rules: ["extauthz.user == request.headers['authorization']"]}`,
    });
    for (const user of ['alice', 'bob', 'alice', 'bob', 'alice']) {
      const answer = await gateway.ask('/', as(user));
      expect(JSON.parse(answer.body).headers['x-user']).toBe(user);
    }
    expect(asked.map(({ headers }) => headers.authorization)).toEqual(['alice', 'bob']);
  });

  test.each([
    [401, 1],
    [403, 1],
    [200, 1],
    [404, 2],
    [500, 2],
    [302, 2],
    [204, 2],
  ])('with status %i are asked for %i times in two requests', async (status, times) => {
    const { asked, port } = await service((_one, response) => response.writeHead(status).end());
    const gateway = await gatewayWith({ host: port, more: cache() });
    const first = await gateway.ask('/', as('a'));
    const second = await gateway.ask('/', as('a'));
    expect(second.status).toBe(first.status);
    expect(asked).toHaveLength(times);
  });

  test('of redirects are given again', async () => {
    const { asked, port } = await service((_one, response) => response.writeHead(401).end());
    const gateway = await gatewayWith({ host: port, http: `{redirect: "'/login'"}`, more: cache() });
    for (let i = 0; i < 2; i++) expect((await gateway.ask('/', as('a'))).headers.location).toBe('/login');
    expect(asked).toHaveLength(1);
  });

  test.each(['request.headers["x-none"]', '[1]', 'jwt.sub'])('do not exist for the key %s', async (key) => {
    const { asked, port } = await service();
    const gateway = await gatewayWith({ host: port, more: `cache: {key: ['${key}'], ttl: 1h}` });
    for (let i = 0; i < 2; i++) expect((await gateway.ask('/')).status).toBe(200);
    expect(asked).toHaveLength(2);
  });

  test.each([
    ['1h', 1],
    ['duration("1h")', 1],
    ['timestamp("2100-01-01T00:00:00Z")', 1],
    ['4102444800', 1],
    ['duration(response.headers["x-ttl"])', 1],
    ['extauthz.until', 1],
    ['duration("-1h")', 2],
    ['timestamp("2000-01-01T00:00:00Z")', 2],
    ['"1h"', 2],
    ['jwt.exp', 2],
    ['0', 2],
  ])('hold for %s', async (ttl, times) => {
    const { asked, port } = await service((_one, response) => {
      response.setHeader('x-ttl', '60s');
      response.end();
    });
    const http = '{metadata: {until: "4102444800"}}';
    const gateway = await gatewayWith({ host: port, http, more: cache('"all"', ttl) });
    for (let i = 0; i < 2; i++) expect((await gateway.ask('/')).status).toBe(200);
    expect(asked).toHaveLength(times);
  });

  test('are not made of failures', async () => {
    let healthy = false;
    const { asked, port } = await service((_one, response) => {
      if (healthy) response.end();
      else response.destroy();
    });
    const gateway = await gatewayWith({ host: port, more: cache() });
    expect((await gateway.ask('/', as('a'))).status).toBe(403);
    healthy = true;
    expect((await gateway.ask('/', as('a'))).status).toBe(200);
    expect(asked).toHaveLength(2);
    await gateway.logged('info', 'ext_authz', 'the service answers again');
  });

  test('outlive a reload that does not change the policy, and no other', async () => {
    const { asked, port } = await service();
    const backend = cleanup.add(await upstream(echo));
    const file = (more: string, other: string): string => `gateways: {default: {port: 80}}
routes:
- name: one
  policies: {extAuthz: ${policy({ host: port, more })}}
  backends: [{host: "127.0.0.1:${backend.port}"}]
- name: other
  matches: [{path: {exact: ${other}}}]
  policies: {directResponse: {status: 200}}
`;
    const gateway = cleanup.add(await startGateway(file(cache(), '/x')));
    const go = () => ask(gateway.port(80), '/', as('a'));
    await go();
    expect(await gateway.reload(file(cache(), '/y'))).toMatchObject({ kind: 'live' });
    await go();
    expect(asked).toHaveLength(1);
    expect(await gateway.reload(file(cache('request.headers["authorization"]', '2h'), '/y'))).toMatchObject({
      kind: 'live',
    });
    await go();
    expect(asked).toHaveLength(2);
  });
});

describe('the places of external authorization', () => {
  test('are the gateway, the route and the backend, each with its own service', async () => {
    const names = ['gateway', 'route', 'backend'];
    const order: string[] = [];
    const services = await Promise.all(
      names.map((name) =>
        service((_asked, response) => {
          order.push(name);
          response.setHeader(`x-${name}`, 'yes');
          response.end();
        }),
      ),
    );
    const [atGateway, atRoute, atBackend] = services.map(({ port }, index) =>
      policy({
        host: port,
        http: `{includeResponseHeaders: [x-${names[index]}], metadata: {${names[index]}: "true"}}`,
      }),
    );
    const server = cleanup.add(await upstream(echo));
    const gateway = cleanup.add(
      await startGateway(`gateways: {default: {port: 80, listeners: [{name: http, extAuthz: ${atGateway}}]}}
routes:
- policies: {extAuthz: ${atRoute}}
  backends:
  - host: "127.0.0.1:${server.port}"
    policies:
      extAuthz: ${atBackend}
      authorization: {rules: ["extauthz.gateway && extauthz.route"]}
`),
    );
    const answer = await ask(gateway.port(80), '/', { method: 'POST', body: 'hello' });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({
      body: 'hello',
      headers: { 'x-gateway': 'yes', 'x-route': 'yes', 'x-backend': 'yes' },
    });
    expect(order).toEqual(names);
  });

  test('are asked before a route is looked for, on a gateway', async () => {
    const { port } = await service((_asked, response) => response.writeHead(401).end('who?'));
    const gateway = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}
policies:
- name: {name: ask, namespace: default}
  target: {gateway: {gatewayName: default, gatewayNamespace: default}}
  phase: gateway
  policy: {extAuthz: ${policy({ host: port })}}
routes:
- matches: [{path: {exact: /only}}]
  policies: {directResponse: {status: 200}}
`),
    );
    expect(await ask(gateway.port(80), '/other')).toMatchObject({ status: 401, body: 'who?' });
  });

  test('see the body at a backend, which gets all of it on every attempt', async () => {
    const { asked, port } = await service();
    let attempts = 0;
    const server = cleanup.add(
      await upstream((request, response) => {
        attempts += 1;
        if (attempts === 1) {
          request.resume();
          request.on('end', () => response.writeHead(503).end());
        } else echo(request, response);
      }),
    );
    const gateway = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}
routes:
- policies: {retry: {attempts: 1, codes: [503]}}
  backends:
  - host: "127.0.0.1:${server.port}"
    policies: {extAuthz: ${policy({ host: port, more: 'includeRequestBody: {}' })}}
`),
    );
    const answer = await ask(gateway.port(80), '/', { method: 'POST', body: 'hello' });
    expect(JSON.parse(answer.body).body).toBe('hello');
    expect(asked.map(({ body }) => body)).toEqual(['hello', 'hello']);
  });

  test('may be chosen by the request', async () => {
    const { asked, port } = await service((one, response) => response.writeHead(one.url === '/b' ? 403 : 200).end());
    const [first, second] = ['/a', '/b'].map((path) =>
      policy({ host: port, http: `{path: "'${path}'"}` }).slice(1, -1),
    );
    const gateway = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}
routes:
- policies:
    extAuthz:
      conditional:
      - {condition: "request.path == '/one'", ${first}}
      - {condition: "request.path == '/two'", ${second}}
    directResponse: {status: 200}
`),
    );
    const statuses = await Promise.all(
      ['/one', '/two', '/three'].map(async (path) => (await ask(gateway.port(80), path)).status),
    );
    expect(statuses).toEqual([200, 403, 200]);
    expect(asked.map(({ url }) => url).toSorted()).toEqual(['/a', '/b']);
  });
});
