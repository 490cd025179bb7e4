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
