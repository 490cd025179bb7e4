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
  for (const field in usage) {
    // `as`: an object has the fields that it lists.
    if (!isSound(usage[field as keyof LlmUsage])) return withoutUnsound(usage);
  }
  return usage;
}

function withoutUnsound(usage: LlmUsage): LlmUsage {
  const sound = Object.entries(usage).filter(([, value]) => isSound(value));
  // `as`: the same fields, some left out.
  return Object.fromEntries(sound) as LlmUsage;
}

function isSound(value: number | string | undefined): boolean {
  return typeof value !== 'number' || isCount(value);
}

/** Sums and prices of it stay exact. */
function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_COUNT;
}

const MAX_COUNT = 1e12;
