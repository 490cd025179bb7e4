/** What expressions know of a request, in each phase of it. */
import { afterEach, describe, expect, test } from '@jest/globals';

import { Http2Client } from './clients.ts';
import { ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Answers with the value of an expression as JSON, over a route with these policies. */
async function answering(expression: string, more = '', env: Record<string, string> = {}) {
  const running = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}
routes:
- name: all
  ruleName: only
  policies: {directResponse: {status: 200, bodyExpression: ${JSON.stringify(expression)}}}
${more}`,
      { env },
    ),
  );
  return running;
}

describe('before the backend', () => {
  test.each([
    ['request.method + request.version', 'GETHTTP/1.1'],
    [
      '[request.host, request.scheme, request.path, request.pathAndQuery, request.uri]',
      ['shop.test:81', 'http', '/a%20b', '/a%20b?x=1&x=2', 'http://shop.test:81/a%20b?x=1&x=2'],
    ],
    [
      '[request.uri.query("x"), request.pathAndQuery.query("x")]',
      [
        ['1', '2'],
        ['1', '2'],
      ],
    ],
    [
      '[has(request.headers.host), "x-one" in request.headers, "X-ONE" in request.headers, has(request.headers.none)]',
      [false, true, true, false],
    ],
    ['[request.headers["x-two"], request.headers.raw()["x-two"][0], request.headers["X-One"]]', ['a', 'a', '1']],
    ['request.headers["x-t" + "wo"]', ['a', 'b']],
    ['[request.headers.join()["x-two"], request.headers.split()["x-list"]]', ['a,b', ['c', 'd']]],
    ['[request.headers.redacted()["authorization"], request.headers.cookie("k")]', ['<redacted>', 'v']],
    ['[request.body == b"", request.bodyPrefix == b""]', [true, true]],
    [
      'type(request.startTime) == timestamp && !has(request.endTime) && request.startTime <= timestamp("2999-01-01T00:00:00Z")',
      true,
    ],
    [
      '[source.address, source.rawAddress, type(source.port) == uint, source.port == source.rawPort]',
      ['127.0.0.1', '127.0.0.1', true, true],
    ],
    [
      '[has(source.identity), has(source.certificate), has(source.spiffeId), source.connectHeaders]',
      [false, false, false, {}],
    ],
    ['[destination.address, type(destination.port) == uint]', ['127.0.0.1', true]],
    [
      '[proxy.listener.name, proxy.route.name, proxy.route.kind, proxy.bind]',
      ['default', 'all', 'HTTPRoute', 'bind/80'],
    ],
    [
      '[jwt, apiKey, basicAuth, response, llm, llmRequest, mcp, extauthz, extproc, metadata, mcpGuardrails, backend]',
      Array.from({ length: 12 }, () => null),
    ],
    ['env', { podName: 'pod-1', namespace: 'ns' }],
    ['variables().map(k, k).filter(k, !(k in ["request", "source", "destination", "proxy", "env"]))', []],
  ])('%s', async (expression, value) => {
    const running = await answering(expression, '', { POD_NAME: 'pod-1', POD_NAMESPACE: 'ns', NAMESPACE: 'ns' });
    const headers = {
      host: 'shop.test:81',
      'x-one': '1',
      'x-two': ['a', 'b'],
      'x-list': 'c , d',
      authorization: 'Bearer t',
      cookie: 'a=b; k=v',
    };
    const { body } = await ask(running.port(80), '/a%20b?x=1&x=2', { headers });
    expect(typeof value === 'string' ? body : JSON.parse(body)).toEqual(value);
  });

  test('HTTP/2', async () => {
    const running = await answering('[request.version, request.host, has(request.headers.host)]');
    const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${running.port(80)}`));
    expect(JSON.parse((await client.ask({ ':path': '/' })).text)).toEqual(['HTTP/2', 'shop.test', false]);
  });

  test('bodies are there when they are named, as far as they fit', async () => {
    const running = await answering(
      '[default(string(request.body), "none"), string(request.bodyPrefix).size()]',
      'frontendPolicies: {http: {maxBufferSize: 10}}',
    );
    const told = async (body: string) => JSON.parse((await ask(running.port(80), '/', { method: 'POST', body })).body);
    expect(await told('0123456789')).toEqual(['0123456789', 10]);
    expect(await told('0123456789a')).toEqual(['none', 10]);
  });

  test('a workload is known by its address, unless several have it', async () => {
    const workload = (uid: string, ip: string) =>
      `{uid: ${uid}, name: ${uid}, namespace: shop, serviceAccount: cart, workloadIps: [${ip}]}`;
    const one = await answering('source.unverifiedWorkload', `workloads: [${workload('w', '127.0.0.1')}]`);
    expect(JSON.parse((await ask(one.port(80), '/')).body)).toEqual({
      name: 'w',
      namespace: 'shop',
      serviceAccount: 'cart',
    });
    const two = await answering(
      'has(source.unverifiedWorkload)',
      `workloads: [${workload('v', '127.0.0.1')}, ${workload('w', '127.0.0.1')}]`,
    );
    expect((await ask(two.port(80), '/')).body).toBe('false');
  });
});

describe('behind the backend', () => {
  test('the response, the backend and the time that it took', async () => {
    const server = cleanup.add(await upstream(echo));
    const value =
      '[response.code, response.headers["content-type"], backend.name, backend.type, backend.protocol, type(proxy.requestProcessingDuration) == duration, type(proxy.upstreamDuration) == duration, json(response.body).url, request.path]';
    const running = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}
backends: [{name: shop, host: "127.0.0.1:${server.port}"}]
routes:
- policies:
    transformations: {request: {set: {':path': '"/sent"'}}, response: {set: {x-told: ${JSON.stringify(`toJson(${value})`)}}}}
  backends: [{backend: shop}]`),
    );
    const { headers } = await ask(running.port(80), '/asked');
    expect(JSON.parse(String(headers['x-told']))).toEqual([
      200,
      'application/json',
      expect.stringContaining('shop'),
      'static',
      'http',
      true,
      true,
      '/sent',
      '/sent',
    ]);
  });

  test('in the log, everything', async () => {
    const server = cleanup.add(await upstream(echo));
    const value =
      '[response.code, type(request.endTime) == timestamp, request.endTime >= request.startTime, type(proxy.responseProcessingDuration) == duration, proxy.listener.name, proxy.route.name, request.body.size(), response.body.size() > 0]';
    const running = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}
frontendPolicies: {accessLog: {add: {told: ${JSON.stringify(`toJson(${value})`)}}}}
routes: [{name: all, backends: [{host: "127.0.0.1:${server.port}"}]}]`),
    );
    await ask(running.port(80), '/', { method: 'POST', body: 'four' });
    const line = await running.logged('told=');
    const [, told = ''] = /told=("(?:[^"\\]|\\.)*"|\S+)/.exec(line) ?? [];
    const text = told.startsWith('"') ? JSON.parse(told) : told;
    expect(JSON.parse(text)).toEqual([200, true, true, true, 'default', 'all', 4, true]);
  });
});
