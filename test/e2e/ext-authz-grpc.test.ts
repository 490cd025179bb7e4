import { afterEach, describe, expect, test } from '@jest/globals';

import type { CheckResponse } from '../../proxy/services/messages/check.ts';
import { type PolicyServer, serveAuthz, StatusError, structJson } from '../services/envoy.ts';
import { eventually, RawClient } from './clients.ts';
import { type Ask, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

type Message = Record<string, unknown>;

async function service(decide: (request: Message) => CheckResponse | Promise<CheckResponse> = () => ({})) {
  return cleanup.add(await serveAuthz(decide));
}

/** A gateway whose only route asks the service, in front of an upstream that echoes. */
async function gatewayWith(server: PolicyServer | number, more = '', policies = '') {
  const backend = cleanup.add(
    await upstream((request, response) => {
      response.setHeader('x-upstream', 'yes');
      echo(request, response);
    }),
  );
  const port = typeof server === 'number' ? server : server.port;
  const running = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
routes:
- policies: {extAuthz: {host: "127.0.0.1:${port}"${more === '' ? '' : `, ${more}`}}${policies === '' ? '' : `, ${policies}`}}
  backends: [{host: "127.0.0.1:${backend.port}"}]
`),
  );
  return { ...running, backend, ask: (path: string, options?: Ask) => ask(running.port(80), path, options) };
}

function attributesOf(server: PolicyServer): Message {
  return server.requests[0]?.['attributes'] as Message;
}

function httpOf(server: PolicyServer): Message {
  return (attributesOf(server)['request'] as Message)['http'] as Message;
}

describe('an authorization service that is asked over gRPC', () => {
  test('gets the whole head of a request, and who is at both ends', async () => {
    const server = await service();
    const gateway = await gatewayWith(server, 'protocol: {grpc: {context: {env: test}}}');
    const headers = { cookie: ['a=1', 'b=2'], 'x-many': ['1', '2'], 'x-utf8': Buffer.from('é').toString('latin1') };
    await gateway.ask('/a?b=c', { headers: { ...headers, traceparent: '00-1-2-01' }, method: 'PUT' });
    const http = httpOf(server);
    expect(http).toMatchObject({
      id: '00-1-2-01',
      method: 'PUT',
      path: '/a?b=c',
      host: 'shop.test',
      scheme: 'http',
      protocol: 'HTTP/1.1',
      headers: {
        ':method': 'PUT',
        ':path': '/a?b=c',
        ':authority': 'shop.test',
        ':scheme': 'http',
        cookie: 'a=1; b=2',
        'x-many': '1, 2',
        'x-utf8': 'é',
      },
    });
    expect(http).not.toHaveProperty('body');
    const attributes = attributesOf(server);
    expect(attributes).toMatchObject({
      source: { address: { socketAddress: { address: '127.0.0.1' } } },
      destination: { address: { socketAddress: { address: '127.0.0.1', portValue: gateway.port(80) } } },
      contextExtensions: { env: 'test' },
    });
    expect(attributes).not.toHaveProperty('tlsSession');
    const { time } = attributes['request'] as { time: { seconds: number | string } };
    expect(Math.abs(Number(time.seconds) - Date.now() / 1000)).toBeLessThan(60);
  });

  test('gets the headers that are listed, and only those', async () => {
    const server = await service();
    const gateway = await gatewayWith(server, 'includeRequestHeaders: [X-Team, ":path", x-none]');
    await gateway.ask('/a', { headers: { 'x-team': 'red', authorization: 'Bearer t' } });
    expect(httpOf(server)['headers']).toEqual({ 'x-team': 'red', ':path': '/a' });
  });

  test('gets objects that expressions make, and not what fails or is none', async () => {
    const server = await service();
    const metadata = `{good: "{'path': request.path, 'n': [1, true, null]}", text: "'no'", list: "[1]", bad: "jwt.sub"}`;
    const gateway = await gatewayWith(server, `protocol: {grpc: {metadata: ${metadata}}}`);
    await gateway.ask('/a');
    const { filterMetadata } = attributesOf(server)['metadataContext'] as { filterMetadata: Message };
    expect(Object.keys(filterMetadata)).toEqual(['good']);
    expect(structJson(filterMetadata['good'])).toEqual({ path: '/a', n: [1, true, null] });
  });

  test('changes the request that it allows', async () => {
    const server = await service(() => ({
      okResponse: {
        headers: [
          { header: { key: 'x-user', value: 'alice' } },
          { header: { key: 'x-team', value: 'blue' }, append: { value: true } },
          { header: { key: 'host', value: 'inner.test' } },
        ],
        headersToRemove: ['authorization'],
        queryParametersToSet: [{ key: 'tenant', value: 'a b' }],
        queryParametersToRemove: ['token'],
      },
    }));
    const gateway = await gatewayWith(server);
    const headers = { authorization: 'Bearer t', 'x-user': 'mallory', 'x-team': 'red' };
    const seen = JSON.parse((await gateway.ask('/a?token=secret&x=1', { headers })).body);
    expect(seen.url).toBe('/a?x=1&tenant=a%20b');
    expect(seen.headers).toMatchObject({ 'x-user': 'alice', 'x-team': 'red, blue', host: 'inner.test' });
    expect(seen.headers).not.toHaveProperty('authorization');
  });

  test('adds headers to the response, of the backend and of later refusals', async () => {
    const responseHeadersToAdd = [
      { header: { key: 'set-cookie', value: 'a=1' } },
      { header: { key: 'set-cookie', value: 'b=2' } },
      { header: { key: 'x-upstream', value: 'service' } },
    ];
    const server = await service(() => ({ okResponse: { responseHeadersToAdd } }));
    const rules = 'authorization: {rules: ["request.path == \'/yes\'"]}';
    const gateway = await gatewayWith(server, '', rules);
    for (const [path, status] of [
      ['/yes', 200],
      ['/no', 403],
    ] as const) {
      const answer = await gateway.ask(path);
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], 'x-upstream': 'service' });
    }
  });

  test('leaves values for the rules that run after it', async () => {
    const server = await service(() => ({ dynamicMetadata: { user: { roles: ['admin'] }, level: 3 } }));
    const rules = `authorization: {rules: ["extauthz.level > 2 && 'admin' in extauthz.user.roles"]}`;
    const gateway = await gatewayWith(server, '', rules);
    expect((await gateway.ask('/')).status).toBe(200);
  });

  test('words its own refusals', async () => {
    const server = await service(() => ({
      status: { code: 16 },
      deniedResponse: {
        status: { code: 401 },
        headers: [
          { header: { key: 'www-authenticate', value: 'Bearer' } },
          { header: { key: 'content-type', value: 'application/json' } },
        ],
        body: '{"error":"who?"}',
      },
    }));
    const gateway = await gatewayWith(server);
    const answer = await gateway.ask('/');
    expect(answer).toMatchObject({ status: 401, body: '{"error":"who?"}' });
    expect(answer.headers).toMatchObject({
      'www-authenticate': 'Bearer',
      'content-type': 'application/json',
      'x-gw-reason': 'ExtAuth',
    });
    await gateway.logged('reason=ExtAuth', 'http.status=401');
  });

  test.each([
    ['no words', { status: { code: 7 } }],
    ['an answer for allowed requests', { status: { code: 7 }, okResponse: { headersToRemove: ['x'] } }],
  ])('refuses with 403 by a status and %s', async (_how, response) => {
    const gateway = await gatewayWith(await service(() => response));
    expect(await gateway.ask('/')).toMatchObject({ status: 403, body: 'external authorization failed' });
  });
});

describe('the body of a request', () => {
  const bytes = Buffer.concat([Buffer.from('é'), Buffer.from([0xff])]);

  test('goes as text, lossy where it is none', async () => {
    const server = await service();
    const gateway = await gatewayWith(server, 'includeRequestBody: {}');
    const answer = await gateway.ask('/', { method: 'POST', body: bytes });
    expect(answer.status).toBe(200);
    expect(httpOf(server)).toMatchObject({ body: 'é\ufffd' });
    expect(Number(httpOf(server)['size'])).toBe(3);
  });

  test('goes as bytes when that is asked for', async () => {
    const server = await service();
    const gateway = await gatewayWith(server, 'includeRequestBody: {packAsBytes: true}');
    await gateway.ask('/', { method: 'POST', body: bytes });
    expect(Buffer.from(httpOf(server)['rawBody'] as Uint8Array)).toEqual(bytes);
    expect(httpOf(server)).not.toHaveProperty('body');
  });

  test('goes in part, which its size tells, while the backend gets all of it', async () => {
    const server = await service();
    const gateway = await gatewayWith(server, 'includeRequestBody: {maxRequestBytes: 4, allowPartialMessage: true}');
    const answer = await gateway.ask('/', { method: 'POST', body: 'hello world' });
    expect(JSON.parse(answer.body).body).toBe('hello world');
    expect(httpOf(server)).toMatchObject({ body: 'hell' });
    expect(Number(httpOf(server)['size'])).toBe(-1);
  });

  test('that is too large is refused', async () => {
    const server = await service();
    const gateway = await gatewayWith(server, 'includeRequestBody: {maxRequestBytes: 4}');
    expect((await gateway.ask('/', { method: 'POST', body: 'hello world' })).status).toBe(413);
    expect(server.requests).toHaveLength(0);
  });
});

describe('a service that fails', () => {
  const modes: readonly (readonly [string, number, string])[] = [
    ['deny', 403, 'external authorization failed'],
    ['{denyWithStatus: 429}', 429, 'Authorization service unavailable'],
    ['allow', 200, ''],
  ];

  test.each(modes)('with a status of gRPC, under %s', async (mode, status, body) => {
    const server = await service(() => {
      throw new StatusError(14, 'try again at 10.1.2.3');
    });
    const gateway = await gatewayWith(server, `failureMode: ${mode}`);
    const answer = await gateway.ask('/');
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(body);
    expect(answer.body).not.toContain('10.1.2.3');
  });

  test.each(modes)('because it is down, under %s', async (mode, status, body) => {
    const gateway = await gatewayWith(1, `failureMode: ${mode}`);
    const answer = await gateway.ask('/');
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(body);
  });

  test.each(modes)('because it speaks something else, under %s', async (mode, status, body) => {
    const other = cleanup.add(await upstream((_request, response) => response.end('hello')));
    const gateway = await gatewayWith(other.port, `failureMode: ${mode}`);
    const answer = await gateway.ask('/');
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(body);
  });

  test.each(modes)('because it is slow, under %s', async (mode, status, body) => {
    const server = await service(() => new Promise(() => {}));
    const more = `failureMode: ${mode}, policies: {http: {requestTimeout: 50ms}}`;
    const gateway = await gatewayWith(server, more);
    const answer = await gateway.ask('/');
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(body);
  });

  test('is given up when the request has no more time, and when the client leaves', async () => {
    const server = await service(() => new Promise(() => {}));
    const gateway = await gatewayWith(server, 'failureMode: allow', 'timeout: {requestTimeout: 80ms}');
    expect(await gateway.ask('/')).toMatchObject({ status: 504, body: 'request timeout' });
    const client = new RawClient(gateway.port(80));
    client.write('GET / HTTP/1.1\r\nhost: shop.test\r\n\r\n');
    await eventually('the question', () => server.requests.length === 2);
    client.socket.destroy();
    await gateway.logged('http.status=499');
  });
});

describe('remembered answers', () => {
  test.each([
    ['allowed', { dynamicMetadata: { n: 1 }, okResponse: { headers: [{ header: { key: 'x-user', value: 'a' } }] } }],
    ['denied', { status: { code: 7 }, deniedResponse: { status: { code: 404 }, body: 'nothing here' } }],
    ['refused without words', { status: { code: 7 } }],
  ])('are given again when they %s', async (_how, response) => {
    const server = await service(() => response);
    const gateway = await gatewayWith(server, `cache: {key: ['request.path'], ttl: 1h}`);
    const answers = [await gateway.ask('/a'), await gateway.ask('/a')];
    expect(answers.map(({ status }) => status)).toEqual([answers[0]?.status, answers[0]?.status]);
    expect(server.requests).toHaveLength(1);
    await gateway.ask('/b');
    expect(server.requests).toHaveLength(2);
  });
});

describe('a trace', () => {
  test('tells what the service has decided, and no credentials', async () => {
    const server = await service(() => ({
      okResponse: { headers: [{ header: { key: 'authorization', value: 'Bearer inner-secret' } }] },
    }));
    const gateway = await gatewayWith(server, `cache: {key: ['request.headers["authorization"]'], ttl: 1h}`);
    const events: string[] = [];
    const watching = new AbortController();
    cleanup.add({ close: () => watching.abort() });
    for (let i = 0; i < 2; i++) {
      const response = await fetch(`${gateway.admin}/debug/trace`, { signal: watching.signal });
      await gateway.ask('/', { headers: { authorization: 'Bearer outer-secret' } });
      events.push(await response.text());
    }
    const [first = '', second = ''] = events;
    expect(first).toContain('"kind":"ext_auth"');
    expect(first).toContain('cache miss');
    expect(first).toContain('cached for 1h0m0s');
    expect(first).toContain('"scope":["ext_authz"]');
    expect(second).toContain('allowed, from the cache');
    expect(first + second).not.toMatch(/outer-secret|inner-secret/);
  });
});
