import { formatTime, textValue, wallClockMs, type LogFormat } from '../../src/shared/log.ts';
import type { Reason } from '../exchange/refusal.ts';

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
  /** What is spoken to the backend. */
  readonly protocol?: string | undefined;
  /** The last retry that was made; 0 or absent when there was none. */
  readonly retryAttempt?: number | undefined;
  readonly error?: string | undefined;
  readonly reason?: Reason | 'Upstream' | undefined;
  readonly durationMs: number;
}

type Value = string | number | null | undefined;

/** Keys in the order of the line, each with where its value comes from. */
const FIELDS: readonly (readonly [key: string, read: (record: AccessRecord) => Value])[] = [
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
  ['protocol', (record) => record.protocol],
  ['retry.attempt', (record) => (record.retryAttempt === 0 ? undefined : record.retryAttempt)],
  ['error', (record) => record.error],
  ['reason', (record) => (record.reason === 'Upstream' ? undefined : record.reason)],
  ['duration', (record) => `${Math.round(record.durationMs)}ms`],
];

/** Only at debug level, in front of the others. */
const ID_FIELDS: typeof FIELDS = [
  ['connection.id', (record) => record.connectionId],
  ['request.id', (record) => record.requestId],
];

export interface AccessLogOptions {
  readonly format: LogFormat;
  readonly write: (line: string) => void;
  readonly now?: (() => number) | undefined;
}

/** Writes one line per request under the scope `request`. */
export class AccessLog {
  /** Ask before collecting a record: false while the scope `request` is below info. */
  enabled = false;
  /** Ids are shown. */
  #debug = false;
  readonly #format: LogFormat;
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  #fields: typeof FIELDS = FIELDS;
  #removed: ReadonlySet<string> = new Set();

  constructor(options: AccessLogOptions) {
    this.#format = options.format;
    this.#write = options.write;
    this.#now = options.now ?? wallClockMs;
  }

  /** Follows the process log's filter. */
  setLevel(level: { readonly info: boolean; readonly debug: boolean }): void {
    this.enabled = level.info;
    this.#debug = level.debug;
    this.#arrange();
  }

  /** `frontendPolicies.accessLog.remove` */
  setRemoved(removed: readonly string[]): void {
    this.#removed = new Set(removed);
    this.#arrange();
  }

  write(record: AccessRecord): void {
    if (!this.enabled) return;
    this.#write(this.#format === 'json' ? this.#json(record) : this.#text(record));
  }

  #arrange(): void {
    const all = this.#debug ? [...ID_FIELDS, ...FIELDS] : FIELDS;
    this.#fields = all.filter(([key]) => !this.#removed.has(key));
  }

  #text(record: AccessRecord): string {
    let line = `${formatTime(this.#now())}\tinfo\trequest`;
    for (const [key, read] of this.#fields) {
      const value = read(record);
      if (value === undefined || value === null || value === '') continue;
      line += ` ${key}=${key === 'error' ? JSON.stringify(value) : textValue(value)}`;
    }
    return `${line}\n`;
  }

  #json(record: AccessRecord): string {
    const line: Record<string, string | number> = { level: 'info', time: formatTime(this.#now()), scope: 'request' };
    for (const [key, read] of this.#fields) {
      const value = read(record);
      if (value !== undefined && value !== null && value !== '') line[key] = value;
    }
    return `${JSON.stringify(line)}\n`;
  }
}
