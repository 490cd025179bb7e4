import type { AccessLog } from './access-log.ts';
import type { Redaction } from './redaction.ts';
import type { ThreadMetrics } from './thread-metrics.ts';
import type { TraceTap } from './trace-tap.ts';

/** Everything a data plane reports through. */
export interface ThreadTelemetry {
  readonly metrics: ThreadMetrics;
  readonly accessLog: AccessLog;
  readonly traces: TraceTap;
  readonly redaction: Redaction;
}
