import type { Reason } from '../exchange/refusal.ts';
import { splitAuthority } from '../exchange/message.ts';
import type { Delivery } from '../exchange/transport.ts';
import type { RequestRun } from './run.ts';

/** The end of an exchange: its numbers, its log record, its last trace event. */
export function reportFinish(run: RequestRun, delivery: Delivery): void {
  const durationMs = performance.now() - run.exchange.startedAt;
  countRequest(run, delivery, durationMs);
  if (run.runtime.init.telemetry.accessLog.enabled) writeRecord(run, delivery, durationMs);
  const { trace } = run.exchange;
  if (trace === null) return;
  const status = statusOf(run);
  const error = errorOf(run, delivery);
  const severity = error !== null || status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
  trace.emit({ type: 'requestFinished', status, error }, severity);
}

/** The status that the client saw. */
function statusOf(run: RequestRun): number {
  return run.response?.status ?? run.tunnelStatus ?? 0;
}

function errorOf(run: RequestRun, delivery: Delivery): string | null {
  if (run.refusal !== null) return run.refusal.message;
  if (delivery.kind === 'cut') return delivery.error.message;
  return delivery.kind === 'clientGone' ? 'client went away' : null;
}

function reasonOf(run: RequestRun, delivery: Delivery): Reason | 'Upstream' {
  if (run.refusal !== null) return run.refusal.reason;
  if (run.answeredBy !== null) return 'DirectResponse';
  return delivery.kind === 'cut' ? 'UpstreamFailure' : 'Upstream';
}

function countRequest(run: RequestRun, delivery: Delivery, durationMs: number): void {
  const { exchange, upstreamStartedAt, upstreamHeadAt } = run;
  const series =
    run.backend?.series(run.protocol) ?? run.program?.unanswered ?? run.listener?.unrouted ?? run.engine.unplaced;
  series.finished({
    method: exchange.request.method,
    status: statusOf(run),
    reason: reasonOf(run, delivery),
    durationMs,
    responseBytes: delivery.bytes,
    retries: run.retries,
    requestProcessingMs: upstreamStartedAt === null ? undefined : upstreamStartedAt - exchange.startedAt,
    responseProcessingMs: upstreamHeadAt === null ? undefined : run.respondedAt - upstreamHeadAt,
  });
}

function writeRecord(run: RequestRun, delivery: Delivery, durationMs: number): void {
  const { exchange, listener, runtime } = run;
  const { connection, route } = exchange;
  runtime.init.telemetry.accessLog.write({
    connectionId: connection.id,
    requestId: exchange.trace?.requestId,
    gateway: listener === null ? undefined : `${listener.gatewayNamespace}/${listener.gatewayName}`,
    listener: listener?.name,
    routeRule: route?.ruleName,
    route: route === null ? undefined : `${route.namespace}/${route.name}`,
    endpoint: run.endpoint ?? undefined,
    sourceAddress: addressText(connection.sourceAddress, connection.sourcePort),
    sourceIdentity: connection.tls?.peer?.identity,
    method: exchange.request.method,
    host: splitAuthority(exchange.clientAuthority).host,
    path: runtime.init.telemetry.redaction.target(exchange.clientTarget),
    version: exchange.request.version,
    status: statusOf(run),
    grpcStatus: run.grpcStatus ?? undefined,
    tlsSni: connection.tls?.sni,
    protocol: run.protocol === '' ? undefined : run.protocol,
    retryAttempt: run.retries,
    error: errorOf(run, delivery) ?? undefined,
    reason: reasonOf(run, delivery),
    durationMs,
  });
}

/** `ip:port`, IPv6 in brackets. */
export function addressText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
