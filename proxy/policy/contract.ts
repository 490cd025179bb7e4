import type { Cloud } from '../backends/auth/cloud.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { HttpResponse } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';
import type { Clock } from '../exchange/wait.ts';
import type { Expressions } from '../expression/contract.ts';
import type { Resources } from '../resources/contract.ts';
import type { Services } from '../services/contract.ts';
import type { Buckets } from './local-rate-limit/bucket-view.ts';
import type { ThreadMetrics } from '../telemetry/thread-metrics.ts';
import type { Logger } from '../../src/shared/log.ts';

/** What a request policy decided. Expected refusals are outcomes, not exceptions. */
export type Outcome =
  | { readonly kind: 'next' }
  /** The gateway answers itself (redirect, direct response): not an error. */
  | { readonly kind: 'respond'; readonly response: HttpResponse; readonly policy: string }
  | { readonly kind: 'fail'; readonly refusal: Refusal };

/** Shared, so that the common case allocates nothing. */
export const next: Outcome = { kind: 'next' };

/** Runs on the request; a promise only when the policy really waits. */
export type RequestStep = (exchange: Exchange) => Outcome | Promise<Outcome>;

/**
 * Runs on every response, the gateway's own included, and changes it in place. A refusal, rare, replaces the response
 * and ends the response side; its body has been cancelled by then.
 */
export type ResponseStep = (exchange: Exchange, response: HttpResponse) => Refusal | null | Promise<Refusal | null>;

/** What policies need from the engine that they are compiled for. */
export interface PolicyDeps {
  readonly clock: Clock;
  /** `frontendPolicies.http.maxBufferSize`, bytes. */
  readonly maxBufferSize: number;
  /** `frontendPolicies.http.streamIdleTimeout`, milliseconds. */
  readonly streamIdleTimeoutMs: number;
  /** Compiles expressions; what they read is collected before the phase begins that they belong to. */
  readonly expressions: Expressions;
  readonly services: Services;
  /** How credentials of clouds are got at; absent where nothing is called. */
  readonly cloud?: Cloud | undefined;
  /** The host that requests to the backend name, without a port; absent where only requests know it. */
  readonly backendHost?: string | undefined;
  /** Documents that the control thread has fetched. */
  readonly resources: Resources;
  /** State that outlives a reload: what policies of an unchanged definition go on with. */
  readonly stores: Stores;
  /** Budgets that all threads of the replica share. */
  readonly buckets: Buckets;
  readonly log: Logger;
  /** Where decisions are counted; absent where nothing is. */
  readonly metrics?: Pick<ThreadMetrics, 'counter'> | undefined;
  /** Set where requests are only explained: stands in for policies that would call something. */
  readonly dryRun?: DryRun | undefined;
  /** Reports the request's state after a policy; called only for traced exchanges. */
  readonly snapshot: (exchange: Exchange, stage: string) => void;
  readonly responseSnapshot: (exchange: Exchange, response: HttpResponse, stage: string) => void;
}

/** Compiles a policy, and decides whether it runs or is only named. */
export interface DryRun {
  request(policy: string, spec: unknown, compile: () => RequestStep | null): RequestStep | null;
  response(policy: string, compile: () => ResponseStep | null): ResponseStep | null;
}

/** Named state of one data thread, kept over reloads for as long as some engine asks for it by the same key. */
export interface Stores {
  /** What is stored under the key, made on first use. `key` holds the whole definition that the state belongs to. */
  get<T>(key: string, make: () => T): T;
}

/** A stored value that holds what has to be let go: open conversations, programs. */
export interface LastingState {
  /** A new engine is live, and asks for it. */
  settled?(): void;
  /** The engine that is live does not ask for it; requests of earlier ones may still finish. May come more than once. */
  retired(): void;
  /** Nobody asks for it any more, or the thread ends; resolves when everything is let go. */
  close(): Promise<void>;
}

export type Phase = 'gateway' | 'route' | 'backend';

/** Where a policy is compiled for. */
export interface PolicyContext {
  readonly phase: Phase;
  /** The resource that says so: `route default/r1`, `policy default/p on gateway default/default`. */
  readonly source: string;
  readonly deps: PolicyDeps;
}
