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
