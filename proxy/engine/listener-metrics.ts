import type { ConnectionLabels, ListenerMetrics } from '../listener/contract.ts';
import type { ConnectionSeries, ThreadMetrics } from '../telemetry/thread-metrics.ts';

/** Counts what listeners report; the series of a label set is looked up once. */
export function listenerMetrics(metrics: ThreadMetrics): ListenerMetrics {
  const known = new WeakMap<ConnectionLabels, ConnectionSeries>();
  const series = (labels: ConnectionLabels): ConnectionSeries => {
    let found = known.get(labels);
    if (found === undefined) {
      const { bind, gateway, listener, protocol } = labels;
      found = metrics.connection({ bind, gateway: gateway ?? '', listener: listener ?? '', protocol });
      known.set(labels, found);
    }
    return found;
  };
  return {
    connectionOpened: (labels) => series(labels).accepted.add(1),
    connectionClosed() {},
    bytesReceived: (labels, bytes) => series(labels).receivedBytes.add(bytes),
    bytesSent: (labels, bytes) => series(labels).sentBytes.add(bytes),
    tlsHandshake: (labels, seconds) => series(labels).tlsHandshake.observe(seconds),
  };
}
