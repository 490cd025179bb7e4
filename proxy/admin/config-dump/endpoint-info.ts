import type { EndpointInfoDump } from '../../../src/admin/protocol/config-dump.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import type { EndpointInfo } from '../../backends/endpoint-view.ts';

const untouched: EndpointInfoDump = {
  health: 1,
  requestLatency: 0,
  pendingRequests: 0,
  totalRequests: 0,
  consecutiveFailures: 0,
  timesEjected: 0,
  evictedUntil: null,
};

/** Numbers of an endpoint; those of one that was never called when they are not known. */
export function infoDump(info: EndpointInfo | undefined, nowMs: number): EndpointInfoDump {
  if (info === undefined) return untouched;
  const { evictedUntil, lastError, totalFailures: _failures, totalEvictions: _evictions, ...numbers } = info;
  return {
    ...numbers,
    evictedUntil: evictedUntil === null ? null : formatDuration(Math.max(0, Math.round(evictedUntil - nowMs))),
    ...(lastError === null ? {} : { lastError: `${lastError.kind} at ${new Date(lastError.at).toISOString()}` }),
  };
}
