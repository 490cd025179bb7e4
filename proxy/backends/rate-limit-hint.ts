import { parseDurationMs } from '../../src/shared/duration.ts';
import type { Headers } from '../exchange/headers.ts';

const THIRTY_DAYS_S = 30 * 24 * 3600;

/** Fields that tell when one of several budgets is full again; the soonest counts. */
const RESET_FIELDS = [
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
  'x-ratelimit-reset-requests-day',
  'x-ratelimit-reset-tokens-minute',
];

/** Budgets of Anthropic, each with what is left of it and the time when it is full again. */
const BUDGETS = ['requests', 'tokens', 'input-tokens', 'output-tokens'];

/** Milliseconds that a 429 asks to stay away; undefined when its headers do not say. `nowMs` is epoch time. */
export function rateLimitHint(headers: Headers, nowMs: number): number | undefined {
  return (
    retryAfter(headers.get('retry-after'), nowMs) ??
    milliseconds(headers.get('retry-after-ms')) ??
    resetTime(headers.get('x-ratelimit-reset'), nowMs) ??
    soonestReset(headers) ??
    usedUpUntil(headers, nowMs)
  );
}

function retryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const seconds = decimal(value);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function milliseconds(value: string | undefined): number | undefined {
  return value === undefined ? undefined : decimal(value);
}

/** Small numbers are seconds from now, large ones a point in epoch time. */
function resetTime(value: string | undefined, nowMs: number): number | undefined {
  const seconds = value === undefined ? undefined : decimal(value);
  if (seconds === undefined) return undefined;
  return seconds < THIRTY_DAYS_S ? seconds * 1000 : Math.max(0, seconds * 1000 - nowMs);
}

function soonestReset(headers: Headers): number | undefined {
  let soonest: number | undefined;
  for (const name of RESET_FIELDS) {
    const value = headers.get(name);
    const delay = value === undefined ? undefined : secondsOrDuration(value.trim());
    if (delay !== undefined && (soonest === undefined || delay < soonest)) soonest = delay;
  }
  return soonest;
}

/** Only what is used up is waited for, and all of that. */
function usedUpUntil(headers: Headers, nowMs: number): number | undefined {
  let latest: number | undefined;
  for (const budget of BUDGETS) {
    const prefix = `anthropic-ratelimit-${budget}`;
    if (headers.get(`${prefix}-remaining`)?.trim() !== '0') continue;
    const delay = Date.parse(headers.get(`${prefix}-reset`) ?? '') - nowMs;
    if (!Number.isNaN(delay) && (latest === undefined || delay > latest)) latest = Math.max(0, delay);
  }
  return latest;
}

function secondsOrDuration(value: string): number | undefined {
  const seconds = decimal(value);
  return seconds === undefined ? parseDurationMs(value) : seconds * 1000;
}

function decimal(value: string): number | undefined {
  return /^\s*\d{1,15}(?:\.\d{1,9})?\s*$/.test(value) ? Number(value) : undefined;
}
