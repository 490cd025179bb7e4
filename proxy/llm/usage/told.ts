import type { LlmFacts } from '../../exchange/llm-facts.ts';
import { type LlmUsage, soundUsage } from '../../exchange/llm-usage.ts';
import type { Told } from '../formats/contract.ts';

/** What was told later takes the place of what was told before, number by number. */
export function overwrite(facts: LlmFacts, { model, usage, countTokens }: Told): void {
  if (model !== undefined && model !== '') facts.responseModel = model;
  if (countTokens !== undefined) facts.countTokens = countTokens;
  if (usage === undefined) return;
  const sound = soundUsage(usage);
  if (sound.outputTokens !== undefined && facts.untoldBytes !== null) facts.untoldBytes = 0;
  facts.usage = facts.usage === null ? sound : merged(facts.usage, sound);
}

function merged(before: LlmUsage, after: LlmUsage): LlmUsage {
  const told = Object.entries(after).filter(([, value]) => value !== undefined);
  return { ...before, ...Object.fromEntries(told) };
}
