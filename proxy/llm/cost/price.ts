import { type RateName, rateNames, type Rates } from '../../../src/config/ir/model-catalog.ts';
import type { LlmCost, LlmFacts } from '../../exchange/llm-facts.ts';
import { rateOf } from '../../../src/shared/dollars.ts';

/** What is billed of a call, in tokens: nothing counts twice. */
export type Billed = Readonly<Record<RateName, number>>;

/** Tokens by what they are billed as, under rates that have no prices for all of them. */
export function billedTokens({ inputTokens, usage }: LlmFacts, rates: Rates): Billed {
  const cacheRead = rates.cacheRead === undefined ? 0 : (usage?.cachedInputTokens ?? 0);
  const cacheWrite = rates.cacheWrite === undefined ? 0 : (usage?.cacheCreationInputTokens ?? 0);
  const inputAudio = usage?.inputAudioTokens ?? 0;
  const reasoning = usage?.reasoningTokens ?? 0;
  const outputAudio = usage?.outputAudioTokens ?? 0;
  return {
    input: Math.max(0, (inputTokens ?? 0) - cacheRead - cacheWrite - inputAudio),
    output: Math.max(0, (usage?.outputTokens ?? 0) - reasoning - outputAudio),
    cacheRead,
    cacheWrite,
    reasoning,
    inputAudio,
    outputAudio,
  };
}

/** Tokens that tiers are chosen by: all of the input, whatever it is billed as. */
export function contextTokens({ inputTokens, usage }: LlmFacts): number {
  const apart = [usage?.cachedInputTokens, usage?.cacheCreationInputTokens, usage?.inputAudioTokens];
  return Math.max(
    inputTokens ?? 0,
    apart.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0),
  );
}

/** The rate that holds where there is none of its own. */
const INSTEAD: Partial<Readonly<Record<RateName, RateName>>> = {
  reasoning: 'output',
  inputAudio: 'input',
  outputAudio: 'output',
};

export function costOf(billed: Billed, rates: Rates): LlmCost {
  const cost: Record<RateName | 'total', bigint> = {
    total: 0n,
    input: 0n,
    output: 0n,
    cacheRead: 0n,
    cacheWrite: 0n,
    reasoning: 0n,
    inputAudio: 0n,
    outputAudio: 0n,
  };
  for (const name of rateNames) {
    const rate = rates[name] ?? rates[INSTEAD[name] ?? name];
    if (rate === undefined || !Number.isSafeInteger(billed[name])) continue;
    cost[name] = BigInt(billed[name]) * rateOf(rate);
    cost.total += cost[name];
  }
  return cost;
}
