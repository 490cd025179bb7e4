import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually } from './clients.ts';
import { type Ask, ask, Cleanup, type RunningGateway, upstream } from './gateway.ts';
import { observing } from './observed.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { startRoutes, answering } = observing(cleanup);

describe('the metrics', () => {
  interface Series {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }

  async function scrape({ stats }: RunningGateway, accept = 'text/plain'): Promise<Series[]> {
    const answer = await fetch(`${stats}/metrics`, { headers: { accept } });
    return (await answer.text()).split('\n').flatMap((line) => {
      const parsed = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
      if (parsed === null) return [];
      const [, name = '', labels = '', value] = parsed;
      const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
        key,
        text,
      ]);
      return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
    });
  }

  function sum(series: readonly Series[], name: string, labels: Readonly<Record<string, string>> = {}): number {
    return series
      .filter(
        (each) => each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value),
      )
      .reduce((total, { value }) => total + value, 0);
  }

  test('count known traffic of both threads, to the byte', async () => {
    const server = await answering(200, '0123456789');
    let calls = 0;
    const flaky = cleanup.add(
      await upstream((_request, response) => {
        calls += 1;
        response.writeHead(calls % 2 === 1 ? 503 : 200).end('again');
      }),
    );
    const running = await startRoutes(`
- {name: plain, ruleName: rule, matches: [{path: {exact: /plain}}], backends: [{host: "127.0.0.1:${server.port}"}]}
- {name: flaky, matches: [{path: {exact: /flaky}}], policies: {retry: {attempts: 1, codes: [503]}}, backends: [{host: "127.0.0.1:${flaky.port}"}]}
- {name: direct, matches: [{path: {exact: /direct}}], policies: {directResponse: {status: 403, body: no}}}
`);
    const times = async (count: number, path: string, options?: Ask): Promise<void> => {
      await Promise.all(Array.from({ length: count }, () => ask(running.port(80), path, options)));
    };
    await times(20, '/plain');
    await times(3, '/plain', { method: 'POST', body: 'x'.repeat(1000) });
    await times(1, '/flaky');
    await times(4, '/direct');
    await times(2, '/nothing');
    await times(1, '/plain', { method: 'PURGE' });
    await eventually('all is counted', async () => sum(await scrape(running), 'gw_requests_total') === 31);
    const series = await scrape(running);
    const route = { bind: 'bind/80', gateway: 'default/default', listener: 'default' };
    const plain = { ...route, route: 'default/plain', route_rule: 'rule', status: '200', reason: 'Upstream' };
    expect(sum(series, 'gw_requests_total', { ...plain, method: 'GET', protocol: 'http' })).toBe(20);
    expect(sum(series, 'gw_requests_total', { ...plain, method: 'POST' })).toBe(3);
    expect(sum(series, 'gw_requests_total', { ...plain, method: 'OTHER' })).toBe(1);
    expect(sum(series, 'gw_requests_total', { route: 'default/direct', status: '403', reason: 'DirectResponse' })).toBe(
      4,
    );
    expect(sum(series, 'gw_requests_total', { route: 'unknown', status: '404', reason: 'NotFound' })).toBe(2);
    expect(sum(series, 'gw_retries_total')).toBe(1);
    expect(sum(series, 'gw_response_bytes_total', plain)).toBe(240);
    expect(sum(series, 'gw_response_bytes_total', { route: 'default/direct' })).toBe(8);
    expect(sum(series, 'gw_request_duration_seconds_count', plain)).toBe(24);
    expect(sum(series, 'gw_request_processing_seconds_count')).toBe(25);
    expect(sum(series, 'gw_response_processing_seconds_count')).toBe(25);
    expect(sum(series, 'gw_upstream_call_duration_seconds_count', { kind: 'Primary', subtype: 'Http' })).toBe(26);
    const connections = sum(series, 'gw_upstream_connect_duration_seconds_count', { transport: 'plaintext' });
    expect(connections).toBeGreaterThanOrEqual(2);
    expect(connections).toBeLessThanOrEqual(26);
    expect(sum(series, 'gw_downstream_connections_total', { ...route, protocol: 'http' })).toBe(31);
    expect(sum(series, 'gw_downstream_received_bytes_total')).toBeGreaterThan(3000);
    expect(sum(series, 'gw_downstream_sent_bytes_total')).toBeGreaterThan(240);
    expect(series.filter(({ name }) => name.startsWith('gw_tls_handshake'))).toEqual([]);
  });

  test('have histograms whose buckets grow to their count', async () => {
    const server = await answering(200, 'x');
    const running = await startRoutes(`- backends: [{host: "127.0.0.1:${server.port}"}]`);
    for (let n = 0; n < 5; n++) await ask(running.port(80), '/');
    await eventually('all is counted', async () => sum(await scrape(running), 'gw_requests_total') === 5);
    const series = await scrape(running);
    for (const name of ['gw_request_duration_seconds', 'gw_upstream_call_duration_seconds']) {
      const own = ({ labels }: Series): boolean => labels['kind'] !== 'Mirror' && labels['subtype'] !== 'Llm';
      const buckets = series.filter((each) => each.name === `${name}_bucket` && own(each));
      const counts = buckets.map(({ value }) => value);
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      expect(buckets.at(-1)).toMatchObject({ value: 5, labels: { le: '+Inf' } });
      expect(sum(series, `${name}_count`)).toBe(5);
      const total = sum(series, `${name}_sum`);
      expect(total).toBeGreaterThan(0);
      expect(total).toBeLessThan(5 * 80);
    }
  });

  test('are OpenMetrics for those who ask for it', async () => {
    const running = await startRoutes('- policies: {directResponse: {status: 200}}');
    const answer = await fetch(`${running.stats}/metrics`, { headers: { accept: 'application/openmetrics-text' } });
    expect(answer.headers.get('content-type')).toContain('application/openmetrics-text');
    expect(await answer.text()).toMatch(/# EOF\n$/);
    const other = await fetch(`${running.stats}/stats/prometheus`);
    expect([other.status, (await fetch(`${running.stats}/config_dump`)).status]).toEqual([200, 404]);
  });
});
