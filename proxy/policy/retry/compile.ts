import type { Retry } from '../../../src/config/ir/index.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import { UpstreamError } from '../../backends/upstream.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { invalidPolicy } from '../invalid-policy.ts';

/** What came of one attempt that gave no response: the failure of a call, or `timeout` of the call. */
export type FailedAttempt = UpstreamError | 'timeout';

/** How often and when to try again; the engine carries it out. */
export interface RetryPlan {
  /** Retries after the first try. */
  readonly attempts: number;
  /** Fixed pause before each retry. */
  readonly backoffMs: number;
  /** Whether the request may be tried again at all, as its policies found when it came by. */
  readonly applies: (exchange: Exchange) => boolean;
  /** Why the response that the exchange has now is not good enough; null when it is. */
  readonly responseFault: (exchange: Exchange) => string | null;
  readonly isRetryable: (attempt: FailedAttempt) => boolean;
}

/** Throws a `GwError` for what is no expression, and for a condition that could never hold. */
export function retryPlan(spec: Retry, { deps, source }: Pick<PolicyContext, 'deps' | 'source'>): RetryPlan {
  const codes = new Set(spec.codes);
  const condition = spec.condition === undefined ? null : deps.expressions.compile(spec.condition, 'retry condition');
  if (condition?.reads.responseBody === true)
    throw invalidPolicy(source, 'retry', 'the condition reads `response.body`, but only heads are tried again');
  return {
    attempts: spec.attempts,
    backoffMs: spec.backoffMs,
    applies: spec.precondition === undefined ? () => true : (exchange) => exchange.recall(spec) === true,
    responseFault: (exchange) => {
      const { response } = exchange;
      if (response === null) return null;
      if (codes.has(response.status)) return `status ${response.status}`;
      return condition?.isTrue(exchange) === true ? `the condition holds for status ${response.status}` : null;
    },
    isRetryable: (attempt) => attempt === 'timeout' || attempt.kind !== 'cancelled',
  };
}

/** Decides whether the plan applies, and tells a trace; the plan itself runs around the upstream call. */
export function retry(spec: Retry, context: PolicyContext): RequestStep {
  const { source, deps } = context;
  const precondition =
    spec.precondition === undefined ? null : deps.expressions.compile(spec.precondition, 'retry precondition');
  const details = describe(spec, source);
  return (exchange) => {
    if (precondition !== null) {
      const holds = precondition.isTrue(exchange);
      exchange.remember(spec, holds);
      if (!holds) {
        if (exchange.trace !== null) exchange.trace.skipped('retry', `the precondition does not hold (from ${source})`);
        return next;
      }
    }
    if (exchange.trace !== null) exchange.trace.applied('retry', details);
    return next;
  };
}

function describe(spec: Retry, source: string): string {
  const faults = [
    'failed calls',
    ...spec.codes.map(String),
    ...(spec.condition === undefined ? [] : ['the condition']),
  ];
  const last = faults.at(-1) ?? '';
  const on = faults.length === 1 ? last : `${faults.slice(0, -1).join(', ')} and ${last}`;
  const backoff = spec.backoffMs > 0 ? `, ${formatDuration(spec.backoffMs)} apart` : '';
  return `up to ${spec.attempts} more on ${on}${backoff} (from ${source})`;
}
