import { asArray, asNumber, asObject, asText, isObject, type JsonObject } from '../../admin/protocol/lenient.ts';
import type { ChatDraft } from '../answer.ts';
import type { ChatFormat } from './contract.ts';

/** Chat completions of OpenAI. */
export const completions: ChatFormat = {
  path: () => '/v1/chat/completions',
  body: ({ model, prompt, system, streaming }) => ({
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: prompt },
    ],
    ...(streaming ? { stream: true, stream_options: { include_usage: true } } : {}),
  }),
  headers: (key) => (key === undefined ? [] : [['authorization', `Bearer ${key}`]]),
  owns: (data) => Array.isArray(data['choices']) || asText(data['object'])?.startsWith('chat.completion') === true,
  whole: (body, draft) => read(body, 'message', draft),
  event: (data, draft) => read(data, 'delta', draft),
};

/** Of several answers to one question the first is the message. */
function read(data: JsonObject, part: 'message' | 'delta', draft: ChatDraft): void {
  draft.model ??= asText(data['model']);
  const choice = asArray(data['choices'])
    .map(asObject)
    .find((each) => (asNumber(each['index']) ?? 0) === 0);
  const said = asObject(choice?.[part]);
  draft.text += textOf(said['content']);
  draft.reasoning += asText(said['reasoning_content']) ?? asText(said['reasoning']) ?? '';
  for (const [at, call] of asArray(said['tool_calls']).map(asObject).entries()) {
    const called = asObject(call['function']);
    const key = asNumber(call['index']) ?? at;
    draft.tool(key, { id: asText(call['id']), name: asText(called['name']), arguments: asText(called['arguments']) });
  }
  draft.finish = asText(choice?.['finish_reason']) ?? draft.finish;
  if (isObject(data['usage'])) countUsage(data['usage'], draft);
}

function countUsage(usage: JsonObject, draft: ChatDraft): void {
  draft.count({
    inputTokens: asNumber(usage['prompt_tokens']),
    outputTokens: asNumber(usage['completion_tokens']),
    cachedInputTokens: asNumber(asObject(usage['prompt_tokens_details'])['cached_tokens']),
    reasoningTokens: asNumber(asObject(usage['completion_tokens_details'])['reasoning_tokens']),
  });
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return asArray(content)
    .map((part) => asText(asObject(part)['text']) ?? '')
    .join('');
}
