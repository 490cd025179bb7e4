import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { compact, list, number, object, objects, text } from '../../json.ts';
import { newId } from '../ids.ts';
import { badResponse } from '../../failure.ts';

const FINISH_REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    pause_turn: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    tool_use: 'tool_calls',
    refusal: 'content_filter',
  }),
);

export function finishReason(stop: JsonValue | undefined): string {
  return (typeof stop === 'string' ? FINISH_REASONS.get(stop) : undefined) ?? 'stop';
}

export interface CompletionOptions {
  /** Of the request, where the answer names none. */
  readonly model: string;
  /** When the answer was made. */
  readonly nowMs: number;
}

/** A message as the answer of a chat completion. */
export function completionOf(body: JsonObject, { model, nowMs }: CompletionOptions): JsonObject {
  const blocks = objects(body['content']);
  if (list(body['content']) === undefined) throw badResponse('the message has no content');
  const calls = blocks.filter(({ type }) => type === 'tool_use' || type === 'server_tool_use').map(toolCall);
  const said = blocks.filter(({ type }) => type === 'text').map((block) => text(block['text']) ?? '');
  const thought = blocks.findLast(({ type }) => type === 'thinking');
  const usage = object(body['usage']);
  return compact({
    id: text(body['id']) ?? newId('chatcmpl-'),
    object: 'chat.completion',
    created: Math.floor(nowMs / 1000),
    model: text(body['model']) ?? model,
    choices: [
      {
        index: 0,
        message: compact({
          role: 'assistant',
          content: said.length === 0 ? null : said.join(''),
          reasoning_content: thought?.['thinking'],
          // What the model wants back with the thought, in the next turn.
          reasoning_signature: text(thought?.['signature']) || undefined,
          tool_calls: calls.length === 0 ? undefined : calls,
        }),
        finish_reason: finishReason(body['stop_reason']),
      },
    ],
    usage: usage && completionUsage(usage),
    service_tier: text(usage?.['service_tier']),
  });
}

function toolCall(block: JsonObject): JsonObject {
  return {
    id: text(block['id']) ?? '',
    type: 'function',
    function: { name: text(block['name']) ?? '', arguments: JSON.stringify(block['input'] ?? {}) },
  };
}

/** Clients see the service's own numbers: what its cache holds is not among the prompt tokens. */
export function completionUsage(usage: JsonObject): JsonObject {
  const input = number(usage['input_tokens']) ?? 0;
  const output = number(usage['output_tokens']) ?? 0;
  const read = number(usage['cache_read_input_tokens']);
  const written = number(usage['cache_creation_input_tokens']);
  const thought = number(object(usage['output_tokens_details'])?.['thinking_tokens']);
  const cached = read !== undefined || written !== undefined;
  return compact({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    prompt_tokens_details: cached ? compact({ cached_tokens: read, cache_write_tokens: written }) : undefined,
    completion_tokens_details: thought === undefined ? undefined : { reasoning_tokens: thought },
  });
}
