import type { LlmFacts } from '../exchange/llm-facts.ts';

/**
 * Tokens that a call used beyond those that were taken for it before; negative gives some back. A call that was not
 * answered used none; of an answer that tells nothing, the input counts as it was counted here.
 */
export function debitOf(facts: LlmFacts, taken: number): number {
  if (facts.usage === null && !facts.answered) return -taken;
  return (facts.totalTokens ?? facts.inputTokens ?? 0) - taken;
}
