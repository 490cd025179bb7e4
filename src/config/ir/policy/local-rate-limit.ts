import type { Choice } from './conditional.ts';

/** Token buckets that a request has to get through, one after the other. */
export interface LocalRateLimit extends Choice<readonly RateLimitBucket[]> {
  /** The entry of the file that the budgets belong to, whatever it is attached to. */
  readonly owner: string;
}

/** Starts full. */
export interface RateLimitBucket {
  /** What is counted: tokens of language models; undefined is requests. */
  readonly type?: 'tokens' | undefined;
  readonly maxTokens: number;
  /** Added after every interval, up to `maxTokens`; 0 is never. */
  readonly tokensPerFill: number;
  readonly fillIntervalMs: number;
}
