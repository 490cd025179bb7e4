import { afterEach, describe, expect, test } from '@jest/globals';

import { serveOtlpGrpc, serveOtlpHttp } from '../services/otlp.ts';
import { RawClient } from './clients.ts';
import { ask, Cleanup, echo, type RunningGateway, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function start(settings: string, config = ''): Promise<RunningGateway> {
  const server = cleanup.add(await upstream(echo));
  const local = 'adminAddr: "127.0.0.1:1", statsAddr: "127.0.0.1:1", readinessAddr: "127.0.0.1:1"';
  return cleanup.add(
    await startGateway(`
config: {${local}${config === '' ? '' : `, ${config}`}}
gateways: {default: {port: 80}}
frontendPolicies:
  ${settings}
routes:
- name: all
  policies:
    urlRewrite: {path: {prefix: /v2}}
  backends: [{host: "127.0.0.1:${server.port}"}]
`),
  );
}

const path = (line: string): string | undefined => / http\.path=(\S+)/.exec(line)?.[1];

describe('fields of the access log', () => {
  test('are added, replaced and removed by expressions', async () => {
    const running = await start(`accessLog:
    add:
      team: request.headers["x-team"]
      upstream.path: request.path
      http.status: int(response.code) + 1000
      missing: jwt.sub
      len: size(request.headers["x-team"])
      agent: 'flatten({"name": "curl", "v": {"major": 8}})'
    remove: [src.addr, duration]`);
    await ask(running.port(80), '/cart?x=1', { headers: { 'x-team': 'red team' } });
    const line = await running.logged('http.path=/cart');
    // What the client sent, and what the backend got.
    expect(line).toContain(' http.path=/cart?x=1 ');
    expect(line).toContain(' upstream.path=/v2/cart ');
    expect(line).toContain(' team="red team" ');
    expect(line).toContain(' http.status=1200 len=8 agent.name=curl agent.v="{\\"major\\":8}"');
    expect(line).not.toMatch(/src\.addr|duration|missing|http\.status=200/);
  });

  test('are those of one line only for requests that the filter lets through', async () => {
    const running = await start('accessLog: {filter: "response.code >= 400 || request.path == \'/v2/keep\'"}');
    for (const each of ['/a', '/keep', '/b']) await ask(running.port(80), each);
    await running.logged('http.path=/keep');
    expect(running.log.filter((line) => line.includes('\trequest ')).map(path)).toEqual(['/keep']);
  });

  test('tell nothing when the filter fails', async () => {
    const running = await start('accessLog: {filter: "jwt.sub == \'alice\'"}');
    await ask(running.port(80), '/a');
    await running.reload(
      'gateways: {default: {port: 80}}\nroutes: [{name: r, policies: {directResponse: {status: 200}}}]',
    );
    await ask(running.port(80), '/b');
    await running.logged('http.path=/b');
    expect(running.log.some((line) => line.includes('http.path=/a'))).toBe(false);
  });

  test('hold bodies that were read only for the log, while they streamed', async () => {
    const running = await start(`accessLog:
    add: {asked: string(request.body), told: json(response.body).body, start: size(request.bodyPrefix)}`);
    const answer = await ask(running.port(80), '/a', { method: 'POST', body: 'hello' });
    expect(answer.status).toBe(200);
    expect(await running.logged('http.path=/a')).toContain(' asked=hello told=hello start=5');
  });

  test('have only the beginning of bodies over the limit', async () => {
    const running = await start(`http: {maxBufferSize: 4}
  accessLog:
    add: {whole: size(request.body), start: string(request.bodyPrefix)}`);
    const answer = await ask(running.port(80), '/a', { method: 'POST', body: 'too long' });
    expect(JSON.parse(answer.body)).toMatchObject({ body: 'too long' });
    const line = await running.logged('http.path=/a');
    expect(line).toContain(' start="too "');
    expect(line).not.toContain('whole=');
  });

  test('come from the older keys of the process too', async () => {
    const running = await start(
      'http: {}',
      'logging: {filter: "request.path != \'/v2/skip\'", fields: {add: {m: request.method}, remove: [listener]}}',
    );
    await ask(running.port(80), '/skip');
    await ask(running.port(80), '/a');
    const line = await running.logged('http.path=/a');
    expect([line.includes(' m=GET'), line.includes(' listener=')]).toEqual([true, false]);
    expect(running.log.some((each) => each.includes('/skip'))).toBe(false);
  });

  test('of a TCP connection see its source, and no request', async () => {
    const server = cleanup.add(await upstream(echo));
    const running = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80, protocol: TCP}}
frontendPolicies: {accessLog: {add: {from: source.address, what: request.path}}}
tcpRoutes: [{name: t, backends: [{host: "127.0.0.1:${server.port}"}]}]
`),
    );
    const client = new RawClient(running.port(80));
    client.socket.end();
    await client.closed;
    const line = await running.logged('protocol=tcp');
    expect([line.includes(' from=127.0.0.1'), line.includes('what=')]).toEqual([true, false]);
  });

  test('that do not parse, or would forge a record, are refused with their place', async () => {
    await expect(start('accessLog: {add: {a: "1 +"}}')).rejects.toThrow(/frontendPolicies\.accessLog\.add\.a/);
    await expect(start('accessLog: {add: {level: "\'x\'"}}')).rejects.toThrow(/level/);
  });

  test('are said in one place only', async () => {
    await expect(start('accessLog: {remove: [listener]}', 'logging: {filter: "true"}')).rejects.toThrow(
      /config\.logging\.filter.*frontendPolicies\.accessLog/s,
    );
  });
});

describe('the access log by OTLP', () => {
  test.each([
    ['grpc', serveOtlpGrpc],
    ['http', serveOtlpHttp],
  ] as const)('reaches a receiver over %s with the fields of the log', async (protocol, serve) => {
    const receiver = cleanup.add(await serve());
    const running = await start(`accessLog:
    add: {code: response.code}
    remove: [src.addr]
    otlp: {host: "127.0.0.1:${receiver.port}", protocol: ${protocol}, policies: {requestHeaderModifier: {set: {x-key: k1}}}}`);
    const context = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await ask(running.port(80), '/cart', { headers: { traceparent: context } });
    const [record] = await receiver.records(1);
    const line = await running.logged('http.path=/cart');
    expect(record).toMatchObject({
      body: 'request',
      severity: 'INFO',
      scope: { name: 'gw.access' },
      resource: { 'service.name': 'gwctl' },
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      attributes: { 'http.path': '/cart', 'http.status': 200, 'http.method': 'GET', code: 200, route: 'default/all' },
    });
    expect(line).toContain(` span.id=${record?.spanId}`);
    expect(record?.attributes).not.toHaveProperty('src.addr');
    expect(receiver.batches[0]?.headers).toMatchObject({ 'x-key': 'k1' });
    expect(receiver.batches[0]?.path).toBe(protocol === 'http' ? '/v1/logs' : '');
  });

  test('has a filter, fields and a path of its own', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const running = await start(`accessLog:
    filter: "false"
    add: {here: "1"}
    otlp:
      host: "127.0.0.1:${receiver.port}"
      protocol: http
      path: /tenant/logs
      filter: request.path == "/v2/b"
      fields: {add: {there: '"x"'}, remove: [http.method]}`);
    for (const each of ['/a', '/b']) await ask(running.port(80), each);
    const records = await receiver.records(1);
    expect(records.map(({ attributes }) => attributes['http.path'])).toEqual(['/b']);
    expect(records[0]?.attributes).toMatchObject({ there: 'x' });
    expect(records[0]?.attributes).not.toHaveProperty('here');
    expect(records[0]?.attributes).not.toHaveProperty('http.method');
    expect(receiver.batches[0]?.path).toBe('/tenant/logs');
    expect(running.log.some((line) => line.includes('\trequest '))).toBe(false);
  });
});
