import type { LlmUsage } from './llm-usage.ts';

export interface PromptMessageFacts {
  readonly role: string;
  readonly content: string;
}

export interface ToolCallFacts {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Parameters of a request, as clients write them. */
export interface LlmParams {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly seed?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly encodingFormat?: string | undefined;
  readonly dimensions?: number | undefined;
}

/** Dollars. */
export interface LlmCost {
  readonly total: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
  readonly inputAudio: number;
  readonly outputAudio: number;
}

/** Dollars for a million tokens. */
export type LlmCostRates = Partial<Readonly<Record<Exclude<keyof LlmCost, 'total'>, number>>>;

/** What is known of one call of a language model: for expressions, logs, metrics and traces. Filled as it goes on. */
export class LlmFacts {
  /** How traces spell it: `Completions`, `Messages`, … */
  routeType = '';
  /** Empty until a provider is chosen. */
  provider = '';
  streaming = false;
  /** After overrides and aliases; empty where the request names none. */
  requestModel = '';
  responseModel: string | null = null;
  params: LlmParams = {};
  /** Input tokens counted here, before the call; null where they are not. */
  countedTokens: number | null = null;
  /** As the service told it; null until it does. */
  usage: LlmUsage | null = null;
  /** Whether its input tokens leave out what its cache holds. */
  excludesCache = false;
  /** Milliseconds from the arrival of the request to the first text that left for the client. */
  timeToFirstTokenMs: number | null = null;
  timePerOutputTokenMs: number | null = null;
  cost: LlmCost | null = null;
  costRates: LlmCostRates | null = null;
  /** Collected when something reads them. */
  prompt: readonly PromptMessageFacts[] | null = null;
  completion: readonly string[] | null = null;
  toolCalls: readonly ToolCallFacts[] | null = null;
  /** A count of tokens that the request asked for. */
  countTokens: number | null = null;

  /** Input with what came out of, or went into, the service's cache; what was counted here when the service tells nothing. */
  get inputTokens(): number | null {
    const { usage } = this;
    if (usage?.inputTokens === undefined) return this.countedTokens;
    if (!this.excludesCache) return usage.inputTokens;
    return usage.inputTokens + (usage.cachedInputTokens ?? 0) + (usage.cacheCreationInputTokens ?? 0);
  }

  get totalTokens(): number | null {
    const input = this.inputTokens;
    const output = this.usage?.outputTokens;
    if (input !== null && output !== undefined) return input + output;
    return this.usage?.totalTokens ?? null;
  }
}
