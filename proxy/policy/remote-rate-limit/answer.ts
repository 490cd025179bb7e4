import type { Exchange } from '../../exchange/exchange.ts';
import { Headers } from '../../exchange/headers.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { RateLimitResponse, RateLimitStatus } from '../../services/messages/rate-limit.ts';
import type { Outcome } from '../contract.ts';
import { next } from '../contract.ts';
import { headerFields } from '../header-changes.ts';

/** The budget that is closest to its end. */
export interface Budget {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

type Field = { readonly name: string; readonly value: string };

const LIMIT = 'x-ratelimit-limit';
const REMAINING = 'x-ratelimit-remaining';
const RESET = 'x-ratelimit-reset';
const TRIO: readonly string[] = [LIMIT, REMAINING, RESET];
const EMPTY = new Uint8Array(0);

/** Carries out what the service has said; everything but OK is over the limit. */
export function carryOut(response: RateLimitResponse, exchange: Exchange): Outcome {
  const fromService = headerFields(response.responseHeadersToAdd).filter(isField);
  const supplied = fromService.some(({ name }) => TRIO.includes(name));
  const computed = supplied ? [] : budgetFields(budgetOf(response.statuses ?? []));
  if (response.overallCode !== 'OK')
    return { kind: 'fail', refusal: overLimit(response, [...fromService, ...computed]) };
  addToRequest(exchange, headerFields(response.requestHeadersToAdd).filter(isField));
  for (const { name, value } of fromService) exchange.queued.add(name, value);
  // Whoever tells of a budget first, tells all of it.
  if (!TRIO.some((name) => exchange.queued.has(name)))
    for (const { name, value } of computed) exchange.queued.addDefault(name, value);
  return next;
}

/** The status with the least left; null when none has a limit. */
export function budgetOf(statuses: readonly RateLimitStatus[]): Budget | null {
  let least: Budget | null = null;
  for (const { currentLimit, limitRemaining = 0, durationUntilReset } of statuses) {
    if (currentLimit === undefined || currentLimit === null) continue;
    if (least !== null && least.remaining <= limitRemaining) continue;
    const { seconds = 0, nanos = 0 } = durationUntilReset ?? {};
    least = {
      limit: currentLimit.requestsPerUnit ?? 0,
      remaining: limitRemaining,
      resetSeconds: Math.max(0, seconds + (nanos > 0 ? 1 : 0)),
    };
  }
  return least;
}

function budgetFields(budget: Budget | null): Field[] {
  if (budget === null) return [];
  return [
    { name: LIMIT, value: String(budget.limit) },
    { name: REMAINING, value: String(budget.remaining) },
    { name: RESET, value: String(budget.resetSeconds) },
  ];
}

/** The body is the service's, empty too. */
function overLimit({ rawBody }: RateLimitResponse, fields: readonly Field[]): Refusal {
  return {
    status: 429,
    reason: 'RateLimit',
    message: 'rate limit exceeded',
    headers: Headers.from(fields.map(({ name, value }) => [name, value] as const)),
    body: rawBody ?? EMPTY,
  };
}

/** In the place of what the client sent by these names, which could pretend anything. */
function addToRequest({ request }: Exchange, fields: readonly Field[]): void {
  for (const { name } of fields) request.headers.remove(name);
  for (const { name, value } of fields) request.headers.append(name, value);
}

function isField({ name }: Field): boolean {
  return !name.startsWith(':') && name !== 'host';
}
