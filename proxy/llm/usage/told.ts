import type { LlmFacts } from '../../exchange/llm-facts.ts';
import type { LlmUsage } from '../../exchange/llm-usage.ts';
import type { Contents } from '../contents/answer.ts';
import type { Told } from '../formats/contract.ts';

/** What was told later takes the place of what was told before, number by number. */
export function overwrite(facts: LlmFacts, { model, usage, countTokens }: Told): void {
  if (model !== undefined && model !== '') facts.responseModel = model;
  if (countTokens !== undefined) facts.countTokens = countTokens;
  if (usage === undefined) return;
  facts.usage = facts.usage === null ? usage : merged(facts.usage, usage);
}

export function tellContents(facts: LlmFacts, { completion, toolCalls }: Contents): void {
  facts.completion = completion;
  facts.toolCalls = toolCalls;
}

function merged(before: LlmUsage, after: LlmUsage): LlmUsage {
  const told = Object.entries(after).filter(([, value]) => value !== undefined);
  return { ...before, ...Object.fromEntries(told) };
}
