import type { Reason } from '../exchange/refusal.ts';
import { SeriesSlab, type SeriesRegistration } from '../supervisor/shared-metrics.ts';
import { GenAiSeries } from './gen-ai-series.ts';
import { LabelSets } from './metric-labels.ts';
import { trafficMetrics, type MetricSpec, type TrafficMetric } from './metric-catalog.ts';

/** Labels that every request of a route has in common. */
export interface RouteLabels {
  readonly bind: string;
  readonly gateway: string;
  readonly listener: string;
  readonly route: string;
  readonly routeRule: string;
}

export interface ConnectionLabels {
  readonly bind: string;
  readonly gateway: string;
  readonly listener: string;
  readonly protocol: 'http' | 'https' | 'tcp' | 'tls';
}

/** What a finished request adds; milliseconds. */
export interface RequestSample {
  readonly method: string;
  readonly status: number;
  readonly reason: Reason | 'Upstream';
  readonly durationMs: number;
  readonly responseBytes: number;
  readonly retries: number;
  /** Undefined when the request never went upstream. */
  readonly requestProcessingMs: number | undefined;
  readonly responseProcessingMs: number | undefined;
}

export type CallKind = 'Primary' | 'Policy' | 'Mirror';
export type CallSubtype = 'Http' | 'Llm' | 'Mcp' | 'ExtAuthz' | 'ExtProc' | 'Guardrail' | 'RateLimit' | 'Oidc';

/** Beyond this many series of one thread, further label sets are counted together as `overflow`. */
const MAX_SERIES = 20_000;
const UNKNOWN = 'unknown';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'];

/** The numbers of one data thread. Series are resolved once; counting is a few additions in shared memory. */
export class ThreadMetrics {
  readonly #slab: SeriesSlab;
  readonly #known = new Map<string, Counter | Histogram>();
  readonly #routes = new Map<string, RouteSeries>();
  readonly #connections = new Map<string, ConnectionSeries>();
  readonly #models = new LabelSets(3);
  #labelSets: LabelSets | null = null;
  #series = 0;

  constructor(register: (registration: SeriesRegistration) => void) {
    this.#slab = new SeriesSlab(register);
  }

  /** The series of a route; keep the result beside the compiled route. */
  route(labels: RouteLabels): RouteSeries {
    const values = [labels.bind, labels.gateway, labels.listener, labels.route, labels.routeRule].map(orUnknown);
    return memo(this.#routes, values.join('\n'), () => new RouteSeries(this, values));
  }

  connection(labels: ConnectionLabels): ConnectionSeries {
    const values = [labels.bind, labels.gateway, labels.listener, labels.protocol].map(orUnknown);
    return memo(this.#connections, values.join('\n'), () => new ConnectionSeries(this, values));
  }

  upstreamConnect(transport: 'plaintext' | 'tls'): Histogram {
    return this.histogram('upstreamConnect', [transport]);
  }

  upstreamCall(kind: CallKind, subtype: CallSubtype): Histogram {
    return this.histogram('upstreamCall', [kind, subtype]);
  }

  /** Bounds for values of configured labels; kept over reloads, as the series are. */
  labelSets(count: number): LabelSets {
    return (this.#labelSets ??= new LabelSets(count));
  }

  /** Bounds for names of models, which clients choose. */
  get modelSets(): LabelSets {
    return this.#models;
  }

  counter(metric: TrafficMetric, labels: readonly string[]): Counter {
    const found = this.#resolve(metric, labels, (slab, bounded) => new Counter(slab, metric, bounded));
    if (found instanceof Counter) return found;
    throw new TypeError(`${metric} is not a counter`);
  }

  histogram(metric: TrafficMetric, labels: readonly string[]): Histogram {
    const found = this.#resolve(metric, labels, (slab, bounded) => new Histogram(slab, metric, bounded));
    if (found instanceof Histogram) return found;
    throw new TypeError(`${metric} is not a histogram`);
  }

  #resolve(
    metric: TrafficMetric,
    labels: readonly string[],
    create: (slab: SeriesSlab, labels: readonly string[]) => Counter | Histogram,
  ): Counter | Histogram {
    const key = `${metric}\n${labels.join('\n')}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#series >= MAX_SERIES && !labels.every((label) => label === 'overflow')) {
      return this.#resolve(
        metric,
        labels.map(() => 'overflow'),
        create,
      );
    }
    const created = create(this.#slab, labels);
    this.#known.set(key, created);
    this.#series += 1;
    return created;
  }
}

/** One route: hands out the series of the backends that answered for it. */
export class RouteSeries {
  readonly #metrics: ThreadMetrics;
  readonly #labels: readonly string[];
  readonly #backends = new Map<string, BackendSeries>();
  readonly #models = new Map<readonly string[], GenAiSeries>();
  #lastModel: { provider: string; requested: string; answered: string; series: GenAiSeries } | null = null;

  constructor(metrics: ThreadMetrics, labels: readonly string[]) {
    this.#metrics = metrics;
    this.#labels = labels;
  }

  /** Calls of one model: who serves it, what was asked for, what answered. */
  model(provider: string, requested: string, answered: string): GenAiSeries {
    const last = this.#lastModel;
    if (last?.provider === provider && last.requested === requested && last.answered === answered) return last.series;
    const labels = this.#metrics.modelSets.bounded([provider, requested, answered].map(modelLabel));
    const series = memo(this.#models, labels, () => new GenAiSeries(this.#metrics, [...labels, ...this.#labels]));
    this.#lastModel = { provider, requested, answered, series };
    return series;
  }

  /** Messages to MCP servers; labels that say nothing are empty. */
  mcp(labels: readonly [method: string, resourceType: string, server: string, resource: string]): Counter {
    return this.#metrics.counter('mcpRequests', [...labels.map(orUnknown), ...this.#labels]);
  }

  /** `backend` is empty when none was chosen. */
  backend(backend: string, protocol: string): BackendSeries {
    return memo(
      this.#backends,
      `${backend}\n${protocol}`,
      () =>
        new BackendSeries(this.#metrics, {
          backend: orUnknown(backend),
          protocol: orUnknown(protocol),
          route: this.#labels,
        }),
    );
  }
}

interface OutcomeSeries {
  readonly requests: Counter;
  readonly retries: Counter;
  readonly responseBytes: Counter;
  readonly duration: Histogram;
}

/** One backend of one route: what the engine calls when a request has ended. */
export class BackendSeries {
  readonly #metrics: ThreadMetrics;
  readonly #labels: { readonly backend: string; readonly protocol: string; readonly route: readonly string[] };
  readonly #configured: readonly string[];
  readonly #outcomes = new Map<string, Map<number, OutcomeSeries>>();
  readonly #labelled = new Map<readonly string[], BackendSeries>();
  #requestProcessing: Histogram | null = null;
  #responseProcessing: Histogram | null = null;

  constructor(
    metrics: ThreadMetrics,
    labels: { backend: string; protocol: string; route: readonly string[] },
    configured: readonly string[] = [],
  ) {
    this.#metrics = metrics;
    this.#labels = labels;
    this.#configured = configured;
  }

  finished(sample: RequestSample): void {
    this.#count(this.#outcome(sample.method, sample.status, sample.reason), sample);
  }

  /** The same with values of the configured labels, one list for equal ones. */
  finishedWith(sample: RequestSample, labels: readonly string[]): void {
    const known = memo(this.#labelled, labels, () => new BackendSeries(this.#metrics, this.#labels, labels));
    known.finished(sample);
  }

  #count(outcome: OutcomeSeries, sample: RequestSample): void {
    outcome.requests.add(1);
    outcome.duration.observe(sample.durationMs / 1000);
    if (sample.responseBytes > 0) outcome.responseBytes.add(sample.responseBytes);
    if (sample.retries > 0) outcome.retries.add(sample.retries);
    const { requestProcessingMs, responseProcessingMs } = sample;
    if (requestProcessingMs !== undefined) {
      this.#requestProcessing ??= this.#processing('requestProcessing');
      this.#requestProcessing.observe(requestProcessingMs / 1000);
    }
    if (responseProcessingMs !== undefined) {
      this.#responseProcessing ??= this.#processing('responseProcessing');
      this.#responseProcessing.observe(responseProcessingMs / 1000);
    }
  }

  /** Made when first needed: answers of the gateway itself have no such times. */
  #processing(metric: 'requestProcessing' | 'responseProcessing'): Histogram {
    return this.#metrics.histogram(metric, [this.#labels.backend, ...this.#labels.route]);
  }

  #outcome(method: string, status: number, reason: string): OutcomeSeries {
    const position = METHODS.indexOf(method);
    const key = status * 16 + position + 1;
    const found = this.#outcomes.get(reason)?.get(key);
    if (found !== undefined) return found;
    // Clients choose the method: anything unusual is one label value.
    const created = this.#resolve(position === -1 ? 'OTHER' : method, status, reason);
    memo(this.#outcomes, reason, () => new Map<number, OutcomeSeries>()).set(key, created);
    return created;
  }

  #resolve(method: string, status: number, reason: string): OutcomeSeries {
    const { backend, protocol, route } = this.#labels;
    const labels = [backend, protocol, method, String(status), reason, ...route, ...this.#configured];
    return {
      requests: this.#metrics.counter('requests', labels),
      retries: this.#metrics.counter('retries', labels),
      responseBytes: this.#metrics.counter('responseBytes', labels),
      duration: this.#metrics.histogram('requestDuration', labels),
    };
  }
}

/** Connections of one listener. */
export class ConnectionSeries {
  readonly accepted: Counter;
  readonly receivedBytes: Counter;
  readonly sentBytes: Counter;
  readonly #metrics: ThreadMetrics;
  readonly #labels: readonly string[];

  constructor(metrics: ThreadMetrics, labels: readonly string[]) {
    this.#metrics = metrics;
    this.#labels = labels;
    this.accepted = metrics.counter('downstreamConnections', labels);
    this.receivedBytes = metrics.counter('downstreamReceived', labels);
    this.sentBytes = metrics.counter('downstreamSent', labels);
  }

  /** Seconds; no series for those who never shake hands. */
  get tlsHandshake(): Histogram {
    return this.#metrics.histogram('tlsHandshake', this.#labels);
  }
}

export class Counter {
  readonly #cells: Float64Array;
  readonly #at: number;

  constructor(slab: SeriesSlab, metric: TrafficMetric, labels: readonly string[]) {
    const { cells, offset } = slab.allocate(metric, labels, 1);
    this.#cells = cells;
    this.#at = offset;
  }

  add(amount: number): void {
    this.#cells[this.#at] = (this.#cells[this.#at] ?? 0) + amount;
  }
}

/** Cells: one count per bucket, one for what is beyond the last, the sum. */
export class Histogram {
  readonly #cells: Float64Array;
  readonly #at: number;
  readonly #bounds: readonly number[];

  constructor(slab: SeriesSlab, metric: TrafficMetric, labels: readonly string[]) {
    const spec: MetricSpec = trafficMetrics[metric];
    this.#bounds = spec.buckets ?? [];
    const { cells, offset } = slab.allocate(metric, labels, this.#bounds.length + 2);
    this.#cells = cells;
    this.#at = offset;
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    const cell = this.#at + bucket;
    const sum = this.#at + bounds.length + 1;
    this.#cells[cell] = (this.#cells[cell] ?? 0) + 1;
    this.#cells[sum] = (this.#cells[sum] ?? 0) + value;
  }
}

const MAX_MODEL_NAME = 256;

function modelLabel(name: string): string {
  return name.length > MAX_MODEL_NAME ? 'other' : orUnknown(name);
}

function orUnknown(value: string): string {
  return value === '' ? UNKNOWN : value;
}

function memo<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
