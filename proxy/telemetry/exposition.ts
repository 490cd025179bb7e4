import { METRIC_PREFIX, type MetricSpec } from './metric-catalog.ts';

/** One series of a metric; for histograms: a count per bucket, one beyond the last, the sum. */
export interface Sample {
  /** In the order of the metric's label names. */
  readonly labels: readonly string[];
  readonly values: ArrayLike<number>;
}

export interface MetricFamily {
  readonly spec: Pick<MetricSpec, 'name' | 'help' | 'labels' | 'buckets' | 'unit'> & {
    readonly kind: MetricSpec['kind'] | 'info';
  };
  readonly samples: readonly Sample[];
  /** Names that other tools expect as they are (`process_cpu_seconds_total`). */
  readonly unprefixed?: boolean | undefined;
}

export type ExpositionFormat = 'openmetrics' | 'prometheus';

export const contentTypes: Readonly<Record<ExpositionFormat, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
};

/** OpenMetrics only for those who ask for it: the older text is understood everywhere. */
export function negotiateFormat(accept: string | undefined): ExpositionFormat {
  return accept !== undefined && /\bapplication\/openmetrics-text\b/.test(accept) ? 'openmetrics' : 'prometheus';
}

export function writeExposition(families: Iterable<MetricFamily>, format: ExpositionFormat): string {
  const lines: string[] = [];
  for (const family of families) if (family.samples.length > 0) writeFamily(lines, family, format);
  if (format === 'openmetrics') lines.push('# EOF');
  return `${lines.join('\n')}\n`;
}

function writeFamily(lines: string[], family: MetricFamily, format: ExpositionFormat): void {
  const { spec, samples } = family;
  const name = `${family.unprefixed === true ? '' : METRIC_PREFIX}${spec.name}`;
  // OpenMetrics names a family without the suffix that its samples carry.
  const familyName = format === 'openmetrics' ? name.replace(/_(total|info)$/, '') : name;
  lines.push(`# HELP ${familyName} ${escapeHelp(spec.help)}`, `# TYPE ${familyName} ${typeName(spec.kind, format)}`);
  if (format === 'openmetrics' && spec.unit !== undefined && familyName.endsWith(`_${spec.unit}`)) {
    lines.push(`# UNIT ${familyName} ${spec.unit}`);
  }
  for (const sample of samples) {
    const labels = spec.labels.map((label, at) => `${label}="${escapeLabel(sample.labels[at] ?? 'unknown')}"`);
    if (spec.kind === 'histogram')
      writeHistogram(lines, { name, labels, bounds: spec.buckets ?? [], values: sample.values });
    else lines.push(`${name}${braces(labels)} ${numberText(sample.values[0] ?? 0)}`);
  }
}

interface HistogramSample {
  readonly name: string;
  readonly labels: readonly string[];
  readonly bounds: readonly number[];
  readonly values: ArrayLike<number>;
}

function writeHistogram(lines: string[], { name, labels, bounds, values }: HistogramSample): void {
  let count = 0;
  bounds.forEach((bound, at) => {
    count += values[at] ?? 0;
    lines.push(`${name}_bucket${braces([...labels, `le="${boundText(bound)}"`])} ${count}`);
  });
  count += values[bounds.length] ?? 0;
  lines.push(
    `${name}_bucket${braces([...labels, 'le="+Inf"'])} ${count}`,
    `${name}_sum${braces(labels)} ${numberText(values[bounds.length + 1] ?? 0)}`,
    `${name}_count${braces(labels)} ${count}`,
  );
}

function typeName(kind: MetricFamily['spec']['kind'], format: ExpositionFormat): string {
  return kind === 'info' && format === 'prometheus' ? 'gauge' : kind;
}

function braces(labels: readonly string[]): string {
  return labels.length === 0 ? '' : `{${labels.join(',')}}`;
}

function boundText(bound: number): string {
  return Number.isInteger(bound) ? `${bound}.0` : numberText(bound);
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}

function escapeLabel(value: string): string {
  return /[\\"\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
