import type { ConnectionFacts } from '../exchange/connection.ts';
import type { ConnectionError, TcpRecord, TunnelContext } from '../listener/contract.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import type { RequestTraces } from '../telemetry/trace-tap.ts';

/**
 * Traces of what is no HTTP request: connections of TCP and TLS routes, and connections that were refused before they
 * carried anything. Followers get them; a watcher that waits for one request is left to wait for a request.
 */
export class ConnectionTraces {
  readonly #traces: RequestTraces;
  readonly #nextId: () => string;
  readonly #open = new Map<number, Recorder>();

  constructor(traces: RequestTraces, nextId: () => string) {
    this.#traces = traces;
    this.#nextId = nextId;
  }

  /** A connection has its route and is about to be connected; null while nobody follows. */
  begin(context: TunnelContext): Recorder | null {
    const { connection, route, sni } = context;
    const trace = this.#start(connection, sni);
    if (trace === null) return null;
    trace.emit({ type: 'routeSelection', selectedRoute: route.key, evaluatedRoutes: [route.key] });
    this.#open.set(connection.id, trace);
    return trace;
  }

  /** A connection of a TCP or TLS route is over. */
  end(record: TcpRecord): void {
    const { connection, sni, outcome } = record;
    let trace = this.#open.get(connection.id) ?? null;
    this.#open.delete(connection.id);
    if (trace === null && record.route === null) {
      trace = this.#start(connection, sni);
      trace?.emit({ type: 'routeSelection', selectedRoute: null, evaluatedRoutes: [] }, 'error');
    }
    if (trace === null) return;
    const { bytesReceived, bytesSent } = record;
    trace.emit({ type: 'policyEvent', kind: 'tcp', details: { outcome, bytesReceived, bytesSent } });
    const error = record.error ?? (outcome === 'closed' ? null : outcome);
    trace.emit({ type: 'requestFinished', status: null, error }, error === null ? 'info' : 'error');
  }

  /** A connection was refused: a broken PROXY header, a failed handshake, no listener. */
  refused(failure: ConnectionError): void {
    const trace = this.#traces.beginFollowed(this.#nextId());
    if (trace === null) return;
    const { kind, bind, detail, remoteAddress, sni } = failure;
    trace.emit({ type: 'requestStarted' });
    const source = remoteAddress === null ? {} : { source: { address: remoteAddress } };
    const requestState = {
      ...source,
      proxy: { bind },
      connection: { protocol: 'tcp', ...(sni === null ? {} : { sni }) },
    };
    trace.emit({ type: 'requestSnapshot', stage: 'connection', requestState });
    trace.emit({ type: 'policyEvent', kind, details: detail }, 'error');
    trace.emit({ type: 'requestFinished', status: null, error: detail }, 'error');
  }

  #start(connection: ConnectionFacts, sni: string | null): Recorder | null {
    const trace = this.#traces.beginFollowed(this.#nextId());
    if (trace === null) return null;
    trace.emit({ type: 'requestStarted' });
    const requestState = {
      source: { address: connection.sourceAddress, port: connection.sourcePort },
      destination: { address: connection.destinationAddress, port: connection.destinationPort },
      proxy: { bind: connection.bind },
      connection: { protocol: sni === null ? 'tcp' : 'tls', ...(sni === null ? {} : { sni }) },
    };
    trace.emit({ type: 'requestSnapshot', stage: 'connection', requestState });
    return trace;
  }
}
