import { Double, Duration, Timestamp, Uint } from '../../../src/cel/value/value.ts';

const NANOS_PER_MS = 1e6;
/** Longer than any gateway lives; keeps sums of times exact. */
const MAX_TTL_MS = 10 * 365 * 24 * 3600 * 1000;

/**
 * How long a decision holds, milliseconds: a duration, the time of its end, or that time in Unix seconds. Null for
 * everything else, and when it has ended already. `nowMs` is the time of day, epoch milliseconds.
 */
export function ttlOf(value: unknown, nowMs: number): number | null {
  const ttlMs = rawTtl(value, nowMs);
  return ttlMs !== null && ttlMs > 0 ? Math.min(ttlMs, MAX_TTL_MS) : null;
}

function rawTtl(value: unknown, nowMs: number): number | null {
  if (value instanceof Duration) return Number(value.nanos) / NANOS_PER_MS;
  if (value instanceof Timestamp) return Number(value.nanos) / NANOS_PER_MS - nowMs;
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value) * 1000 - nowMs;
  if (value instanceof Uint) return Number(value.value) * 1000 - nowMs;
  // Claims such as `exp` may have a fraction (RFC 7519 section 2).
  if (value instanceof Double && Number.isFinite(value.value)) return value.value * 1000 - nowMs;
  return null;
}
