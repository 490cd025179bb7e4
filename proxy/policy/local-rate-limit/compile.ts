import type { LocalRateLimit, RateLimitBucket } from '../../../src/config/ir/policy/local-rate-limit.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { type Refusal, refuse } from '../../exchange/refusal.ts';
import { compileChoice } from '../conditional.ts';
import type { Outcome, PolicyContext, PolicyDeps, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { announce, budgetHeaders, resetSeconds, type ToldBudget } from '../rate-limit-headers.ts';
import { bucketIdentity } from './bucket-identity.ts';
import type { Bucket } from './bucket-view.ts';

export const exceeded: Refusal = refuse(429, 'RateLimit', 'rate limit exceeded');

/** Takes a token from each bucket, in order; what was taken is not given back when a later one is empty. */
export function localRateLimit(spec: LocalRateLimit, context: PolicyContext): RequestStep {
  const { source, deps } = context;
  const sides = countsTokens(spec) ? 'both' : 'request';
  const place = { policy: 'localRateLimit', kind: 'local_rate_limit', context, sides } as const;
  const choice = compileChoice(spec, place, (_limits, entry) => bucketsOf(spec, { entry, type: undefined }, deps));
  return (exchange) => {
    const buckets = choice.choose(exchange);
    if (buckets === null || buckets.length === 0) return next;
    return takeFrom(exchange, buckets, { source, nowMs: deps.clock.now() });
  };
}

/** Whether some bucket counts tokens of language models. */
export function countsTokens({ entries }: LocalRateLimit): boolean {
  return entries.some(({ settings }) => settings.some(({ type }) => type === 'tokens'));
}

/** The buckets of one entry that count requests, or tokens. */
export function bucketsOf(
  spec: LocalRateLimit,
  { entry, type }: { readonly entry: number; readonly type: RateLimitBucket['type'] },
  { buckets }: Pick<PolicyDeps, 'buckets'>,
): readonly Bucket[] {
  const limits = spec.entries[entry]?.settings ?? [];
  return limits.flatMap((limit, index) =>
    limit.type === type ? [buckets.open(bucketIdentity(spec, entry, index), limit)] : [],
  );
}

interface Now {
  readonly source: string;
  readonly nowMs: number;
}

function takeFrom(exchange: Exchange, buckets: readonly Bucket[], { source, nowMs }: Now): Outcome {
  let scarcest: Bucket | null = null;
  for (let i = 0; i < buckets.length; i++) {
    const bucket = buckets[i];
    if (bucket === undefined) break;
    if (!bucket.take(nowMs)) {
      if (exchange.trace !== null) report(exchange, buckets.slice(0, i + 1), { source, refused: true });
      return { kind: 'fail', refusal: { ...exceeded, headers: budgetHeaders(toldOf(bucket)) } };
    }
    if (scarcest === null || bucket.remaining < scarcest.remaining) scarcest = bucket;
  }
  if (exchange.trace !== null) report(exchange, buckets, { source, refused: false });
  if (scarcest !== null) announce(exchange, toldOf(scarcest));
  return next;
}

function toldOf({ limit, remaining, untilFillMs }: Bucket): ToldBudget {
  return { limit: limit.maxTokens, remaining, resetSeconds: resetSeconds(untilFillMs) };
}

function report(
  exchange: Exchange,
  buckets: readonly Bucket[],
  { source, refused }: { readonly source: string; readonly refused: boolean },
): void {
  const budgets = buckets.map(({ remaining, limit: { maxTokens }, untilFillMs }, index) => {
    const fill = untilFillMs === Number.POSITIVE_INFINITY ? 'never filled' : `filled in ${formatDuration(untilFillMs)}`;
    const empty = refused && index === buckets.length - 1;
    return empty
      ? `bucket ${index} is empty, holds ${maxTokens}, ${fill}`
      : `bucket ${index}: ${remaining} of ${maxTokens} left, ${fill}`;
  });
  const details = `${refused ? 'refused' : 'admitted'}: ${budgets.join('; ')} (from ${source})`;
  exchange.trace?.applied('local_rate_limit', details, refused ? 'error' : 'info');
}
