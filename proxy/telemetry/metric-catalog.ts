/** What a metric of the traffic is called, measures and is labelled with; names without the prefix `gw_`. */
export interface MetricSpec {
  /** Full name as exposed, unit and `_total` included. */
  readonly name: string;
  readonly help: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly unit?: 'seconds' | 'bytes' | undefined;
  readonly labels: readonly string[];
  /** Upper bounds, for histograms. */
  readonly buckets?: readonly number[] | undefined;
}

export const METRIC_PREFIX = 'gw_';

const ROUTE_LABELS = ['bind', 'gateway', 'listener', 'route', 'route_rule'];
/** Of the metrics that configured labels are added to. */
export const REQUEST_LABELS: readonly string[] = ['backend', 'protocol', 'method', 'status', 'reason', ...ROUTE_LABELS];
const CONNECTION_LABELS = ['bind', 'gateway', 'listener', 'protocol'];

/** Of the metrics of language models. */
const GEN_AI_LABELS: readonly string[] = [
  'gen_ai_operation_name',
  'gen_ai_system',
  'gen_ai_request_model',
  'gen_ai_response_model',
  ...ROUTE_LABELS,
];

const REQUEST_BUCKETS = [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 40, 80];
const CONNECT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];
const PROCESSING_BUCKETS = [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25];
/** Powers of four. */
const TOKEN_BUCKETS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const ANSWER_BUCKETS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const PER_TOKEN_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const FIRST_TOKEN_BUCKETS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

function genAi(name: string, help: string, buckets: readonly number[]): MetricSpec {
  return { name, help, kind: 'histogram', labels: GEN_AI_LABELS, buckets };
}

function histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): MetricSpec {
  return { name, help, kind: 'histogram', unit: 'seconds', labels, buckets };
}

function counter(name: string, help: string, labels: readonly string[], unit?: 'bytes'): MetricSpec {
  return { name, help, kind: 'counter', unit, labels };
}

/** Metrics that data threads count; the order is that of the exposition. */
export const trafficMetrics = {
  requests: counter('requests_total', 'Requests that were answered', REQUEST_LABELS),
  retries: counter('retries_total', 'Upstream tries beyond the first of a request', REQUEST_LABELS),
  responseBytes: counter('response_bytes_total', 'Bytes of response bodies sent to clients', REQUEST_LABELS, 'bytes'),
  requestDuration: histogram(
    'request_duration_seconds',
    'From the arrival of a request head to the end of its response',
    REQUEST_LABELS,
    REQUEST_BUCKETS,
  ),
  requestProcessing: histogram(
    'request_processing_seconds',
    'Time in the gateway before the request went upstream',
    ['backend', ...ROUTE_LABELS],
    PROCESSING_BUCKETS,
  ),
  responseProcessing: histogram(
    'response_processing_seconds',
    'Time in the gateway between the upstream response head and the head sent to the client',
    ['backend', ...ROUTE_LABELS],
    PROCESSING_BUCKETS,
  ),
  downstreamConnections: counter(
    'downstream_connections_total',
    'Connections accepted from clients',
    CONNECTION_LABELS,
  ),
  downstreamReceived: counter(
    'downstream_received_bytes_total',
    'Bytes received from clients',
    CONNECTION_LABELS,
    'bytes',
  ),
  downstreamSent: counter('downstream_sent_bytes_total', 'Bytes sent to clients', CONNECTION_LABELS, 'bytes'),
  tlsHandshake: histogram(
    'tls_handshake_duration_seconds',
    'TLS handshakes with clients',
    CONNECTION_LABELS,
    CONNECT_BUCKETS,
  ),
  upstreamConnect: histogram(
    'upstream_connect_duration_seconds',
    'Opening of connections to upstreams',
    ['transport'],
    CONNECT_BUCKETS,
  ),
  upstreamCall: histogram(
    'upstream_call_duration_seconds',
    'Calls to upstreams until their response head',
    ['kind', 'subtype'],
    REQUEST_BUCKETS,
  ),
  genAiTokens: {
    name: 'gen_ai_client_token_usage',
    help: 'Tokens of calls of language models',
    kind: 'histogram',
    labels: ['gen_ai_token_type', ...GEN_AI_LABELS],
    buckets: TOKEN_BUCKETS,
  },
  genAiCost: counter('gen_ai_client_cost_usd_total', 'Dollars that calls of language models cost', GEN_AI_LABELS),
  genAiRequest: genAi(
    'gen_ai_server_request_duration',
    'Seconds from the arrival of a request to a language model to the end of its answer',
    ANSWER_BUCKETS,
  ),
  genAiPerToken: genAi(
    'gen_ai_server_time_per_output_token',
    'Seconds for each token of a streamed answer behind the first',
    PER_TOKEN_BUCKETS,
  ),
  genAiFirstToken: genAi(
    'gen_ai_server_time_to_first_token',
    'Seconds from the arrival of a request to the first text that left for the client',
    FIRST_TOKEN_BUCKETS,
  ),
  catalogLookups: counter('cost_catalog_lookups_total', 'Looks at the prices of models', ['status', ...GEN_AI_LABELS]),
  guardrailChecks: counter('guardrail_checks_total', 'Decisions of guards over prompts and answers', [
    'phase',
    'action',
  ]),
  mcpRequests: counter('mcp_requests_total', 'Messages to MCP servers', [
    'method',
    'resource_type',
    'server',
    'resource',
    ...ROUTE_LABELS,
  ]),
  a2aRequests: counter('a2a_requests_total', 'Calls of agents', ['method', 'outcome']),
  telemetryExport: counter('telemetry_export_items_total', 'Spans and log records for receivers of OTLP', [
    'signal',
    'result',
  ]),
} as const satisfies Readonly<Record<string, MetricSpec>>;

export type TrafficMetric = keyof typeof trafficMetrics;

export function isTrafficMetric(name: string): name is TrafficMetric {
  return Object.hasOwn(trafficMetrics, name);
}

/** Whether `config.metrics.remove` names a metric: with or without prefix, unit and `_total`. */
export function isRemoved(spec: Pick<MetricSpec, 'name'>, removed: readonly string[]): boolean {
  const names = new Set([spec.name, spec.name.replace(/_(total|info)$/, ''), bareName(spec.name)]);
  return removed.some((entry) => {
    const wanted = entry.startsWith(METRIC_PREFIX) ? entry.slice(METRIC_PREFIX.length) : entry;
    return names.has(wanted);
  });
}

function bareName(name: string): string {
  return name.replace(/_(total|info)$/, '').replace(/_(seconds|bytes)$/, '');
}
