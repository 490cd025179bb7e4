import type { HealthPolicy } from '../../src/config/ir/index.ts';
import type { EndpointErrorKind } from './endpoint-rows.ts';
import type { EndpointView, FailureState } from './endpoint-view.ts';
import { StreamStalled } from '../exchange/stream-stalled.ts';
import { UpstreamError } from './upstream.ts';

const DEFAULT_EVICTION_MS = 3000;

/** One endpoint as the calls through one backend see it. */
export interface Endpoint {
  readonly identity: string;
  /** As dumps show it: the workload's uid, or the address of a host backend. */
  readonly name: string;
  readonly row: number;
  readonly health: HealthPolicy | undefined;
}

/** What an attempt came to. `unknown`: the client or a deadline of its own ended it before the upstream could show. */
export type Outcome =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'unhealthy'; readonly error: EndpointErrorKind }
  | { readonly kind: 'unknown' };

const healthy: Outcome = { kind: 'healthy' };
const unknown: Outcome = { kind: 'unknown' };
const badStatus: Outcome = { kind: 'unhealthy', error: 'status' };
const brokenBody: Outcome = { kind: 'unhealthy', error: 'protocol' };
const badGrpcStatus: Outcome = { kind: 'unhealthy', error: 'grpcStatus' };

/** Unhealthy are 5xx, a gRPC status other than 0, and no response at all. */
export function outcomeOf(status: number, grpcStatus: number | null = null): Outcome {
  if (status >= 500) return badStatus;
  return grpcStatus !== null && grpcStatus !== 0 ? badGrpcStatus : healthy;
}

/** What an expression about the response says. */
export function outcomeByExpression(isUnhealthy: boolean): Outcome {
  return isUnhealthy ? badStatus : healthy;
}

/** The outcome of an attempt that gave no response, or whose body was cut by the upstream. */
export function outcomeOfError(error: UpstreamError): Outcome {
  return error.kind === 'cancelled' ? unknown : { kind: 'unhealthy', error: error.kind };
}

/** The outcome of an attempt whose answer had to be given up, for whatever its client got of it. */
export function outcomeOfCut(error: Error): Outcome {
  if (error instanceof UpstreamError) return outcomeOfError(error);
  return error instanceof StreamStalled ? timedOut : brokenBody;
}

/** The upstream did not answer within `backendRequestTimeout`. */
export const timedOut: Outcome = { kind: 'unhealthy', error: 'timeout' };

export interface Finish {
  readonly outcome: Outcome;
  /** From the start of the attempt to the end of the body. */
  readonly latencyMs: number;
  /** From `rateLimitHint`, when the response was a 429. */
  readonly rateLimitHintMs?: number | undefined;
  /** `retry.backoff` of the route, when it has one. */
  readonly retryBackoffMs?: number | undefined;
}

/** Records the end of one attempt, every attempt of a retried request by itself. Tells whether it evicted the endpoint. */
export function accountFinish(view: EndpointView, endpoint: Endpoint, finish: Finish, nowMs: number): boolean {
  const { outcome } = finish;
  switch (outcome.kind) {
    case 'healthy':
      view.succeeded(endpoint.row, finish.latencyMs / 1000);
      return false;
    case 'unknown':
      view.abandoned(endpoint.row);
      return false;
    case 'unhealthy': {
      const state = view.failed(endpoint.row, outcome.error, nowMs);
      const durationMs = evictionMs(endpoint.health, state, finish);
      return durationMs !== undefined && view.evict(endpoint.row, durationMs, nowMs);
    }
  }
}

/** How long a failure takes the endpoint out, before repetition lengthens it; undefined leaves it in. */
export function evictionMs(
  policy: HealthPolicy | undefined,
  state: FailureState,
  hints: Pick<Finish, 'rateLimitHintMs' | 'retryBackoffMs'>,
): number | undefined {
  if (policy === undefined || !reachesThreshold(policy, state)) return undefined;
  const fallback = policy.eviction === undefined ? undefined : DEFAULT_EVICTION_MS;
  return policy.eviction?.durationMs ?? hints.rateLimitHintMs ?? hints.retryBackoffMs ?? fallback;
}

function reachesThreshold(policy: HealthPolicy, state: FailureState): boolean {
  const { healthThreshold, consecutiveFailures } = policy.eviction ?? {};
  if (healthThreshold === undefined && consecutiveFailures === undefined) return true;
  if (healthThreshold !== undefined && state.healthBefore < healthThreshold) return true;
  return (
    consecutiveFailures !== undefined && consecutiveFailures > 0 && state.consecutiveFailures >= consecutiveFailures
  );
}

/** What health an endpoint has when it comes back; undefined leaves it as it was. */
export function restoredHealth(policy: HealthPolicy | undefined): number | undefined {
  const value = policy?.eviction?.restoreHealth;
  return value === undefined ? undefined : Math.min(1, Math.max(0, value));
}
