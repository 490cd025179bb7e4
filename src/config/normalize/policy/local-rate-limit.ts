import type { LocalRateLimit, RateLimitBucket } from '../../ir/policy/local-rate-limit.ts';
import type { BucketSpec, LocalRateLimitSpec } from '../../schema/policy/local-rate-limit.ts';
import type { Place } from '../simple-backend.ts';
import { always, mapChoice } from './conditional.ts';

const UNIT_MS = { Seconds: 1000, Minutes: 60_000, Hours: 3_600_000 } as const;

export function localRateLimit(spec: LocalRateLimitSpec, place: Place): LocalRateLimit {
  const choice = Array.isArray(spec)
    ? always(spec.map(bucket))
    : mapChoice({ entries: spec.conditional.map(entryOf) }, (settings) => [bucket(settings)]);
  return { ...choice, owner: place.origin ?? place.key };
}

function entryOf({ condition, ...settings }: BucketSpec & { readonly condition?: string | undefined }) {
  return condition === undefined ? { settings } : { condition, settings };
}

/** `requests` or `tokens` per `unit` is a bucket of that size and the burst, filled by that many in every unit. */
function bucket(spec: BucketSpec): RateLimitBucket {
  const rate = spec.requests ?? spec.tokens;
  const type = spec.type === 'tokens' || spec.tokens !== undefined ? ({ type: 'tokens' } as const) : {};
  if (rate === undefined)
    return {
      ...type,
      maxTokens: spec.maxTokens ?? 0,
      tokensPerFill: spec.tokensPerFill ?? 0,
      fillIntervalMs: spec.fillInterval ?? 0,
    };
  return {
    ...type,
    maxTokens: rate + (spec.burst ?? 0),
    tokensPerFill: rate,
    fillIntervalMs: UNIT_MS[spec.unit ?? 'Seconds'],
  };
}
