import type { LlmFacts } from '../../exchange/llm-facts.ts';

/** Bytes of text that a token has, on the average of languages and tokenizers. */
const TOKEN_BYTES = 4;

/**
 * Completes the usage of a streamed chat whose service has not told all of it: because the client left, the service broke
 * off, or tells none at all. What it has told stands; what came behind that, and an input that nobody has counted, are
 * guessed from the length of their texts. `promptBytes` is that of the input.
 */
export function estimateUsage(facts: LlmFacts, promptBytes: () => number): void {
  const { usage, untoldBytes, countedTokens } = facts;
  if (untoldBytes === null || (untoldBytes === 0 && usage?.inputTokens !== undefined)) return;
  facts.usage = {
    ...usage,
    inputTokens: usage?.inputTokens ?? countedTokens ?? tokensOf(promptBytes()),
    outputTokens: (usage?.outputTokens ?? 0) + tokensOf(untoldBytes),
  };
  facts.untoldBytes = 0;
  facts.estimated = true;
}

function tokensOf(bytes: number): number {
  return Math.ceil(bytes / TOKEN_BYTES);
}
