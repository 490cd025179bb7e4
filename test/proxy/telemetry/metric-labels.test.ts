import { describe, expect, test } from '@jest/globals';

import { createExpressions } from '../../../proxy/expression/expressions.ts';
import { SeriesTotals, type SeriesRegistration } from '../../../proxy/supervisor/shared-metrics.ts';
import { writeExposition } from '../../../proxy/telemetry/exposition.ts';
import { REQUEST_LABELS } from '../../../proxy/telemetry/metric-catalog.ts';
import { LabelSets, MAX_LABEL_SETS, MetricLabels } from '../../../proxy/telemetry/metric-labels.ts';
import { ThreadMetrics } from '../../../proxy/telemetry/thread-metrics.ts';
import { trafficFamilies } from '../../../proxy/telemetry/traffic-families.ts';
import { trafficLabels } from '../../../src/config/schema/observability.ts';
import { finishedExchange } from './context.ts';

const expressions = createExpressions();

function labels(...sources: readonly string[]): MetricLabels {
  const add = sources.map((source, index) => [`l${index}`, source] as const);
  return new MetricLabels(add, expressions, new LabelSets(sources.length));
}

describe('labels of metrics', () => {
  test('are texts; what fails, is null or something else is unknown', () => {
    const all = labels('request.method', 'jwt.sub', 'null', 'response.code', 'string(response.code)', '""');
    expect(all.of(finishedExchange())).toEqual(['GET', 'unknown', 'unknown', 'unknown', '503', 'unknown']);
  });

  test('are other when they are too long, and never have control characters', () => {
    const both = labels('request.headers["x-team"]');
    expect(both.of(finishedExchange({ headers: { 'x-team': 'x'.repeat(257) } }))).toEqual(['other']);
    expect(both.of(finishedExchange({ headers: { 'x-team': 'a\tb' } }))).toEqual(['a b']);
  });

  test('are bounded in number: what comes later is other', () => {
    const team = labels('request.headers["x-team"]');
    const of = (value: string): readonly string[] => team.of(finishedExchange({ headers: { 'x-team': value } }));
    for (let i = 0; i < MAX_LABEL_SETS; i++) of(`t${i}`);
    expect(of('one more')).toEqual(['other']);
    expect(of('t7')).toEqual(['t7']);
    expect(of('t7')).toBe(of('t7'));
  });

  test('that exist already are those that the configuration refuses', () => {
    expect([...trafficLabels].filter((label) => label !== 'le')).toEqual(REQUEST_LABELS);
  });

  test('stand behind the others on the metrics of requests, and on no others', () => {
    const totals = new SeriesTotals();
    const metrics = new ThreadMetrics((registration: SeriesRegistration) => totals.register(0, registration));
    const series = metrics
      .route({ bind: 'b', gateway: 'g', listener: 'l', route: 'r', routeRule: '' })
      .backend('/shop', 'http');
    const sample = {
      method: 'GET',
      status: 200,
      reason: 'Upstream',
      durationMs: 5,
      responseBytes: 10,
      retries: 0,
      requestProcessingMs: 1,
      responseProcessingMs: 1,
    } as const;
    const team = labels('request.headers["x-team"]');
    series.finishedWith(sample, team.of(finishedExchange({ headers: { 'x-team': 'a"b' } })));
    series.finishedWith(sample, team.of(finishedExchange({ headers: { 'x-team': 'a"b' } })));
    series.finishedWith(sample, team.of(finishedExchange()));
    const text = writeExposition(trafficFamilies(totals, ['team']), 'prometheus');
    const counted = text.split('\n').filter((line) => line.startsWith('gw_requests_total'));
    expect(counted.map((line) => line.replace(/.*route_rule/, 'route_rule'))).toEqual([
      'route_rule="unknown",team="a\\"b"} 2',
      'route_rule="unknown",team="unknown"} 1',
    ]);
    expect(text).toMatch(/gw_request_processing_seconds_count\{[^}]*route_rule="unknown"\} 3/);
  });
});
