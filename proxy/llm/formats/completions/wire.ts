import type { JsonObject } from '../../../exchange/attributes.ts';
import type { LlmUsage } from '../../../exchange/llm-usage.ts';
import { number, object, objects, text } from '../../json.ts';
import type { WireFormat } from '../contract.ts';
import { saidIn } from '../said.ts';

/** OpenAI chat completions; embeddings and rerank share its errors. */
export const completionsWire: WireFormat = {
  error: (status, message, code) => ({
    // Refusals with a code are about the request, whatever their status.
    error: {
      message,
      type: code === undefined ? errorType(status) : 'invalid_request_error',
      param: null,
      code: code ?? null,
    },
  }),
  streamError: (message) => ({
    name: null,
    data: { error: { message, type: 'server_error', param: null, code: null } },
  }),
  answer: told,
  // The usage comes with the last event, the model with each.
  told: (_name, data) => told(data),
  mayTell: (data) => USAGE.test(data),
  said: saidIn('content', 'reasoning_content', 'reasoning', 'refusal', 'arguments'),
  ends: (_name, data) =>
    (data['error'] ?? null) !== null ||
    objects(data['choices']).some((choice) => typeof choice['finish_reason'] === 'string'),
  delta: (_name, data) => text(object(objects(data['choices'])[0]?.['delta'])?.['content']) ?? null,
};

/** Each event may have one that is null. */
const USAGE = /"usage": ?\{/;

function told(body: JsonObject) {
  const usage = completionsUsage(body['usage']);
  return { model: text(body['model']), usage: usage && { ...usage, serviceTier: text(body['service_tier']) } };
}

export function errorType(status: number): string {
  if (status === 401 || status === 403) return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

function completionsUsage(value: JsonObject[string] | undefined): LlmUsage | undefined {
  const usage = object(value);
  if (usage === undefined) return undefined;
  const input = object(usage['prompt_tokens_details']);
  const output = object(usage['completion_tokens_details']);
  return {
    inputTokens: number(usage['prompt_tokens']),
    outputTokens: number(usage['completion_tokens']),
    totalTokens: number(usage['total_tokens']),
    cachedInputTokens: number(input?.['cached_tokens']),
    cacheCreationInputTokens: number(input?.['cache_write_tokens']),
    reasoningTokens: number(output?.['reasoning_tokens']),
    inputTextTokens: number(input?.['text_tokens']),
    inputImageTokens: number(input?.['image_tokens']),
    inputAudioTokens: number(input?.['audio_tokens']),
    outputTextTokens: number(output?.['text_tokens']),
    outputImageTokens: number(output?.['image_tokens']),
    outputAudioTokens: number(output?.['audio_tokens']),
  };
}
