import type { EvalContext } from '../expression/contract.ts';
import type { AccessRecord } from '../telemetry/access-fields.ts';
import type { AccessLog } from '../telemetry/access-log.ts';
import { type Observability, passes } from '../telemetry/observability.ts';
import { encodeLogRecord, encodeSpan } from '../telemetry/otlp/encode.ts';
import type { Attribute, Span } from '../telemetry/spans/span.ts';
import { costAttributes } from '../telemetry/model-fields.ts';
import type { TraceContext } from '../telemetry/spans/trace-context.ts';
import { wallClockMs } from '../../src/shared/log.ts';
import type { InFlight } from './in-flight.ts';
import { spanName } from './spans.ts';

/** A finished request for everybody who is configured to be told: the log, receivers of logs, receivers of spans. */
export function tellFinished(flight: InFlight, accessLog: AccessLog, record: () => AccessRecord): void {
  const { exchange, span, engine } = flight;
  const { observability } = engine;
  const read = memo(record);
  tellLogs(observability, { accessLog, context: exchange, record: read, trace: span?.context ?? null });
  const { spans } = observability;
  if (span === null) return;
  const exporter = spans === null || exchange.spans === null ? null : observability.exporterOf(spans);
  if (spans === null || exporter === null || !passes(spans.filter, exchange)) {
    span.drop();
    return;
  }
  span.finish(serverSpan(flight, read(), spans.fields.attributes(read(), exchange)), (each: Span) =>
    exporter.push(encodeSpan(each)),
  );
}

export interface Told {
  readonly accessLog: AccessLog;
  /** What expressions see. */
  readonly context: EvalContext;
  readonly record: () => AccessRecord;
  readonly trace: TraceContext | null;
}

/** The log of the process and the exported one, each with its own filter and fields. */
export function tellLogs(observability: Observability, { accessLog, context, record, trace }: Told): void {
  const { log, otlpLog } = observability;
  if (accessLog.enabled && passes(log.filter, context)) {
    accessLog.write(record(), log.fields.hasAdditions ? log.fields.additions(context) : undefined);
  }
  const exporter = otlpLog === null ? null : observability.exporterOf(otlpLog);
  if (otlpLog === null || exporter === null || !passes(otlpLog.filter, context)) return;
  exporter.push(
    encodeLogRecord({
      timeMs: wallClockMs(),
      body: 'request',
      attributes: otlpLog.fields.attributes(record(), context),
      context: trace,
    }),
  );
}

const PROTOCOL_VERSIONS = { 'HTTP/1.0': '1.0', 'HTTP/1.1': '1.1', 'HTTP/2.0': '2' } as const;

function serverSpan(flight: InFlight, record: AccessRecord, fields: readonly Attribute[]) {
  const { exchange } = flight;
  const { request, startedAt } = exchange;
  const named = fields.find(([key, value]) => key === 'span.name' && typeof value === 'string');
  const general: readonly Attribute[] = [
    ['url.scheme', request.scheme],
    ['network.protocol.version', PROTOCOL_VERSIONS[request.version]],
    ...costAttributes(record.llm),
  ];
  const given = new Set(fields.map(([key]) => key));
  return {
    name: named === undefined ? spanName(flight) : String(named[1]),
    startedAt,
    endedAt: flight.endedAt ?? startedAt,
    attributes: [
      ...fields.filter(([key]) => key !== 'span.name'),
      ...general.filter(([key]) => !given.has(key) && !flight.engine.observability.spans?.fields.hidden.has(key)),
    ],
    // An answer of the server class is a failure even when the gateway itself has nothing to say about it.
    error: record.error ?? ((record.status ?? 0) >= 500 ? '' : null),
  };
}

function memo<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
