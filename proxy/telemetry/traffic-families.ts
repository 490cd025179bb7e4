import type { SeriesTotals } from '../supervisor/shared-metrics.ts';
import type { MetricFamily, Sample } from './exposition.ts';
import {
  isRemoved,
  isTrafficMetric,
  type MetricSpec,
  REQUEST_LABELS,
  trafficMetrics,
  type TrafficMetric,
} from './metric-catalog.ts';

/**
 * The data threads' numbers, added up, by metric in the catalogue's order. `configuredLabels` are those that expressions
 * give to the metrics of requests.
 */
export function trafficFamilies(totals: SeriesTotals, configuredLabels: readonly string[] = []): MetricFamily[] {
  const samples = new Map<TrafficMetric, Sample[]>();
  for (const { metric, labels, values } of totals.totals()) {
    if (!isTrafficMetric(metric)) continue;
    const list = samples.get(metric);
    if (list === undefined) samples.set(metric, [{ labels, values }]);
    else list.push({ labels, values });
  }
  return Object.keys(trafficMetrics)
    .filter(isTrafficMetric)
    .map((metric) => ({ spec: labelledSpec(metric, configuredLabels), samples: samples.get(metric) ?? [] }));
}

function labelledSpec(metric: TrafficMetric, configured: readonly string[]): MetricSpec {
  const spec: MetricSpec = trafficMetrics[metric];
  return spec.labels === REQUEST_LABELS ? { ...spec, labels: [...spec.labels, ...configured] } : spec;
}

/** Leaves out what `config.metrics.remove` names. */
export function withoutRemoved(families: readonly MetricFamily[], removed: readonly string[]): MetricFamily[] {
  return families.filter(({ spec }) => !isRemoved(spec, removed));
}
