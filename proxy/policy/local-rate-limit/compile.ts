import type { LocalRateLimit } from '../../../src/config/ir/policy/local-rate-limit.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { Headers } from '../../exchange/headers.ts';
import { type Refusal, refuse } from '../../exchange/refusal.ts';
import { compileChoice } from '../conditional.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { bucketIdentity } from './bucket-identity.ts';
import type { Bucket } from './bucket-view.ts';

const LIMIT = 'x-ratelimit-limit';
const REMAINING = 'x-ratelimit-remaining';
const RESET = 'x-ratelimit-reset';

const exceeded = refuse(429, 'RateLimit', 'rate limit exceeded');

/** Takes a token from each bucket, in order; what was taken is not given back when a later one is empty. */
export function localRateLimit(spec: LocalRateLimit, context: PolicyContext): RequestStep {
  const { source, deps } = context;
  const place = { policy: 'localRateLimit', kind: 'local_rate_limit', context, sides: 'request' } as const;
  const choice = compileChoice(spec, place, (limits, entry) =>
    limits.map((limit, index) => deps.buckets.open(bucketIdentity(spec, entry, index), limit)),
  );
  return (exchange) => {
    const buckets = choice.choose(exchange);
    return buckets === null ? next : takeFrom(exchange, buckets, { source, nowMs: deps.clock.now() });
  };
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
      return { kind: 'fail', refusal: refusalOf(bucket) };
    }
    if (scarcest === null || bucket.remaining < scarcest.remaining) scarcest = bucket;
  }
  if (exchange.trace !== null) report(exchange, buckets, { source, refused: false });
  if (scarcest !== null) announce(exchange, scarcest);
  return next;
}

/** The three belong together: who came first has said them all. */
function announce(exchange: Exchange, bucket: Bucket): void {
  const { queued } = exchange;
  if (queued.has(LIMIT) || queued.has(REMAINING) || queued.has(RESET)) return;
  queued.addDefault(LIMIT, String(bucket.limit.maxTokens));
  queued.addDefault(REMAINING, String(bucket.remaining));
  const reset = resetSeconds(bucket);
  if (reset !== null) queued.addDefault(RESET, reset);
}

function refusalOf(bucket: Bucket): Refusal {
  const headers = new Headers();
  headers.append(LIMIT, String(bucket.limit.maxTokens));
  headers.append(REMAINING, '0');
  const reset = resetSeconds(bucket);
  if (reset !== null) headers.append(RESET, reset);
  return { ...exceeded, headers };
}

/** Whole seconds until there is more: who waits that long finds some. Null when the bucket is never filled. */
function resetSeconds({ untilFillMs }: Bucket): string | null {
  return untilFillMs === Number.POSITIVE_INFINITY ? null : String(Math.max(1, Math.ceil(untilFillMs / 1000)));
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
