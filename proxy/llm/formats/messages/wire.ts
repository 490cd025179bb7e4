import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import type { LlmUsage } from '../../../exchange/llm-usage.ts';
import { number, object, text } from '../../json.ts';
import type { WireFormat } from '../contract.ts';
import { saidIn } from '../said.ts';

/** Anthropic messages. */
export const messagesWire: WireFormat = {
  error: (status, message) => ({ type: 'error', error: { type: messagesErrorType(status), message } }),
  streamError: (message) => ({
    name: 'error',
    data: { type: 'error', error: { type: 'api_error', message } },
  }),
  answer: (body) => ({ model: text(body['model']), usage: messagesUsage(body['usage']) }),
  told: (_name, data) => {
    const message = object(data['message']);
    if (message !== undefined) return { model: text(message['model']), usage: messagesUsage(message['usage']) };
    return data['usage'] === undefined ? null : { usage: messagesUsage(data['usage']) };
  },
  mayTell: (data) => data.includes('"usage"'),
  said: saidIn('text', 'thinking', 'partial_json'),
  ends: (name, data) => ENDS.has(text(data['type']) ?? name ?? ''),
  delta: (_name, data) => text(object(data['delta'])?.['text']) ?? null,
};

const ENDS: ReadonlySet<string> = new Set(['message_stop', 'error']);

/** By status (Anthropic API, "Errors"). */
function messagesErrorType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error';
    case 402:
      return 'billing_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 413:
      return 'request_too_large';
    case 429:
      return 'rate_limit_error';
    case 504:
      return 'timeout_error';
    case 529:
      return 'overloaded_error';
    default:
      return status >= 500 ? 'api_error' : 'invalid_request_error';
  }
}

/** `input_tokens` leave out what the cache holds. */
function messagesUsage(value: JsonValue | undefined): LlmUsage | undefined {
  const usage: JsonObject | undefined = object(value);
  return (
    usage && {
      inputTokens: number(usage['input_tokens']),
      outputTokens: number(usage['output_tokens']),
      cachedInputTokens: number(usage['cache_read_input_tokens']),
      cacheCreationInputTokens: number(usage['cache_creation_input_tokens']),
      reasoningTokens: number(object(usage['output_tokens_details'])?.['thinking_tokens']),
      serviceTier: text(usage['service_tier']),
    }
  );
}
