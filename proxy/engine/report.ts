import type { Reason } from '../exchange/refusal.ts';
import { splitAuthority } from '../exchange/message.ts';
import type { Delivery } from '../exchange/transport.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { isKnownMethod } from '../mcp/message/methods.ts';
import { resourceType } from '../telemetry/mcp-fields.ts';
import type { AccessRecord } from '../telemetry/access-fields.ts';
import type { InFlight } from './in-flight.ts';
import { settleLlm } from './llm-report.ts';
import { tellFinished } from './observe.ts';

const TIMEOUTS: ReadonlySet<number> = new Set([408, 504]);

/** The end of an exchange: the endpoint's account, numbers, log record, last trace event. */
export function finish(flight: InFlight, delivery: Delivery): void {
  flight.runtime.live.delete(flight);
  settleLlm(flight);
  countMcp(flight);
  flight.accountAttempt(flight.outcome(delivery));
  flight.exchange.ended();
  flight.endedAt = performance.now();
  const durationMs = flight.endedAt - flight.exchange.startedAt;
  countRequest(flight, delivery, durationMs);
  tell(flight, delivery, durationMs);
  const { trace } = flight.exchange;
  if (trace === null) return;
  const status = statusOf(flight, delivery);
  const error = errorOf(flight, delivery);
  const severity = error !== null || status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
  trace.emit({ type: 'requestFinished', status, error }, severity);
}

/** Streams and ends of sessions have no method and are not counted. */
function countMcp({ exchange, backend }: InFlight): void {
  const facts = exchange.attributes.mcp;
  if (facts === null || facts.methodName === null) return;
  const { item } = facts;
  const method = isKnownMethod(facts.methodName) ? facts.methodName : 'OTHER';
  // Clients can make up any number of names.
  const known = facts.itemKnown ? item?.name : 'OTHER';
  const name = item === null || item.kind === 'task' ? '' : (known ?? '');
  backend?.mcpMessage([method, resourceType(facts), item?.target ?? '', name]).add(1);
}

/** The status that the client saw. */
function statusOf(flight: InFlight, delivery: Delivery): number {
  if (delivery.kind === 'refused') return delivery.status;
  return flight.response?.status ?? flight.tunnelStatus ?? 0;
}

function errorOf(flight: InFlight, delivery: Delivery): string | null {
  if (delivery.kind === 'refused') return delivery.message;
  if (flight.refusal !== null) return flight.refusal.logged ?? flight.refusal.message;
  const { cut, blocked } = flight.llm?.facts ?? { cut: null, blocked: null };
  if (blocked !== null) return blocked;
  if (delivery.kind === 'cut') return delivery.error.message;
  if (delivery.kind === 'complete' && cut !== null) return cut.message;
  return delivery.kind === 'clientGone' ? 'client went away' : null;
}

function reasonOf(flight: InFlight, delivery: Delivery): Reason | 'Upstream' {
  if (delivery.kind === 'refused') return TIMEOUTS.has(delivery.status) ? 'Timeout' : 'InvalidRequest';
  if (flight.refusal !== null) return flight.refusal.reason;
  if (flight.answeredBy !== null) return 'DirectResponse';
  if ((flight.llm?.facts.blocked ?? null) !== null) return 'Guardrail';
  const refusedBy = flight.exchange.attributes.mcp?.refusedBy ?? null;
  if (refusedBy !== null) return refusedBy;
  const isCut = delivery.kind === 'cut' || (delivery.kind === 'complete' && (flight.llm?.facts.cut ?? null) !== null);
  return isCut ? 'UpstreamFailure' : 'Upstream';
}

function countRequest(flight: InFlight, delivery: Delivery, durationMs: number): void {
  const { exchange, upstreamStartedAt, upstreamHeadAt } = flight;
  const series =
    flight.backend?.series(protocolOf(flight) ?? '') ??
    flight.program?.unanswered ??
    flight.listener?.unrouted ??
    flight.engine.unplaced;
  const { labels } = flight.engine.observability;
  const sample = {
    method: exchange.clientMethod,
    status: statusOf(flight, delivery),
    reason: reasonOf(flight, delivery),
    durationMs,
    responseBytes: delivery.bytes,
    retries: flight.retries,
    requestProcessingMs: upstreamStartedAt === null ? undefined : upstreamStartedAt - exchange.startedAt,
    responseProcessingMs:
      upstreamHeadAt === null || flight.respondedAt === null ? undefined : flight.respondedAt - upstreamHeadAt,
  };
  if (labels === null) series.finished(sample);
  else series.finishedWith(sample, labels.of(exchange));
}

function tell(flight: InFlight, delivery: Delivery, durationMs: number): void {
  const { accessLog } = flight.runtime.init.telemetry;
  if (!flight.engine.observability.plain) tellFinished(flight, accessLog, () => recordOf(flight, delivery, durationMs));
  else if (accessLog.enabled) accessLog.write(recordOf(flight, delivery, durationMs));
}

function recordOf(flight: InFlight, delivery: Delivery, durationMs: number): AccessRecord {
  const { exchange, listener, runtime, span } = flight;
  const { connection, route } = exchange;
  return {
    connectionId: connection.id,
    requestId: exchange.trace?.requestId,
    gateway: listener === null ? undefined : `${listener.gatewayNamespace}/${listener.gatewayName}`,
    listener: listener?.name,
    routeRule: route?.ruleName,
    route: route === null ? undefined : `${route.namespace}/${route.name}`,
    endpoint: flight.endpoint ?? undefined,
    sourceAddress: addressText(connection.sourceAddress, connection.sourcePort),
    sourceIdentity: connection.tls?.peer?.identity,
    method: exchange.clientMethod,
    host: splitAuthority(exchange.clientAuthority).host,
    path: runtime.init.telemetry.redaction.target(exchange.clientTarget),
    version: exchange.request.version,
    status: statusOf(flight, delivery),
    grpcStatus: flight.grpcStatus ?? undefined,
    tlsSni: connection.tls?.sni,
    traceId: span?.context.traceId,
    spanId: span?.context.spanId,
    jwtSubject: subjectOf(exchange),
    protocol: protocolOf(flight),
    llm: flight.llm?.facts,
    a2a: exchange.attributes.a2a ?? undefined,
    mcp: exchange.attributes.mcp ?? undefined,
    retryAttempt: flight.retries,
    error: errorOf(flight, delivery) ?? undefined,
    reason: reasonOf(flight, delivery),
    durationMs,
  };
}

/** What is spoken to the backend; undefined before anything is. */
function protocolOf({ llm, backend, protocol }: InFlight): string | undefined {
  if (llm !== null) return 'llm';
  if (backend !== null && backend.mcp !== null) return 'mcp';
  if (protocol === '') return undefined;
  return backend?.isAgent === true ? 'a2a' : protocol;
}

/** `sub` of the verified token. */
function subjectOf({ attributes }: Exchange): string | undefined {
  const subject = attributes.jwt?.claims['sub'];
  return typeof subject === 'string' ? subject : undefined;
}

/** `ip:port`, IPv6 in brackets. */
export function addressText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
