import { asArray, asNumber, asObject, asText, isObject, type JsonObject } from '../../admin/protocol/lenient.ts';
import type { ChatDraft } from '../answer.ts';
import type { ChatFormat } from './contract.ts';

/** Responses of OpenAI. */
export const responses: ChatFormat = {
  path: () => '/v1/responses',
  body: ({ model, prompt, system, streaming }) => ({
    model,
    ...(system === undefined ? {} : { instructions: system }),
    input: prompt,
    ...(streaming ? { stream: true } : {}),
  }),
  headers: (key) => (key === undefined ? [] : [['authorization', `Bearer ${key}`]]),
  owns: (data) => data['object'] === 'response' || asText(data['type'])?.startsWith('response.') === true,
  whole: (body, draft) => {
    head(body, draft);
    for (const [at, item] of asArray(body['output']).map(asObject).entries()) wholeItem(item, at, draft);
  },
  event: (data, draft) => {
    const type = asText(data['type']) ?? '';
    const at = asNumber(data['output_index']) ?? 0;
    const delta = asText(data['delta']) ?? '';
    if (isObject(data['response'])) head(data['response'], draft);
    if (type === 'response.output_text.delta' || type === 'response.refusal.delta') draft.text += delta;
    if (type.startsWith('response.reasoning') && type.endsWith('.delta')) draft.reasoning += delta;
    if (type === 'response.output_item.added') beginItem(asObject(data['item']), at, draft);
    if (type === 'response.function_call_arguments.delta') draft.tool(at, { arguments: delta });
    if (type === 'response.function_call_arguments.done') draft.wholeArguments(at, asText(data['arguments']) ?? '');
  },
};

function head(body: JsonObject, draft: ChatDraft): void {
  draft.model ??= asText(body['model']);
  const reason = asText(asObject(body['incomplete_details'])['reason']);
  draft.finish = reason ?? asText(body['status']) ?? draft.finish;
  draft.error = asText(asObject(body['error'])['message']) ?? draft.error;
  const usage = asObject(body['usage']);
  draft.count({
    inputTokens: asNumber(usage['input_tokens']),
    outputTokens: asNumber(usage['output_tokens']),
    cachedInputTokens: asNumber(asObject(usage['input_tokens_details'])['cached_tokens']),
    reasoningTokens: asNumber(asObject(usage['output_tokens_details'])['reasoning_tokens']),
  });
}

function beginItem(item: JsonObject, at: number, draft: ChatDraft): void {
  if (item['type'] !== 'function_call') return;
  const id = asText(item['call_id']) ?? asText(item['id']);
  draft.tool(at, { id, name: asText(item['name']), arguments: asText(item['arguments']) });
}

function wholeItem(item: JsonObject, at: number, draft: ChatDraft): void {
  beginItem(item, at, draft);
  const texts = (key: string): string =>
    asArray(item[key])
      .map((part) => asText(asObject(part)['text']) ?? asText(asObject(part)['refusal']) ?? '')
      .join('');
  if (item['type'] === 'message') draft.text += texts('content');
  if (item['type'] === 'reasoning') draft.reasoning += texts('summary') || texts('content');
}
