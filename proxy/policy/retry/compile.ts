import type { Retry } from '../../../src/config/ir/index.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import { UpstreamError } from '../../backends/upstream.ts';
import type { PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';

/** What came of one attempt: the status of a response, the failure of a call, or `timeout` of the call. */
export type AttemptResult = number | UpstreamError | 'timeout';

/** How often and when to try again; the engine carries it out. */
export interface RetryPlan {
  /** Retries after the first try. */
  readonly attempts: number;
  /** Fixed pause before each retry. */
  readonly backoffMs: number;
  readonly codes: ReadonlySet<number>;
  readonly shouldRetry: (result: AttemptResult) => boolean;
}

export function retryPlan(spec: Retry): RetryPlan {
  const codes = new Set(spec.codes);
  return {
    attempts: spec.attempts,
    backoffMs: spec.backoffMs,
    codes,
    shouldRetry: (result) => {
      if (typeof result === 'number') return codes.has(result);
      return result === 'timeout' || result.kind !== 'cancelled';
    },
  };
}

/** Tells a trace which plan holds; the plan itself runs around the upstream call. */
export function retry(spec: Retry, context: PolicyContext): RequestStep {
  const codes = spec.codes.length === 0 ? 'failed calls' : `failed calls and ${spec.codes.join(', ')}`;
  const backoff = spec.backoffMs > 0 ? `, ${formatDuration(spec.backoffMs)} apart` : '';
  const details = `up to ${spec.attempts} more on ${codes}${backoff} (from ${context.source})`;
  return (exchange) => {
    if (exchange.trace !== null) exchange.trace.applied('retry', details);
    return next;
  };
}
