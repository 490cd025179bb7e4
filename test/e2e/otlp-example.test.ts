import { afterEach, expect, test } from '@jest/globals';

import { codeSpans, read } from '../docs/markdown.ts';
import { serveOtlpGrpc, serveOtlpHttp } from '../services/otlp.ts';
import { ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function startExample() {
  const traces = cleanup.add(await serveOtlpGrpc());
  const logs = cleanup.add(await serveOtlpHttp());
  const shop = cleanup.add(await upstream(echo));
  const local = 'config: {adminAddr: "127.0.0.1:1", statsAddr: "127.0.0.1:1", readinessAddr: "127.0.0.1:1", ';
  const text = read('examples/otlp/gateway.yaml')
    .replace('localhost:9000', `127.0.0.1:${shop.port}`)
    .replace('localhost:4317', `127.0.0.1:${traces.port}`)
    .replace('localhost:4318', `127.0.0.1:${logs.port}`)
    .replace('port: 8080', 'port: 80')
    .replace('config:\n', `${local.slice(0, -2).replace('{', '\n  ').replaceAll(', ', '\n  ')}\n`);
  const running = cleanup.add(await startGateway(text));
  return { running, traces, logs };
}

test('the example of exported telemetry sends traces and logs, with fields, attributes and labels', async () => {
  const { running, traces, logs } = await startExample();
  const headers = { 'x-team': 'red', 'x-debug': '1', 'user-agent': 'shopper/1.0' };
  await ask(running.port(80), '/healthz', { headers });
  await ask(running.port(80), '/cart', { headers });
  const [record] = await logs.records(1);
  expect(record?.attributes).toMatchObject({
    'http.path': '/cart',
    team: 'red',
    'caller.name': 'shopper',
    'caller.address': '127.0.0.1',
  });
  const spans = await traces.spans(4);
  const resource = { 'service.name': 'shop-gateway', 'deployment.environment.name': 'test' };
  expect(spans[0]).toMatchObject({ resource, attributes: { team: 'red' } });
  const scrape = await (await fetch(`${running.stats}/metrics`)).text();
  expect(scrape).toMatch(/gw_requests_total\{[^}]*team="red"\} 2/);
  expect(running.log.filter((line) => line.includes('\trequest '))).toEqual([]);
});

test('the attributes that spans have are described', async () => {
  const { running, traces } = await startExample();
  await ask(running.port(80), '/cart', { headers: { 'x-debug': '1' } });
  const spans = await traces.spans(2);
  const described = new Set(codeSpans(read('docs/observability.md')));
  const seen = spans.flatMap(({ attributes }) => Object.keys(attributes)).filter((key) => key !== 'team');
  expect(seen.length).toBeGreaterThan(10);
  expect(seen.filter((key) => !described.has(key))).toEqual([]);
});
