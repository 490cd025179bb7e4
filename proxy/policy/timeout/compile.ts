import type { Timeout } from '../../../src/config/ir/index.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import type { PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';

/** Sets the deadline by which the response head is due, counted from the arrival of the request. */
export function timeout(spec: Timeout, context: PolicyContext): RequestStep {
  const { requestTimeoutMs } = spec;
  const details = `${describe(spec)} (from ${context.source})`;
  return (exchange) => {
    if (requestTimeoutMs !== undefined) exchange.deadlineAt = exchange.startedAt + requestTimeoutMs;
    if (exchange.trace !== null) exchange.trace.applied('timeout', details);
    return next;
  };
}

function describe({ requestTimeoutMs, backendRequestTimeoutMs }: Timeout): string {
  const parts = [
    ...(requestTimeoutMs === undefined ? [] : [`request ${formatDuration(requestTimeoutMs)}`]),
    ...(backendRequestTimeoutMs === undefined ? [] : [`upstream call ${formatDuration(backendRequestTimeoutMs)}`]),
  ];
  return parts.length === 0 ? 'no limit' : parts.join(', ');
}
