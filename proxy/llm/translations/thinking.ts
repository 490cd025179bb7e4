const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16_384,
};

/** Tokens to think with, for the efforts of OpenAI; undefined for none. */
export function thinkingBudget(effort: string | undefined): number | undefined {
  return effort === undefined || !Object.hasOwn(BUDGETS, effort) ? undefined : BUDGETS[effort];
}
