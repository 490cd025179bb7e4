import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, RawClient } from './clients.ts';
import { ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';
import { authorizing, policy } from './authorization-service.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { service, gatewayWith } = authorizing(cleanup);

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
