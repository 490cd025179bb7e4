import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { badResponse } from '../../failure.ts';
import { compact, number, object, objects, text } from '../../json.ts';
import { withSignature } from './thought-ids.ts';

const FILTERED = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);

export function finishReason(reason: JsonValue | undefined, hasCalls: boolean): string {
  if (reason === 'MAX_TOKENS') return 'length';
  if (FILTERED.has(text(reason) ?? '')) return 'content_filter';
  return hasCalls ? 'tool_calls' : 'stop';
}

/** What a response has at least one of. */
const TELLING = ['candidates', 'promptFeedback', 'usageMetadata', 'responseId', 'modelVersion'];

export interface ResponseFacts {
  /** Stands in where the service does not name its own. */
  readonly model: string;
  readonly nowMs: number;
}

/** Generated content as the answer of a chat completion. Throws an `LlmFailure` for what is none. */
export function completionOf(body: JsonObject, { model, nowMs }: ResponseFacts): JsonObject {
  if (!TELLING.some((field) => body[field] !== undefined)) throw badResponse('the response has no candidates');
  const id = responseId(body, nowMs);
  const candidates = objects(body['candidates']);
  const usage = object(body['usageMetadata']);
  return compact({
    id,
    object: 'chat.completion',
    created: Math.floor(nowMs / 1000),
    model: text(body['modelVersion']) ?? model,
    choices:
      candidates.length === 0
        ? [emptyChoice(body)]
        : candidates.map((candidate, index) => choice(candidate, number(candidate['index']) ?? index, id)),
    usage: usage && completionUsage(usage),
  });
}

export function responseId(body: JsonObject, nowMs: number): string {
  const id = text(body['responseId']) ?? '';
  return id === '' ? `vertex-gemini-${nowMs}` : id;
}

/** A prompt that was refused has no candidates. */
function emptyChoice(body: JsonObject): JsonObject {
  return { index: 0, message: { role: 'assistant', content: null }, finish_reason: blockedReason(body) ?? 'stop' };
}

export function blockedReason(body: JsonObject): string | undefined {
  return object(body['promptFeedback'])?.['blockReason'] === undefined ? undefined : 'content_filter';
}

function choice(candidate: JsonObject, index: number, id: string): JsonObject {
  const parts = objects(object(candidate['content'])?.['parts']);
  const seed = index === 0 ? id : `${id}_${index}`;
  const calls = parts
    .filter((part) => object(part['functionCall']) !== undefined)
    .map((part, place) => toolCall(part, `call_${seed}_${place}`));
  const said = parts.filter((part) => part['thought'] !== true && typeof part['text'] === 'string');
  const thought = parts.filter((part) => part['thought'] === true && typeof part['text'] === 'string');
  return {
    index,
    message: compact({
      role: 'assistant',
      content: said.length === 0 ? null : joined(said),
      reasoning_content: thought.length === 0 ? undefined : joined(thought),
      tool_calls: calls.length === 0 ? undefined : calls,
    }),
    finish_reason: finishReason(candidate['finishReason'], calls.length > 0),
  };
}

function joined(parts: readonly JsonObject[]): string {
  return parts.map((part) => text(part['text']) ?? '').join('');
}

/** `id` is that of calls which the service gives none. */
export function toolCall(part: JsonObject, id: string): JsonObject {
  const call = object(part['functionCall']);
  const own = text(call?.['id']) ?? '';
  return {
    id: withSignature(own === '' ? id : own, text(part['thoughtSignature'])),
    type: 'function',
    function: { name: text(call?.['name']) ?? '', arguments: JSON.stringify(call?.['args'] ?? {}) },
  };
}

/** Thoughts are output. */
export function completionUsage(usage: JsonObject): JsonObject {
  const prompt = number(usage['promptTokenCount']) ?? 0;
  const thoughts = number(usage['thoughtsTokenCount']);
  const completion = (number(usage['candidatesTokenCount']) ?? 0) + (thoughts ?? 0);
  const cached = number(usage['cachedContentTokenCount']);
  return compact({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: number(usage['totalTokenCount']) ?? prompt + completion,
    prompt_tokens_details: cached === undefined ? undefined : { cached_tokens: cached },
    completion_tokens_details: thoughts === undefined ? undefined : { reasoning_tokens: thoughts },
  });
}
