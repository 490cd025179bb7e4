import type { A2aFacts } from '../exchange/a2a-facts.ts';
import type { McpFacts } from '../exchange/mcp-facts.ts';
import type { LlmFacts } from '../exchange/llm-facts.ts';
import type { Reason } from '../exchange/refusal.ts';
import { AGENT_FIELDS } from './agent-fields.ts';
import { MCP_FIELDS } from './mcp-fields.ts';
import { short } from './short.ts';
import { MODEL_FIELDS } from './model-fields.ts';

/** What the access log tells of one request (or one proxied TCP connection); absent values are left out of the line. */
export interface AccessRecord {
  readonly connectionId?: string | number | undefined;
  readonly requestId?: string | undefined;
  /** `namespace/name` */
  readonly gateway?: string | undefined;
  readonly listener?: string | undefined;
  readonly routeRule?: string | undefined;
  /** `namespace/name` */
  readonly route?: string | undefined;
  /** `ip:port`, `host:port` or socket path that was called. */
  readonly endpoint?: string | undefined;
  /** `ip:port` */
  readonly sourceAddress?: string | undefined;
  readonly sourceIdentity?: string | null | undefined;
  readonly method?: string | undefined;
  /** Without the port. */
  readonly host?: string | undefined;
  /** Path and query as the client sent them, credentials redacted. */
  readonly path?: string | undefined;
  readonly version?: string | undefined;
  readonly status?: number | undefined;
  readonly grpcStatus?: number | undefined;
  /** Shown only when there is no host. */
  readonly tlsSni?: string | null | undefined;
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
  /** `sub` of the verified token. */
  readonly jwtSubject?: string | undefined;
  /** What is spoken to the backend. */
  readonly protocol?: string | undefined;
  /** The call of a language model, when it was one. */
  readonly llm?: LlmFacts | undefined;
  /** The call of an agent, when it was one. */
  readonly a2a?: A2aFacts | undefined;
  /** The message to MCP servers, when it was one. */
  readonly mcp?: McpFacts | undefined;
  /** The last retry that was made; 0 or absent when there was none. */
  readonly retryAttempt?: number | undefined;
  readonly error?: string | undefined;
  readonly reason?: Reason | 'Upstream' | undefined;
  readonly durationMs: number;
}

export type FieldValue = string | number | null | undefined;

/** A default field: its key, and where its value comes from. */
export type AccessField = readonly [key: string, read: (record: AccessRecord) => FieldValue];

const BEFORE_MODELS: readonly AccessField[] = [
  ['gateway', (record) => record.gateway],
  ['listener', (record) => record.listener],
  ['route_rule', (record) => record.routeRule],
  ['route', (record) => record.route],
  ['endpoint', (record) => record.endpoint],
  ['src.addr', (record) => record.sourceAddress],
  ['src.identity', (record) => record.sourceIdentity],
  ['http.method', (record) => record.method],
  ['http.host', (record) => record.host],
  ['http.path', (record) => record.path],
  ['http.version', (record) => record.version],
  ['http.status', (record) => record.status],
  ['grpc.status', (record) => record.grpcStatus],
  ['tls.sni', (record) => (record.host === undefined || record.host === '' ? record.tlsSni : undefined)],
  ['trace.id', (record) => record.traceId],
  ['span.id', (record) => record.spanId],
  ['jwt.sub', (record) => record.jwtSubject],
  ['protocol', (record) => record.protocol],
];

const AFTER_MODELS: readonly AccessField[] = [
  ['retry.attempt', (record) => (record.retryAttempt === 0 ? undefined : record.retryAttempt)],
  ['error', (record) => short(record.error)],
  ['reason', (record) => (record.reason === 'Upstream' ? undefined : record.reason)],
  ['duration', (record) => `${Math.round(record.durationMs)}ms`],
];

/** In the order of the line. */
export const ACCESS_FIELDS: readonly AccessField[] = [
  ...BEFORE_MODELS,
  ...AGENT_FIELDS,
  ...MCP_FIELDS,
  ...MODEL_FIELDS,
  ...AFTER_MODELS,
];

const SPECIAL_KEYS: ReadonlySet<string> = new Set(
  [...AGENT_FIELDS, ...MCP_FIELDS, ...MODEL_FIELDS].map(([key]) => key),
);

/** Those that requests have which are no calls of agents, MCP servers or language models: most of them are asked for no more. */
export function plainFields(fields: readonly AccessField[]): readonly AccessField[] {
  return fields.filter(([key]) => !SPECIAL_KEYS.has(key));
}

/** Only at debug level, in front of the others. */
export const ID_FIELDS: readonly AccessField[] = [
  ['connection.id', (record) => record.connectionId],
  ['request.id', (record) => record.requestId],
];
