import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import type { LlmUsage } from '../../../exchange/llm-usage.ts';
import { number, object, text } from '../../json.ts';
import { errorType } from '../completions/wire.ts';
import type { WireFormat } from '../contract.ts';
import { saidIn } from '../said.ts';

/** OpenAI responses. */
export const responsesWire: WireFormat = {
  error: (status, message, code) => ({ error: { message, type: errorType(status), param: null, code: code ?? null } }),
  // The types have the fields at the top, the service and its client library look into `error`.
  streamError: (message) => ({
    name: 'error',
    data: { type: 'error', sequence_number: 0, ...fault(message), error: { type: 'server_error', ...fault(message) } },
  }),
  answer: told,
  told: (_name, data) => {
    const response = object(data['response']);
    return response === undefined ? null : told(response);
  },
  mayTell: (data) => data.includes('"usage"'),
  said: saidIn('delta'),
  ends: (name, data) => ENDS.has(text(data['type']) ?? name ?? ''),
  delta: (_name, data) => (data['type'] === 'response.output_text.delta' ? (text(data['delta']) ?? null) : null),
};

const ENDS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
  'error',
]);

function fault(message: string) {
  return { code: 'server_error', message, param: null };
}

function told(response: JsonObject) {
  const usage = responsesUsage(response['usage']);
  return { model: text(response['model']), usage: usage && { ...usage, serviceTier: text(response['service_tier']) } };
}

function responsesUsage(value: JsonValue | undefined): LlmUsage | undefined {
  const usage = object(value);
  if (usage === undefined) return undefined;
  const input = object(usage['input_tokens_details']);
  const output = object(usage['output_tokens_details']);
  return {
    inputTokens: number(usage['input_tokens']),
    outputTokens: number(usage['output_tokens']),
    totalTokens: number(usage['total_tokens']),
    cachedInputTokens: number(input?.['cached_tokens']),
    cacheCreationInputTokens: number(input?.['cache_write_tokens']),
    reasoningTokens: number(output?.['reasoning_tokens']),
  };
}
