import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { number, object, parse } from '../json.ts';
import { newId } from './ids.ts';

/** Parts of an answer in Anthropic's format, made of one in another. */
export interface MessageParts {
  readonly id: string | undefined;
  readonly model: string;
  readonly content: readonly JsonObject[];
  readonly stopReason: string | null;
  readonly usage: JsonObject;
}

export function messageOf({ id, model, content, stopReason, usage }: MessageParts): JsonObject {
  return {
    id: id === undefined || id === '' ? newId('msg_') : id,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage,
  };
}

export const noUsage: JsonObject = { input_tokens: 0, output_tokens: 0 };

/** OpenAI counts what the cache holds among the input, Anthropic apart from it. */
export function messageUsage(usage: JsonObject | undefined, format: 'completions' | 'responses'): JsonObject {
  if (usage === undefined) return noUsage;
  const [input, output] =
    format === 'completions' ? ['prompt_tokens', 'completion_tokens'] : ['input_tokens', 'output_tokens'];
  const details = object(usage[format === 'completions' ? 'prompt_tokens_details' : 'input_tokens_details']);
  const read = number(details?.['cached_tokens']) ?? 0;
  const written = number(details?.['cache_write_tokens']) ?? 0;
  return {
    input_tokens: Math.max(0, (number(usage[input]) ?? 0) - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: number(usage[output]) ?? 0,
  };
}

/** The input of a tool, of the text that a model wrote: what is no JSON stays the text that it is. */
export function toolInput(source: string): JsonValue {
  return source.trim() === '' ? {} : (parse(source) ?? source);
}

/** The other way round. */
export function toolArguments(input: JsonValue | undefined): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}
