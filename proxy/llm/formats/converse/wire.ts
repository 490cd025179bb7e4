import type { JsonValue } from '../../../exchange/attributes.ts';
import type { LlmUsage } from '../../../exchange/llm-usage.ts';
import { number, object, text } from '../../json.ts';
import { completionsWire } from '../completions/wire.ts';
import type { WireFormat } from '../contract.ts';
import { saidIn } from '../said.ts';

/** Bedrock Converse; no client of the gateway speaks it. */
export const converseWire: WireFormat = {
  error: completionsWire.error,
  streamError: completionsWire.streamError,
  answer: (body) => ({ usage: converseUsage(body['usage']) }),
  told: (_name, data) => (data['usage'] === undefined ? null : { usage: converseUsage(data['usage']) }),
  mayTell: (data) => data.includes('"usage"'),
  said: saidIn('text', 'input'),
  ends: (name) => name === 'messageStop',
  delta: (_name, data) => text(object(data['delta'])?.['text']) ?? null,
};

/** `inputTokens` leave out what the cache holds. */
function converseUsage(value: JsonValue | undefined): LlmUsage | undefined {
  const usage = object(value);
  return (
    usage && {
      inputTokens: number(usage['inputTokens']),
      outputTokens: number(usage['outputTokens']),
      totalTokens: number(usage['totalTokens']),
      cachedInputTokens: number(usage['cacheReadInputTokens']),
      cacheCreationInputTokens: number(usage['cacheWriteInputTokens']),
    }
  );
}
