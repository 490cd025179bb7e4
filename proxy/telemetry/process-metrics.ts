import type { ThreadRuntime } from '../supervisor/messages.ts';
import type { MetricFamily } from './exposition.ts';
import { countDescriptors, readCgroup, readSmaps } from './system-memory.ts';

export interface ProcessFacts {
  readonly version: string;
  readonly configSynchronized: boolean;
  readonly runtimes: readonly ThreadRuntime[];
}

/** Everything exposed that is not counted by data threads. */
export async function processMetrics(facts: ProcessFacts): Promise<readonly MetricFamily[]> {
  const [smaps, cgroup, descriptors] = await Promise.all([readSmaps(), readCgroup(), countDescriptors()]);
  return [
    {
      spec: { name: 'build_info', help: 'The running version', kind: 'info', labels: ['tag'] },
      samples: [{ labels: [facts.version], values: [1] }],
    },
    gauge('config_synchronized', '1 while the live configuration is the one on disk', facts.configSynchronized ? 1 : 0),
    ...standardMetrics(descriptors),
    ...figures('process', 'Memory of the process: ', smaps),
    ...figures('cgroup', 'Memory of the control group: ', cgroup),
    ...runtimeMetrics(facts.runtimes),
  ];
}

/** Names as every Prometheus client library exposes them. */
function standardMetrics(descriptors: number | undefined): MetricFamily[] {
  const cpu = process.cpuUsage();
  const standard = (name: string, help: string, kind: 'counter' | 'gauge', value: number): MetricFamily => ({
    ...gauge(name, help, value),
    spec: { name, help, kind, labels: [] },
    unprefixed: true,
  });
  return [
    standard('process_cpu_seconds_total', 'Processor time, user and system', 'counter', (cpu.user + cpu.system) / 1e6),
    standard('process_resident_memory_bytes', 'Resident memory', 'gauge', process.memoryUsage.rss()),
    standard('process_start_time_seconds', 'Start of the process, Unix time', 'gauge', performance.timeOrigin / 1000),
    ...(descriptors === undefined ? [] : [standard('process_open_fds', 'Open file descriptors', 'gauge', descriptors)]),
  ];
}

function runtimeMetrics(runtimes: readonly ThreadRuntime[]): MetricFamily[] {
  const perThread = (name: string, help: string, read: (runtime: ThreadRuntime) => number): MetricFamily => ({
    spec: { name: `runtime_${name}`, help, kind: 'gauge', labels: ['thread'] },
    samples: runtimes.map((runtime) => ({ labels: [runtime.thread], values: [read(runtime)] })),
  });
  return [
    perThread('heap_used_bytes', 'Live and not yet collected objects', ({ heap }) => heap.used),
    perThread('heap_total_bytes', 'Heap taken from the system', ({ heap }) => heap.total),
    perThread('heap_limit_bytes', 'Largest heap the thread may have', ({ heap }) => heap.limit),
    perThread('external_bytes', 'Memory outside of the heap held by objects on it', ({ heap }) => heap.external),
    perThread('event_loop_utilization', 'Share of the time spent working, since the thread began', (runtime) => {
      return runtime.eventLoopUtilization;
    }),
    perThread(
      'event_loop_lag_mean_seconds',
      'Mean delay of timers since the last scrape',
      ({ eventLoopLag }) => eventLoopLag.mean,
    ),
    perThread(
      'event_loop_lag_max_seconds',
      'Longest delay of timers since the last scrape',
      ({ eventLoopLag }) => eventLoopLag.max,
    ),
  ];
}

function figures(prefix: string, help: string, values: Readonly<Record<string, number>> | null): MetricFamily[] {
  return Object.entries(values ?? {}).map(([name, value]) => gauge(`${prefix}_${name}_bytes`, `${help}${name}`, value));
}

function gauge(name: string, help: string, value: number): MetricFamily {
  return { spec: { name, help, kind: 'gauge', labels: [] }, samples: [{ labels: [], values: [value] }] };
}
