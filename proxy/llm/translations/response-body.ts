import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { compact, number, object, text } from '../json.ts';
import { newId } from './ids.ts';

/** How a response ended, in the words of its format. */
export type ResponseEnd =
  | { readonly status: 'completed' }
  | { readonly status: 'incomplete'; readonly reason: string }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

/** What stays the same of one response from its first event to its last. */
export interface ResponseHead {
  readonly id: string;
  readonly createdS: number;
  readonly model: string;
  /** What the client asked for, told back to it. */
  readonly asked: JsonObject;
}

/** Fields of requests that responses repeat, and what stands there when nothing was asked. */
const REPEATED: Readonly<Record<string, JsonValue>> = {
  instructions: null,
  metadata: {},
  max_output_tokens: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
};

/** Of a request body, what its response repeats. */
export function repeated(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(REPEATED).map(([field, usual]) => [field, body[field] ?? usual]));
}

export function responseHead(model: string, body: JsonObject, nowMs: number): ResponseHead {
  return { id: newId('resp_'), createdS: Math.floor(nowMs / 1000), model, asked: repeated(body) };
}

/** `end` is null while the response goes on. */
export function responseBody(
  head: ResponseHead,
  { end, output, usage }: { end: ResponseEnd | null; output: readonly JsonObject[]; usage: JsonObject | null },
): JsonObject {
  return {
    id: head.id,
    object: 'response',
    created_at: head.createdS,
    status: end?.status ?? 'in_progress',
    // Some libraries look for a type, as errors of requests have one.
    error: end?.status === 'failed' ? { code: end.code, type: end.code, message: end.message } : null,
    incomplete_details: end?.status === 'incomplete' ? { reason: end.reason } : null,
    model: head.model,
    output,
    ...head.asked,
    usage,
  };
}

/** Of the usage of a chat completion; of nothing where it tells none. */
export function responseUsage(usage: JsonObject): JsonObject {
  const input = number(usage['prompt_tokens']) ?? 0;
  const counted = number(usage['completion_tokens']) ?? 0;
  const total = number(usage['total_tokens']) ?? input + counted;
  // Gemini counts what a stream has written only among the total.
  const output = counted === 0 && total > input ? total - input : counted;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: number(object(usage['prompt_tokens_details'])?.['cached_tokens']) ?? 0 },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: number(object(usage['completion_tokens_details'])?.['reasoning_tokens']) ?? 0,
    },
    total_tokens: total,
  };
}

// ── items of the output ──

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export function messageItem(id: string, content: readonly JsonObject[], status: ItemStatus): JsonObject {
  return { id, type: 'message', role: 'assistant', status, content };
}

export function textPart(kind: 'output_text' | 'refusal', said: string): JsonObject {
  if (kind === 'refusal') return { type: 'refusal', refusal: said };
  return { type: 'output_text', text: said, annotations: [], logprobs: [] };
}

/** As a summary, the one form of thoughts that every library shows. */
export function reasoningItem(id: string, thought: string | null, signature = ''): JsonObject {
  return compact({
    id,
    type: 'reasoning',
    summary: thought === null ? [] : [summaryPart(thought)],
    encrypted_content: signature === '' ? undefined : `${SIGNATURE}${signature}`,
  });
}

/** Tells signatures of the service from what OpenAI has encrypted. */
const SIGNATURE = 'signature:';

/** The signature that an item has brought back; undefined where it has none, or one of another vendor. */
export function signatureOf(item: JsonObject): string | undefined {
  const hidden = text(item['encrypted_content']);
  return hidden?.startsWith(SIGNATURE) === true ? hidden.slice(SIGNATURE.length) : undefined;
}

export function summaryPart(thought: string): JsonObject {
  return { type: 'summary_text', text: thought };
}

/** The call's own id names the item too. */
export function callItem(id: string, name: string, source: string, status: ItemStatus): JsonObject {
  return { id, type: 'function_call', call_id: id, name, arguments: source, status };
}
