import type { AccessLog } from './access-log.ts';
import type { Redaction } from './redaction.ts';
import type { ThreadMetrics } from './thread-metrics.ts';
import type { RequestTraces } from './trace-tap.ts';

/** Everything a data plane reports through. */
export interface ThreadTelemetry {
  readonly metrics: ThreadMetrics;
  readonly accessLog: AccessLog;
  readonly traces: RequestTraces;
  readonly redaction: Redaction;
}
