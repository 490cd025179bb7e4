import { asArray, asNumber, asObject, asText, isObject, type JsonObject } from '../../admin/protocol/lenient.ts';
import type { ChatDraft } from '../answer.ts';
import type { ChatFormat } from './contract.ts';

/** Messages require a limit; an answer to a person fits into this. */
const MAX_TOKENS = 4096;

const EVENT = /^(message_(start|delta|stop)|content_block_(start|delta|stop))$/;

/** Messages of Anthropic. */
export const messages: ChatFormat = {
  path: () => '/v1/messages',
  body: ({ model, prompt, system, streaming }) => ({
    model,
    max_tokens: MAX_TOKENS,
    ...(system === undefined ? {} : { system }),
    messages: [{ role: 'user', content: prompt }],
    ...(streaming ? { stream: true } : {}),
  }),
  headers: (key) => [['anthropic-version', '2023-06-01'], ...(key === undefined ? [] : [['x-api-key', key] as const])],
  owns: (data) => data['type'] === 'message' || EVENT.test(asText(data['type']) ?? ''),
  whole: (body, draft) => {
    head(body, draft);
    for (const [at, block] of asArray(body['content']).map(asObject).entries()) begin(block, at, draft);
  },
  event: (data, draft) => {
    const at = asNumber(data['index']) ?? 0;
    if (data['type'] === 'message_start') head(asObject(data['message']), draft);
    if (data['type'] === 'content_block_start') begin(asObject(data['content_block']), at, draft);
    if (data['type'] === 'content_block_delta') goOn(asObject(data['delta']), at, draft);
    if (data['type'] === 'message_delta') {
      draft.finish = asText(asObject(data['delta'])['stop_reason']) ?? draft.finish;
      countUsage(data['usage'], draft);
    }
  },
};

function head(message: JsonObject, draft: ChatDraft): void {
  draft.model ??= asText(message['model']);
  draft.finish = asText(message['stop_reason']) ?? draft.finish;
  countUsage(message['usage'], draft);
}

function begin(block: JsonObject, at: number, draft: ChatDraft): void {
  draft.text += block['type'] === 'text' ? (asText(block['text']) ?? '') : '';
  draft.reasoning += block['type'] === 'thinking' ? (asText(block['thinking']) ?? '') : '';
  if (block['type'] !== 'tool_use') return;
  // In a stream the input begins empty and comes as text.
  const input = asObject(block['input']);
  const given = Object.keys(input).length > 0 ? JSON.stringify(input) : '';
  draft.tool(at, { id: asText(block['id']), name: asText(block['name']), arguments: given });
}

function goOn(delta: JsonObject, at: number, draft: ChatDraft): void {
  draft.text += delta['type'] === 'text_delta' ? (asText(delta['text']) ?? '') : '';
  draft.reasoning += delta['type'] === 'thinking_delta' ? (asText(delta['thinking']) ?? '') : '';
  if (delta['type'] === 'input_json_delta') draft.tool(at, { arguments: asText(delta['partial_json']) });
}

function countUsage(usage: unknown, draft: ChatDraft): void {
  if (!isObject(usage)) return;
  draft.count({
    inputTokens: asNumber(usage['input_tokens']),
    outputTokens: asNumber(usage['output_tokens']),
    cachedInputTokens: asNumber(usage['cache_read_input_tokens']),
    reasoningTokens: undefined,
  });
}
