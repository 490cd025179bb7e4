import type { JsonObject } from '../../exchange/attributes.ts';
import { list, text } from '../json.ts';

const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16_384,
};

/** Tokens of an answer whose client has said no limit. */
const ANSWER_TOKENS = 4096;

/** A limit for who has said none: thoughts count towards it, and must leave room for an answer. */
export function usualLimit(budget: number | undefined): number {
  return ANSWER_TOKENS + (budget ?? 0);
}

/** Tokens to think with, for the efforts of OpenAI; undefined for none. */
export function thinkingBudget(effort: string | undefined): number | undefined {
  return effort === undefined || !Object.hasOwn(BUDGETS, effort) ? undefined : BUDGETS[effort];
}

/** The least that Claude thinks with. */
const LEAST_BUDGET = 1024;

/** As much of a budget as a limit of the client's leaves; undefined when that is too little to think with. */
export function budgetWithin(budget: number, limit: number | undefined): number | undefined {
  const kept = limit === undefined ? budget : Math.min(budget, limit - 1);
  return kept < LEAST_BUDGET ? undefined : kept;
}

/**
 * Whether a chat goes on with results of calls before which the model's thoughts are missing, as when its client does not know
 * of them. Claude refuses to think on then.
 */
export function lacksThoughts(messages: readonly JsonObject[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  return (list(last?.['tool_calls']) ?? []).length > 0 && !isSigned(last);
}

function isSigned(message: JsonObject | undefined): boolean {
  return (text(message?.['reasoning_content']) ?? '') !== '' && (text(message?.['reasoning_signature']) ?? '') !== '';
}
