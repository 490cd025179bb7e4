import { isJsonObject, type JsonObject, type JsonValue } from '../../exchange/attributes.ts';
import type { LlmUsage } from '../../exchange/llm-usage.ts';
import type { Told } from '../formats/contract.ts';
import { geminiUsage } from '../formats/gemini/wire.ts';
import { number, object, text } from '../json.ts';

/** What an answer, or an event of one, tells in any of the formats that services speak. */
export function detectedTold(body: JsonObject): Told {
  const within = [body, object(body['response']), object(body['message']), object(body['metadata'])].filter(
    isJsonObject,
  );
  return {
    model: first(within, (holder) => text(holder['model']) ?? text(holder['modelVersion'])),
    usage: first(within, (holder) => usageIn(holder['usage']) ?? geminiUsage(holder['usageMetadata'])),
  };
}

function first<T>(holders: readonly JsonObject[], read: (holder: JsonObject) => T | undefined): T | undefined {
  for (const holder of holders) {
    const found = read(holder);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** By the names that OpenAI, Anthropic and Bedrock have for the same numbers. */
function usageIn(value: JsonValue | undefined): LlmUsage | undefined {
  const usage = object(value);
  if (usage === undefined) return undefined;
  const input = details(usage, 'input_tokens_details', 'prompt_tokens_details', 'input_token_details');
  const output = details(usage, 'output_tokens_details', 'completion_tokens_details', 'output_token_details');
  return {
    inputTokens: numberOf(usage, 'input_tokens', 'prompt_tokens', 'inputTokens'),
    outputTokens: numberOf(usage, 'output_tokens', 'completion_tokens', 'outputTokens'),
    totalTokens: numberOf(usage, 'total_tokens', 'totalTokens'),
    cachedInputTokens:
      numberOf(usage, 'cache_read_input_tokens', 'cacheReadInputTokens', 'cacheReadInputTokenCount') ??
      number(input['cached_tokens']),
    cacheCreationInputTokens:
      number(input['cache_write_tokens']) ??
      numberOf(usage, 'cache_creation_input_tokens', 'cacheWriteInputTokens', 'cacheWriteInputTokensCount'),
    reasoningTokens: number(output['reasoning_tokens']),
    inputTextTokens: number(input['text_tokens']),
    inputImageTokens: number(input['image_tokens']),
    inputAudioTokens: number(input['audio_tokens']),
    outputTextTokens: number(output['text_tokens']),
    outputImageTokens: number(output['image_tokens']),
    outputAudioTokens: number(output['audio_tokens']),
    serviceTier: text(usage['service_tier']),
  };
}

function details(usage: JsonObject, ...names: readonly string[]): JsonObject {
  for (const name of names) {
    const found = object(usage[name]);
    if (found !== undefined) return found;
  }
  return {};
}

function numberOf(usage: JsonObject, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const found = number(usage[name]);
    if (found !== undefined) return found;
  }
  return undefined;
}
