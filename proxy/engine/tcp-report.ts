import type { TcpRecord } from '../listener/contract.ts';
import { connectionContext } from '../expression/connection-context.ts';
import type { AccessRecord } from '../telemetry/access-fields.ts';
import { tellLogs } from './observe.ts';
import { addressText } from './report.ts';
import type { Runtime } from './runtime.ts';

/** The log record of a TCP or TLS connection that is over. */
export function reportTcp(runtime: Runtime | null, record: TcpRecord): void {
  if (runtime === null) return;
  const { accessLog } = runtime.init.telemetry;
  const { observability } = runtime.engine;
  if (!observability.plain)
    tellLogs(observability, {
      accessLog,
      context: connectionContext(record.connection),
      record: () => recordOf(runtime, record),
      trace: null,
    });
  else if (accessLog.enabled) accessLog.write(recordOf(runtime, record));
}

function recordOf(runtime: Runtime, record: TcpRecord): AccessRecord {
  const { connection, route, listenerKey } = record;
  const listener = runtime.engine.bind(connection.bind)?.listener(listenerKey);
  return {
    connectionId: connection.id,
    gateway: listener === undefined ? undefined : `${listener.gatewayNamespace}/${listener.gatewayName}`,
    listener: listener?.name,
    routeRule: route?.ruleName,
    route: route === null ? undefined : `${route.namespace}/${route.name}`,
    endpoint: record.endpoint ?? undefined,
    sourceAddress: addressText(connection.sourceAddress, connection.sourcePort),
    sourceIdentity: connection.tls?.peer?.identity,
    tlsSni: record.sni,
    protocol: 'tcp',
    error: record.error ?? (record.outcome === 'closed' ? undefined : record.outcome),
    durationMs: record.durationMs,
  };
}
