import type { RateName, Rates } from '../../src/config/ir/model-catalog.ts';
import { LlmPace } from './llm-pace.ts';
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

/** What a model answered; grows while it streams. */
export interface Said {
  /** One text for each choice. */
  readonly completion: readonly string[];
  readonly toolCalls: readonly ToolCallFacts[];
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

/** Trillionths of a dollar. */
export type LlmCost = Readonly<Record<RateName | 'total', bigint>>;

/** What came of looking for the prices of a model. */
export type CatalogStatus = 'exact' | 'unpriced' | 'missing' | 'noCatalog';

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
  /** Bytes of a streamed chat since the service told how many tokens it has; null where nobody counts them. */
  untoldBytes: number | null = null;
  /** A part of the usage was not told by the service, but guessed from the length of texts. */
  estimated = false;
  /** Whether its input tokens leave out what its cache holds. */
  excludesCache = false;
  /** Milliseconds from the arrival of the request to the first text that left for the client. */
  timeToFirstTokenMs: number | null = null;
  timePerOutputTokenMs: number | null = null;
  cost: LlmCost | null = null;
  /** Dollars for a million tokens, as decimal texts. */
  costRates: Rates | null = null;
  /** The service has answered with success. */
  answered = false;
  /** Milliseconds that the body of a 429 asks to stay away. */
  retryDelayMs: number | undefined;
  /** What ended the answer before it was complete, where the service is to blame. */
  cut: Error | null = null;
  /** Why a guard ended the stream. */
  blocked: string | null = null;
  /** Where the answer is on its way to the client. */
  pace = new LlmPace();
  /** Collected when something reads them. */
  prompt: readonly PromptMessageFacts[] | null = null;
  said: Said | null = null;
  /** A count of tokens that the request asked for. */
  countTokens: number | null = null;
  #settleListeners: (() => void)[] | null = null;

  /** Another attempt begins: what an answer has told before is of no interest any more. */
  beginAttempt(): void {
    this.responseModel = null;
    this.usage = null;
    this.untoldBytes = null;
    this.excludesCache = false;
    this.said = null;
    this.countTokens = null;
    this.pace = new LlmPace();
    this.answered = false;
    this.cut = null;
    this.blocked = null;
    this.retryDelayMs = undefined;
  }

  /** Calls `listener` once when the call is over and everything about it is known. */
  onSettled(listener: () => void): void {
    (this.#settleListeners ??= []).push(listener);
  }

  /** Called by the owner of the exchange at its end; later calls do nothing. */
  settled(): void {
    const listeners = this.#settleListeners;
    this.#settleListeners = null;
    if (listeners !== null) for (const listener of listeners) listener();
  }

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
