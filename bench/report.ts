import type { BenchCase } from './cases.ts';
import type { Measurement, Skipped } from './measure.ts';

export const YARDSTICK = 'undici';
const ENGINE = 'gwctl';
const MIB = 1024 * 1024;
const COLUMNS = [
  'subject',
  'µs cpu/req',
  `× ${YARDSTICK}`,
  'req/s',
  'p50',
  'p99',
  'p99.9',
  'idle RSS',
  'RSS',
  'errors',
] as const;

/** One case as a table. */
export function caseTable(benchCase: BenchCase, results: readonly (Measurement | Skipped)[]): string {
  const measured = results.filter(isMeasurement);
  const yardstick = measured.find((one) => one.subject === YARDSTICK)?.cpuMicros;
  const rows = measured.map((one) => [
    one.subject,
    one.cpuMicros?.toFixed(1) ?? '-',
    one.cpuMicros === undefined || yardstick === undefined ? '-' : (one.cpuMicros / yardstick).toFixed(2),
    Math.round(one.requestsPerSecond).toString(),
    latency(one.p50),
    latency(one.p99),
    latency(one.p999),
    mebibytes(one.idleRssBytes),
    mebibytes(one.rssBytes),
    one.errors.toString(),
  ]);
  const tool = measured[0] === undefined ? '' : ` (${measured[0].tool}, ${benchCase.connections} connections)`;
  const skipped = results
    .filter((one): one is Skipped => !isMeasurement(one))
    .map((one) => `  ${one.subject} left out: ${one.reason}`);
  return [`${benchCase.name}: ${benchCase.summary}${tool}`, ...aligned([[...COLUMNS], ...rows]), ...skipped].join('\n');
}

export function isMeasurement(result: Measurement | Skipped): result is Measurement {
  return !('reason' in result);
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}

function latency(micros: number): string {
  return micros < 10_000 ? `${(micros / 1000).toFixed(2)}ms` : `${(micros / 1000).toFixed(0)}ms`;
}

function mebibytes(bytes: number | undefined): string {
  return bytes === undefined ? '-' : `${(bytes / MIB).toFixed(0)}M`;
}

export interface Target {
  readonly target: string;
  readonly limit: number;
  /** undefined when this run did not measure it. */
  readonly reached: number | undefined;
}

const LLM_LIMITS = [
  { name: 'llm-chat', limit: 1.4, what: 'the same bodies' },
  { name: 'llm-translate', limit: 2, what: 'bodies of this size' },
  { name: 'llm-stream', limit: 2.5, what: 'as many chunks' },
  { name: 'mcp-call', limit: 2.5, what: 'the same bodies' },
] as const;

/** What the engine has to reach, and what it did. */
export function targets(results: readonly (Measurement | Skipped)[]): readonly Target[] {
  const cost = (name: string, subject: string): number | undefined =>
    results.filter(isMeasurement).find((one) => one.case === name && one.subject === subject)?.cpuMicros;
  const ratio = (a: number | undefined, b: number | undefined): number | undefined =>
    a === undefined || b === undefined ? undefined : a / b;
  const added = (a: number | undefined, b: number | undefined): number | undefined =>
    a === undefined || b === undefined ? undefined : 4 * (a - b);
  const idle = results
    .filter(isMeasurement)
    .find((one) => one.case === 'small' && one.subject === ENGINE)?.idleRssBytes;
  return [
    {
      target: `small: processor time against ${YARDSTICK}`,
      limit: 1.3,
      reached: ratio(cost('small', ENGINE), cost('small', YARDSTICK)),
    },
    {
      target: '1,000 routes: processor time against one route',
      limit: 1.1,
      reached: ratio(cost('routes', ENGINE), cost('routes', `${ENGINE}-1`)),
    },
    {
      target: `stream: processor time against ${YARDSTICK}`,
      limit: 1.5,
      reached: ratio(cost('stream', ENGINE), cost('stream', YARDSTICK)),
    },
    {
      target: 'token, rules, limit and transformation: processor time against the plain route',
      limit: 1.5,
      reached: ratio(cost('policies', ENGINE), cost('policies', `${ENGINE}-1`)),
    },
    {
      target: '100,000 API keys: processor time against one key',
      limit: 1.1,
      reached: ratio(cost('keys', ENGINE), cost('keys', `${ENGINE}-1`)),
    },
    {
      target: '1,000 rules: microseconds of processor time (four times what 250 add)',
      limit: 1000,
      reached: added(cost('rules', ENGINE), cost('rules', `${ENGINE}-1`)),
    },
    ...LLM_LIMITS.map(({ name, limit, what }) => ({
      target: `${name}: processor time against ${what} through a plain route`,
      limit,
      reached: ratio(cost(name, ENGINE), cost(name, `${ENGINE}-1`)),
    })),
    {
      target: 'resident memory idle, one data thread, MiB',
      limit: 120,
      reached: idle === undefined ? undefined : idle / MIB,
    },
  ];
}

export function targetLines(list: readonly Target[]): string {
  const lines = list.map(({ target, limit, reached }) => {
    const verdict = reached === undefined ? 'not measured' : reached <= limit ? 'pass' : 'MISS';
    return `${verdict.padEnd(12)}  ${target}: ${reached?.toFixed(2) ?? '-'} (at most ${limit})`;
  });
  return ['targets', ...lines].join('\n');
}
