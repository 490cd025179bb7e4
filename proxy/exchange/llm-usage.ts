/** What a service told of one call, in its own way of counting; undefined where it told nothing. */
export interface LlmUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly totalTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly cacheCreationInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  readonly inputTextTokens?: number | undefined;
  readonly inputImageTokens?: number | undefined;
  readonly inputAudioTokens?: number | undefined;
  readonly outputTextTokens?: number | undefined;
  readonly outputImageTokens?: number | undefined;
  readonly outputAudioTokens?: number | undefined;
  readonly serviceTier?: string | undefined;
}

/** Without what is no count: services are not trusted to tell one. */
export function soundUsage(usage: LlmUsage): LlmUsage {
  const sound = Object.entries(usage).filter(([, value]) => typeof value !== 'number' || isCount(value));
  // `as`: the same fields, some left out.
  return Object.fromEntries(sound) as LlmUsage;
}

/** Sums and prices of it stay exact. */
function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_COUNT;
}

const MAX_COUNT = 1e12;
