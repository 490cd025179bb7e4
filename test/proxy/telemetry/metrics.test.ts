import { describe, expect, test } from '@jest/globals';

import { SeriesTotals } from '../../../proxy/supervisor/shared-metrics.ts';
import { negotiateFormat, writeExposition } from '../../../proxy/telemetry/exposition.ts';
import { ThreadMetrics, type RequestSample } from '../../../proxy/telemetry/thread-metrics.ts';
import { trafficFamilies, withoutRemoved } from '../../../proxy/telemetry/traffic-families.ts';

const route = { bind: 'bind/80', gateway: 'default/default', listener: 'http', route: 'default/r', routeRule: '' };
const sample: RequestSample = {
  method: 'GET',
  status: 200,
  reason: 'Upstream',
  durationMs: 15,
  responseBytes: 100,
  retries: 0,
  requestProcessingMs: 0.07,
  responseProcessingMs: 0.3,
};

function threads(count: number) {
  const totals = new SeriesTotals();
  const metrics = Array.from(
    { length: count },
    (_, index) => new ThreadMetrics((series) => totals.register(index, series)),
  );
  const text = (removed: readonly string[] = []) =>
    writeExposition(withoutRemoved(trafficFamilies(totals), removed), 'openmetrics');
  return { totals, metrics, text };
}

/** `name{labels}` to value, with the type of each family; throws on a line that is not exposition text. */
function parse(text: string): Map<string, number> {
  const values = new Map<string, number>();
  for (const line of text.trimEnd().split('\n')) {
    if (line.startsWith('#')) {
      expect(line).toMatch(/^# (HELP \w+ .+|TYPE \w+ (counter|gauge|histogram|info)|UNIT \w+ \w+|EOF)$/);
      continue;
    }
    const match = /^(\w+(?:\{(?:\w+="(?:[^"\\\n]|\\["\\n])*"(?:,(?!\}))?)*\})?) (-?[\d.e+-]+|\+Inf)$/.exec(line);
    expect([line, match]).not.toEqual([line, null]);
    values.set(match?.[1] ?? '', Number(match?.[2]));
  }
  return values;
}

function at(text: string, name: string, ...labels: readonly string[]): number | undefined {
  return [...parse(text)].find(
    ([key]) => key.startsWith(`${name}{`) && labels.every((label) => key.includes(label)),
  )?.[1];
}

describe('traffic metrics', () => {
  test('are added up over threads and keep the counts of a thread that is gone', () => {
    const { totals, metrics, text } = threads(2);
    for (const thread of metrics) thread.route(route).backend('/b', 'http').finished(sample);
    expect(at(text(), 'gw_requests_total', 'status="200"', 'route_rule="unknown"')).toBe(2);
    totals.retire(0);
    expect(at(text(), 'gw_requests_total')).toBe(2);
    const successor = new ThreadMetrics((series) => totals.register(7, series));
    successor.route(route).backend('/b', 'http').finished(sample);
    expect(at(text(), 'gw_requests_total')).toBe(3);
    expect(at(text(), 'gw_response_bytes_total')).toBe(300);
  });

  test('histograms are cumulative and end in the count', () => {
    const { metrics, text } = threads(1);
    const series = metrics[0]?.route(route).backend('/b', 'http');
    for (const durationMs of [0.5, 15, 15, 100_000]) series?.finished({ ...sample, durationMs });
    const bucket = (le: string) => at(text(), 'gw_request_duration_seconds_bucket', `le="${le}"`);
    expect([bucket('0.001'), bucket('0.01'), bucket('0.02'), bucket('80.0'), bucket('+Inf')]).toEqual([1, 1, 3, 3, 4]);
    expect(at(text(), 'gw_request_duration_seconds_count')).toBe(4);
    expect(at(text(), 'gw_request_duration_seconds_sum')).toBeCloseTo(100.0305);
    expect(at(text(), 'gw_request_processing_seconds_bucket', 'le="0.0001"')).toBe(4);
  });

  test('a client cannot make up label values', () => {
    const { metrics, text } = threads(1);
    const series = metrics[0]?.route(route).backend('/b', 'http');
    for (let n = 0; n < 100; n++) series?.finished({ ...sample, method: `M${n}` });
    series?.finished({ ...sample, method: 'PATCH' });
    series?.finished({ ...sample, method: 'OTHER', status: 201 });
    expect(at(text(), 'gw_requests_total', 'method="OTHER"', 'status="200"')).toBe(100);
    expect(at(text(), 'gw_requests_total', 'method="PATCH"', 'status="200"')).toBe(1);
    expect(at(text(), 'gw_requests_total', 'method="OTHER"', 'status="201"')).toBe(1);
  });

  test('series beyond the limit are counted together', () => {
    const { metrics, text } = threads(1);
    for (let n = 0; n < 25_000; n++)
      metrics[0]?.counter('requests', [`b${n}`, ...Array.from({ length: 9 }, () => 'x')]).add(1);
    expect(at(text(), 'gw_requests_total', 'backend="overflow"')).toBe(5000);
  });

  test('label values with quotes, backslashes and line ends stay one line', () => {
    const { metrics, text } = threads(1);
    metrics[0]?.connection({ bind: 'a"b\\c\nd', gateway: '', listener: '', protocol: 'http' }).accepted.add(2);
    expect(at(text(), 'gw_downstream_connections_total', 'bind="a\\"b\\\\c\\nd"')).toBe(2);
  });

  test.each(['requests', 'gw_requests_total', 'requests_total', 'gw_requests'])(
    'remove: %s drops the metric and no other',
    (name) => {
      const { metrics, text } = threads(1);
      metrics[0]?.route(route).backend('/b', 'http').finished(sample);
      expect(text([name])).not.toContain('gw_requests');
      expect(text([name])).toContain('gw_request_duration_seconds');
    },
  );

  test('a histogram can be removed without its unit', () => {
    const { metrics, text } = threads(1);
    metrics[0]?.upstreamConnect('tls').observe(0.004);
    expect(text(['upstream_connect_duration'])).not.toContain('upstream_connect');
  });

  test('the format follows Accept', () => {
    expect(negotiateFormat('application/openmetrics-text;version=1.0.0;q=0.6,text/plain;q=0.4')).toBe('openmetrics');
    expect(negotiateFormat('text/plain')).toBe('prometheus');
    expect(negotiateFormat(undefined)).toBe('prometheus');
  });
});
