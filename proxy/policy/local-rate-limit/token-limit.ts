import type { LocalRateLimit } from '../../../src/config/ir/policy/local-rate-limit.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { compileChoice } from '../conditional.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { announce, budgetHeaders, resetSeconds } from '../rate-limit-headers.ts';
import { debitOf } from '../token-debit.ts';
import type { Bucket } from './bucket-view.ts';
import { bucketsOf, countsTokens, exceeded } from './compile.ts';

const KIND = 'local_rate_limit';

interface Budget {
  readonly bucket: Bucket;
  /** Tokens in it before this request took any. */
  readonly before: number;
}

/**
 * Admits requests to language models while there are tokens left, and takes what they used when they are over. Null when
 * nothing counts tokens. The step of the route has chosen the settings.
 */
export function localTokenLimit(spec: LocalRateLimit, context: PolicyContext): RequestStep | null {
  if (!countsTokens(spec)) return null;
  const { deps, source } = context;
  const place = { policy: 'localRateLimit', kind: KIND, context, sides: 'both' } as const;
  const choice = compileChoice(spec, place, (_limits, entry) => bucketsOf(spec, { entry, type: 'tokens' }, deps));
  return (exchange) => {
    const { llm } = exchange.attributes;
    const buckets = choice.chosen(exchange) ?? [];
    if (llm === null || buckets.length === 0) return next;
    const counted = llm.countedTokens ?? 0;
    const outcome = admit(exchange, buckets, { counted, source, nowMs: deps.clock.now() });
    if (outcome.kind !== 'next') return outcome;
    llm.onSettled(() => {
      const debit = debitOf(llm, counted);
      const now = deps.clock.now();
      for (const bucket of buckets) bucket.settle(now, debit);
    });
    return outcome;
  };
}

interface Admission {
  /** Input that was counted before the call and is taken now; 0 where nothing is counted. */
  readonly counted: number;
  readonly source: string;
  readonly nowMs: number;
}

function admit(exchange: Exchange, buckets: readonly Bucket[], admission: Admission): Outcome {
  const { counted, nowMs } = admission;
  const budgets: Budget[] = [];
  for (const bucket of buckets) {
    const admitted = counted > 0 ? bucket.take(nowMs, counted) : bucket.look(nowMs) > 0;
    if (!admitted) {
      // The call is not made: what earlier buckets gave for it goes back.
      for (const { bucket: earlier } of budgets) earlier.settle(nowMs, -counted);
      if (exchange.trace !== null) reportRefused(exchange, bucket, admission);
      return { kind: 'fail', refusal: { ...exceeded, headers: budgetHeaders(told(bucket, counted)) } };
    }
    budgets.push({ bucket, before: bucket.remaining + counted });
  }
  if (exchange.trace !== null) report(exchange, budgets, admission);
  const [first, ...others] = budgets;
  if (first === undefined) return next;
  const { bucket, before } = others.reduce((least, each) => (each.before < least.before ? each : least), first);
  announce(exchange, {
    limit: bucket.limit.maxTokens,
    remaining: before,
    resetSeconds: resetSeconds(bucket.untilFillMs),
  });
  return next;
}

/** Waiting does not help a request that is larger than the whole bucket. */
function told({ limit, remaining, untilFillMs }: Bucket, counted: number) {
  const never = counted > limit.maxTokens;
  return { limit: limit.maxTokens, remaining, resetSeconds: never ? 0 : resetSeconds(untilFillMs) };
}

function report({ trace }: Exchange, budgets: readonly Budget[], { counted, source }: Admission): void {
  const left = budgets.map(({ bucket, before }) => `${before} of ${bucket.limit.maxTokens} tokens left`);
  const taken = counted > 0 ? `, ${counted} taken for the input` : '';
  trace?.applied(KIND, `admitted: ${left.join('; ')}${taken} (from ${source})`);
}

function reportRefused({ trace }: Exchange, bucket: Bucket, { counted, source }: Admission): void {
  const { limit, remaining, untilFillMs } = bucket;
  const fill = untilFillMs === Number.POSITIVE_INFINITY ? 'never filled' : `filled in ${formatDuration(untilFillMs)}`;
  const wanted = counted > 0 ? `${counted} tokens of input are wanted, ` : '';
  trace?.applied(
    KIND,
    `refused: ${wanted}${remaining} of ${limit.maxTokens} tokens left, ${fill} (from ${source})`,
    'error',
  );
}
