import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { parseTraceparent } from '../../proxy/telemetry/spans/trace-context.ts';
import { serveAuthz } from '../services/envoy.ts';
import { type Receiver, serveOtlpGrpc, serveOtlpHttp } from '../services/otlp.ts';
import { eventually, tcpUpstream } from './clients.ts';
import { processor } from './processor.ts';
import { TraceWatch } from './trace-watch.ts';
import { type Answer, ask, Cleanup, echo, type RunningGateway, startGateway, upstream } from './gateway.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${PARENT}-01`;
const UNSAMPLED = `00-${TRACE}-${PARENT}-00`;

const SERVER = 2;
const CLIENT = 3;

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface World {
  readonly running: RunningGateway;
  readonly port: number;
  readonly backend: number;
}

async function start(options: {
  tracing?: string;
  config?: string;
  policies?: string;
  env?: Record<string, string>;
}): Promise<World> {
  const server = cleanup.add(await upstream(echo));
  const { tracing, config, policies, env } = options;
  const local = 'adminAddr: "127.0.0.1:1", statsAddr: "127.0.0.1:1", readinessAddr: "127.0.0.1:1"';
  const text = `
config: {${local}${config === undefined ? '' : `, ${config}`}}
gateways: {default: {port: 80}}
${tracing === undefined ? '' : `frontendPolicies: {tracing: {${tracing}}}`}
routes:
- name: all
  matches: [{path: {pathPrefix: /shop}}, {path: {exact: /one}}]
  ${policies === undefined ? '' : `policies: {${policies}}`}
  backends: [{host: "127.0.0.1:${server.port}"}]
- name: down
  matches: [{path: {exact: /down}}]
  backends: [{host: "127.0.0.1:1"}]
`;
  const running = cleanup.add(await startGateway(text, env === undefined ? {} : { env }));
  return { running, port: running.port(80), backend: server.port };
}

const host = (receiver: Receiver): string => `host: "127.0.0.1:${receiver.port}"`;

/** `google.rpc.Status` with a `google.rpc.RetryInfo` of so many seconds. */
function retryInfo(seconds: number): Buffer {
  const field = (number: number, bytes: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, bytes.byteLength]), bytes]);
  const info = field(1, Buffer.from([0x08, seconds]));
  const any = Buffer.concat([field(1, Buffer.from('type.googleapis.com/google.rpc.RetryInfo')), field(2, info)]);
  return Buffer.concat([Buffer.from([0x08, 8]), field(3, any)]);
}

/** What the backend got. */
function seen(answer: Answer): IncomingHttpHeaders {
  // `as`: the echo's own answer.
  return (JSON.parse(answer.body) as { headers: IncomingHttpHeaders }).headers;
}

describe('without tracing configured', () => {
  test('a trace of a client goes on: the backend is told of a span of the gateway', async () => {
    const { running, port } = await start({});
    const headers = seen(await ask(port, '/shop', { headers: { traceparent: SAMPLED, tracestate: 'a=1,b=2' } }));
    const context = parseTraceparent(String(headers['traceparent']));
    expect(context).toMatchObject({ traceId: TRACE, flags: 1 });
    expect(context?.spanId).not.toBe(PARENT);
    expect(headers['tracestate']).toBe('a=1,b=2');
    expect(await running.logged('http.path=/shop')).toContain(` trace.id=${TRACE} span.id=${context?.spanId} `);
  });

  test('nothing is added to requests without a trace, and nothing to the log', async () => {
    const { running, port } = await start({});
    expect(seen(await ask(port, '/shop'))).not.toHaveProperty('traceparent');
    expect(await running.logged('http.path=/shop')).not.toContain('trace.id');
  });

  test.each(['garbage', `ff-${TRACE}-${PARENT}-01`, SAMPLED.toUpperCase(), `${SAMPLED}-x`])(
    'a header that is no traceparent stays as it came: %s',
    async (traceparent) => {
      const { running, port } = await start({});
      expect(seen(await ask(port, '/shop', { headers: { traceparent } }))['traceparent']).toBe(traceparent);
      expect(await running.logged('http.path=/shop')).not.toContain('trace.id');
    },
  );
});

describe('sampling', () => {
  test('of clients can be turned off: their headers stay as they came', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const { port } = await start({ tracing: `${host(receiver)}, protocol: http, clientSampling: false` });
    expect(seen(await ask(port, '/shop', { headers: { traceparent: SAMPLED } }))['traceparent']).toBe(SAMPLED);
  });

  test('at random begins a trace, without the state of another', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const { port } = await start({ tracing: `${host(receiver)}, protocol: http, randomSampling: true` });
    const headers = seen(await ask(port, '/shop', { headers: { tracestate: 'stale=1' } }));
    const spans = await receiver.spans(2);
    const context = parseTraceparent(String(headers['traceparent']));
    expect(context).toMatchObject({ traceId: spans[0]?.traceId, flags: 1 });
    expect(spans.find(({ kind }) => kind === SERVER)?.parentSpanId).toBe('');
    expect(headers).not.toHaveProperty('tracestate');
  });

  test('by an expression sees the request', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const { port } = await start({
      tracing: `${host(receiver)}, protocol: http, randomSampling: 'request.headers["x-debug"] == "1"'`,
    });
    expect(seen(await ask(port, '/shop'))).not.toHaveProperty('traceparent');
    expect(seen(await ask(port, '/shop', { headers: { 'x-debug': '1' } }))).toHaveProperty('traceparent');
  });

  test('exports nothing of traces that the client does not record, but lets them go on', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const { port, running } = await start({ tracing: `${host(receiver)}, protocol: http` });
    const headers = seen(await ask(port, '/shop', { headers: { traceparent: UNSAMPLED } }));
    expect(parseTraceparent(String(headers['traceparent']))).toMatchObject({ traceId: TRACE, flags: 0 });
    expect(await running.logged('http.path=/shop')).toContain(`trace.id=${TRACE}`);
    await ask(port, '/shop', { headers: { traceparent: SAMPLED } });
    expect(await receiver.spans(2)).toHaveLength(2);
  });

  test('exports only what the filter lets through', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const { port } = await start({ tracing: `${host(receiver)}, protocol: http, filter: 'request.path == "/one"'` });
    for (const path of ['/shop/a', '/one', '/shop/b']) await ask(port, path, { headers: { traceparent: SAMPLED } });
    const spans = await receiver.spans(2);
    expect(spans.map(({ name }) => name).filter((name) => name.includes('/'))).toEqual(['GET /one']);
  });
});

describe('spans', () => {
  test.each([
    ['grpc', serveOtlpGrpc],
    ['http', serveOtlpHttp],
  ] as const)('of a request and its call reach a receiver over %s', async (protocol, serve) => {
    const receiver = cleanup.add(await serve());
    const { port, backend } = await start({ tracing: `${host(receiver)}, protocol: ${protocol}` });
    const answer = await ask(port, '/shop/cart?token=secret', {
      headers: { traceparent: SAMPLED, tracestate: 'a=1' },
    });
    const spans = await receiver.spans(2);
    const server = spans.find(({ kind }) => kind === SERVER);
    const client = spans.find(({ kind }) => kind === CLIENT);
    expect(server).toMatchObject({
      name: 'GET /shop/*',
      traceId: TRACE,
      parentSpanId: PARENT,
      traceState: 'a=1',
      flags: 0x301,
      resource: { 'service.name': 'gwctl' },
      scope: { name: 'gwctl' },
      attributes: {
        'http.method': 'GET',
        'http.host': 'shop.test',
        'http.status': 200,
        route: 'default/all',
        'url.scheme': 'http',
        'network.protocol.version': '1.1',
      },
    });
    expect(server?.status).toBeUndefined();
    expect(client).toMatchObject({
      name: `GET 127.0.0.1:${backend}`,
      traceId: TRACE,
      parentSpanId: server?.spanId,
      flags: 0x101,
      attributes: { 'gw.outbound.kind': 'primary', 'gw.outbound.subtype': 'http', 'http.status': 200 },
    });
    expect(JSON.stringify(spans, (_key, value: unknown) => (typeof value === 'bigint' ? '' : value))).not.toContain(
      'secret',
    );
    // The backend's parent is the span of the call.
    expect(parseTraceparent(String(seen(answer)['traceparent']))?.spanId).toBe(client?.spanId);
    const [begin = 0n, end = 0n] = [server?.startNanos, server?.endNanos];
    expect([begin <= (client?.startNanos ?? 0n), (client?.endNanos ?? 0n) <= end]).toEqual([true, true]);
    expect(Math.abs(Number(end / 1_000_000n) - Date.now())).toBeLessThan(60_000);
  });

  test('have attributes by expressions, and a name', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const { port } = await start({
      tracing: `${host(receiver)}, protocol: http, path: /t,
        attributes: {span.name: '"cart of " + request.headers["x-team"]', code: response.code, none: jwt.sub, f: 'flatten({"a": 1})'},
        remove: [route, url.scheme],
        resources: {service.name: '"shop"', zone: '"eu"', wrong: request.path, failed: '1/0'}`,
    });
    await ask(port, '/shop', { headers: { traceparent: SAMPLED, 'x-team': 'red' } });
    const server = (await receiver.spans(2)).find(({ kind }) => kind === SERVER);
    expect(server?.name).toBe('cart of red');
    expect(server?.attributes).toMatchObject({ code: 200, 'f.a': 1, 'http.path': '/shop' });
    for (const gone of ['route', 'url.scheme', 'none', 'span.name', 'error'])
      expect(server?.attributes).not.toHaveProperty([gone]);
    expect(server?.resource).toEqual({ 'service.name': 'shop', zone: 'eu' });
    expect(server?.scope).toEqual({ name: 'shop' });
    expect(receiver.batches[0]?.path).toBe('/t');
  });

  test('tell what went wrong', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const { port } = await start({ tracing: `${host(receiver)}, protocol: http` });
    await ask(port, '/down', { headers: { traceparent: SAMPLED } });
    await ask(port, '/nowhere', { headers: { traceparent: SAMPLED } });
    const spans = await receiver.spans(3);
    const of = (path: string) =>
      spans.find(({ attributes }) => attributes['http.path'] === path && attributes['route']);
    expect(of('/down')?.status).toMatchObject({ code: 2, message: expect.stringContaining('upstream') });
    expect(spans.find(({ kind }) => kind === CLIENT)).toMatchObject({
      status: { code: 2 },
      attributes: { 'error.type': 'connect' },
    });
    expect(spans.find(({ attributes }) => attributes['http.status'] === 404)).toMatchObject({
      name: 'unknown',
      status: { code: 2, message: 'route not found' },
    });
  });

  test('of every try of a request are siblings', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const { port } = await start({
      tracing: `${host(receiver)}, protocol: http`,
      policies: 'retry: {attempts: 2, codes: [200]}',
    });
    await ask(port, '/shop', { headers: { traceparent: SAMPLED } });
    const spans = await receiver.spans(4);
    const tries = spans.filter(({ kind }) => kind === CLIENT);
    const parents = new Set(tries.map(({ parentSpanId }) => parentSpanId));
    expect([tries.length, new Set(tries.map(({ spanId }) => spanId)).size, parents.size]).toEqual([3, 3, 1]);
  });

  test('of calls of policy services are siblings of those of the backend', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const authz = cleanup.add(await serveAuthz(() => ({})));
    const { port } = await start({
      tracing: `${host(receiver)}, protocol: http`,
      policies: `extAuthz: {host: "127.0.0.1:${authz.port}"}`,
    });
    await ask(port, '/shop', { headers: { traceparent: SAMPLED } });
    const spans = await receiver.spans(3);
    const server = spans.find(({ kind }) => kind === SERVER);
    const call = spans.find(({ attributes }) => attributes['gw.outbound.subtype'] === 'ext_authz');
    expect(call).toMatchObject({
      name: 'envoy.service.auth.v3.Authorization/Check',
      kind: CLIENT,
      parentSpanId: server?.spanId,
      attributes: { 'gw.outbound.kind': 'policy', 'http.status': 200 },
    });
    expect(parseTraceparent(String(authz.metadata[0]?.get('traceparent')[0]))?.spanId).toBe(call?.spanId);
  });

  test('of streams of policy services last as long as those', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const service = await processor(cleanup);
    const { port } = await start({
      tracing: `${host(receiver)}, protocol: http`,
      policies: `extProc: {host: "127.0.0.1:${service.port}"}`,
    });
    await ask(port, '/shop', { headers: { traceparent: SAMPLED } });
    const spans = await receiver.spans(3);
    const call = spans.find(({ attributes }) => attributes['gw.outbound.subtype'] === 'ext_proc');
    expect(call).toMatchObject({
      name: 'envoy.service.ext_proc.v3.ExternalProcessor/Process',
      kind: CLIENT,
      parentSpanId: spans.find(({ kind }) => kind === SERVER)?.spanId,
      attributes: { 'gw.outbound.kind': 'policy', 'http.status': 200 },
    });
    const [stream] = service.streams;
    expect(parseTraceparent(String(stream?.metadata.get('traceparent')[0]))?.spanId).toBe(call?.spanId);
  });

  test('tell a watcher of the trace how they were sampled', async () => {
    const { port, running } = await start({});
    const watch = cleanup.add(await TraceWatch.open(running.admin));
    await ask(port, '/shop', { headers: { traceparent: SAMPLED } });
    expect(await watch.finished()).toContain('"type":"traceSampling","decision":"sample (client)"');
  });
});

describe('settings of the process', () => {
  test('send traces to an endpoint with headers', async () => {
    const receiver = cleanup.add(await serveOtlpGrpc());
    const { port } = await start({
      config: `tracing: {otlpEndpoint: "http://127.0.0.1:${receiver.port}", headers: {authorization: Bearer k1}, randomSampling: 1, fields: {add: {m: request.method}, remove: [gateway]}}`,
    });
    await ask(port, '/shop');
    const spans = await receiver.spans(2);
    const attributes = spans.find(({ kind }) => kind === SERVER)?.attributes;
    expect(attributes).toMatchObject({ m: 'GET' });
    expect(attributes).not.toHaveProperty('gateway');
    expect(receiver.batches[0]?.headers).toMatchObject({ authorization: 'Bearer k1' });
  });

  test('come from the variables of OpenTelemetry too', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const { port } = await start({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${receiver.port}/base`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=k%201',
        OTEL_SERVICE_NAME: 'edge',
        OTEL_RESOURCE_ATTRIBUTES: 'zone=eu,service.name=ignored',
      },
    });
    await ask(port, '/shop', { headers: { traceparent: SAMPLED } });
    const [span] = await receiver.spans(2);
    expect(span?.resource).toEqual({ 'service.name': 'edge', zone: 'eu' });
    expect(receiver.batches[0]).toMatchObject({ path: '/base/v1/traces', headers: { 'x-key': 'k 1' } });
  });

  test('and of the frontend are two places for one thing', async () => {
    await expect(start({ tracing: 'host: "127.0.0.1:1"', config: 'tracing: {randomSampling: true}' })).rejects.toThrow(
      /config\.tracing.*frontendPolicies\.tracing/s,
    );
  });

  test.each([
    ['a share beyond 1', { tracing: 'host: "127.0.0.1:1", randomSampling: 5' }, /randomSampling/],
    ['no receiver', { tracing: 'randomSampling: true' }, /exactly one of/],
    ['two receivers', { tracing: 'host: "127.0.0.1:1", backend: x' }, /only one of/],
    ['an expression that does not parse', { tracing: 'host: "127.0.0.1:1", filter: "1 +"' }, /tracing\.filter/],
    ['JSON as protocol', { env: { OTLP_PROTOCOL: 'http/json', OTLP_ENDPOINT: 'http://h' } }, /OTLP_PROTOCOL/],
    ['a label twice', { config: 'metrics: {fields: {add: {route: "1"}}}' }, /route/],
  ])('are refused at load: %s', async (_name, options, message) => {
    await expect(start(options)).rejects.toThrow(message);
  });
});

describe('a receiver', () => {
  test('that is busy gets the batch again', async () => {
    let busy = 2;
    const receiver = cleanup.add(
      await serveOtlpHttp(() => (busy-- > 0 ? { status: 503, headers: { 'retry-after': '0' } } : null)),
    );
    const { port, running } = await start({ tracing: `${host(receiver)}, protocol: http` });
    await ask(port, '/shop', { headers: { traceparent: SAMPLED } });
    expect(await receiver.spans(2)).toHaveLength(2);
    await running.logged('spans cannot be exported', '503');
    await running.logged('spans are exported again');
  });

  test('that is unavailable over gRPC gets the batch again', async () => {
    let down = 1;
    const receiver = cleanup.add(await serveOtlpGrpc(() => (down-- > 0 ? { status: 14 } : null)));
    const { port } = await start({ tracing: host(receiver) });
    await ask(port, '/shop', { headers: { traceparent: SAMPLED } });
    expect(await receiver.spans(2)).toHaveLength(2);
  });

  test.each([
    ['gets it again when it says when', retryInfo(0), 2],
    ['is not asked again when it does not', undefined, 1],
  ])('that is exhausted over gRPC %s', async (_name, details, batches) => {
    let exhausted = 1;
    const asked: number[] = [];
    const receiver = cleanup.add(
      await serveOtlpGrpc(() => {
        asked.push(exhausted);
        return exhausted-- > 0 ? { status: 8, ...(details === undefined ? {} : { details }) } : null;
      }),
    );
    const { port, running } = await start({ tracing: host(receiver) });
    await ask(port, '/shop', { headers: { traceparent: SAMPLED } });
    await running.logged('spans cannot be exported', 'RESOURCE_EXHAUSTED');
    await running.gateway.shutdown();
    expect(asked).toHaveLength(batches);
    expect(receiver.batches).toHaveLength(batches - 1);
  });

  test('that refuses, or is not there, costs no request anything', async () => {
    const { port, running } = await start({ tracing: 'host: "127.0.0.1:1"' });
    for (let i = 0; i < 20; i++) {
      expect((await ask(port, '/shop', { headers: { traceparent: SAMPLED } })).status).toBe(200);
    }
    await running.logged('spans cannot be exported', '127.0.0.1:1');
  });

  test.each(
    ['grpc', 'http'].flatMap(
      (protocol) =>
        [
          [protocol, 'says nothing', (): void => {}],
          [protocol, 'resets', (socket: Socket): void => void socket.resetAndDestroy()],
          [
            protocol,
            'speaks something else',
            (socket: Socket): void => void socket.write('SSH-2.0-x is what this is\r\n\r\n'),
          ],
        ] as const,
    ),
  )('over %s that %s costs no request anything', async (protocol, _name, answer) => {
    const receiver = cleanup.add(await tcpUpstream((socket) => socket.on('data', () => answer(socket))));
    const { port, running } = await start({ tracing: `host: "127.0.0.1:${receiver.port}", protocol: ${protocol}` });
    for (let i = 0; i < 5; i++) {
      expect((await ask(port, '/shop', { headers: { traceparent: SAMPLED } })).status).toBe(200);
    }
    await eventually('the receiver is asked', () => receiver.opened() > 0);
    expect((await ask(port, '/shop', { headers: { traceparent: SAMPLED } })).status).toBe(200);
    await running.close();
    await running.logged('spans cannot be exported');
  });

  test('gets what waits when the gateway ends', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const { port, running } = await start({ tracing: `${host(receiver)}, protocol: http` });
    await ask(port, '/shop', { headers: { traceparent: SAMPLED } });
    await running.gateway.shutdown();
    expect(await receiver.spans(2)).toHaveLength(2);
  });

  test('gets what waits when a reload takes its place away, and the next one the rest', async () => {
    const [first, second] = [cleanup.add(await serveOtlpHttp()), cleanup.add(await serveOtlpHttp())];
    const server = cleanup.add(await upstream(echo));
    const text = (receiver: Receiver): string => `
gateways: {default: {port: 80}}
frontendPolicies: {tracing: {${host(receiver)}, protocol: http}}
routes: [{name: all, backends: [{host: "127.0.0.1:${server.port}"}]}]
`;
    const running = cleanup.add(await startGateway(text(first)));
    await ask(running.port(80), '/a', { headers: { traceparent: SAMPLED } });
    expect((await running.reload(text(second))).kind).toBe('live');
    await ask(running.port(80), '/b', { headers: { traceparent: SAMPLED } });
    expect((await first.spans(2))[0]?.attributes['http.path']).toBe('/a');
    expect((await second.spans(2))[0]?.attributes['http.path']).toBe('/b');
  });

  test('is counted with what it got', async () => {
    const receiver = cleanup.add(await serveOtlpHttp());
    const { port, running } = await start({
      tracing: `${host(receiver)}, protocol: http`,
      config: 'metrics: {fields: {add: {team: \'request.headers["x-team"]\'}}}',
    });
    await ask(port, '/shop', { headers: { traceparent: SAMPLED, 'x-team': 'red' } });
    await ask(port, '/shop');
    await receiver.spans(2);
    const counted = /gw_telemetry_export_items_total\{signal="traces",result="sent"\} 2/;
    const giveUpAt = performance.now() + 3000;
    let scrape = '';
    while (!counted.test(scrape) && performance.now() < giveUpAt)
      scrape = await (await fetch(`${running.stats}/metrics`)).text();
    expect(scrape).toMatch(counted);
    expect(scrape).toMatch(/gw_requests_total\{[^}]*team="red"\} 1/);
    expect(scrape).toMatch(/gw_requests_total\{[^}]*team="unknown"\} 1/);
  });
});
