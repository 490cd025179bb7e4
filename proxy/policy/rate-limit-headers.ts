import type { Exchange } from '../exchange/exchange.ts';
import { Headers } from '../exchange/headers.ts';

/** What clients are told of a limit. */
export interface ToldBudget {
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until there is more; null when there never is. */
  readonly resetSeconds: number | null;
}

const LIMIT = 'x-ratelimit-limit';
const REMAINING = 'x-ratelimit-remaining';
const RESET = 'x-ratelimit-reset';

/** Under which an exchange remembers the budget that was announced here. */
const announced = { of: 'rate limits' };

/** Whole seconds, one at least: who waits that long finds some. */
export function resetSeconds(untilFillMs: number): number | null {
  return untilFillMs === Number.POSITIVE_INFINITY ? null : Math.max(1, Math.ceil(untilFillMs / 1000));
}

/** Tells of the scarcest budget. The three headers belong together: those of a service stay as they are. */
export function announce(exchange: Exchange, budget: ToldBudget): void {
  const { queued } = exchange;
  const before = exchange.recall(announced);
  if (typeof before === 'number' ? before <= budget.remaining : isTold(exchange)) return;
  exchange.remember(announced, budget.remaining);
  queued.setDefault(LIMIT, String(budget.limit));
  queued.setDefault(REMAINING, String(budget.remaining));
  queued.setDefault(RESET, budget.resetSeconds === null ? null : String(budget.resetSeconds));
}

/** Of a refusal. */
export function budgetHeaders({ limit, remaining, resetSeconds: reset }: ToldBudget): Headers {
  const headers = new Headers();
  headers.append(LIMIT, String(limit));
  headers.append(REMAINING, String(remaining));
  if (reset !== null) headers.append(RESET, String(reset));
  return headers;
}

function isTold({ queued }: Exchange): boolean {
  return queued.has(LIMIT) || queued.has(REMAINING) || queued.has(RESET);
}
