import type { ServiceRef } from './policy-service.ts';

/** Counters that an external service keeps. */
export interface RemoteRateLimit {
  readonly service: ServiceRef;
  readonly domain: string;
  readonly descriptors: readonly RateLimitDescriptor[];
  readonly failureMode: 'failClosed' | 'failOpen';
}

/** What a request is counted under; values are expressions. */
export interface RateLimitDescriptor {
  readonly entries: readonly { readonly key: string; readonly value: string }[];
  /** What is counted: tokens of language models; undefined is requests. */
  readonly type?: 'tokens' | undefined;
  /** How much a request counts; without it one, or the tokens that it used. */
  readonly cost?: string | undefined;
  /** Gives the limit instead of the service's own. */
  readonly limitOverride?: string | undefined;
}
