import { asArray, asNumber, asObject, asText, isObject, type JsonObject } from '../../admin/protocol/lenient.ts';
import type { ChatDraft } from '../answer.ts';
import type { ChatFormat } from './contract.ts';

/** `generateContent` of Gemini; the model is named in the path. */
export const generateContent: ChatFormat = {
  path: ({ model, streaming }) => {
    const method = streaming ? 'streamGenerateContent?alt=sse' : 'generateContent';
    return `/v1beta/models/${encodeURIComponent(model)}:${method}`;
  },
  body: ({ prompt, system }) => ({
    ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: [{ role: 'user', parts: [{ text: prompt }] }],
  }),
  headers: (key) => (key === undefined ? [] : [['x-goog-api-key', key]]),
  owns: (data) => Array.isArray(data['candidates']) || isObject(data['usageMetadata']),
  whole: read,
  event: read,
};

/** An event is a whole answer with a piece of the message in it. */
function read(data: JsonObject, draft: ChatDraft): void {
  draft.model ??= asText(data['modelVersion']);
  const [first] = asArray(data['candidates']);
  const candidate = asObject(first);
  for (const part of asArray(asObject(candidate['content'])['parts']).map(asObject)) readPart(part, draft);
  const blocked = asText(asObject(data['promptFeedback'])['blockReason']);
  draft.finish = asText(candidate['finishReason']) ?? blocked ?? draft.finish;
  const usage = asObject(data['usageMetadata']);
  draft.count({
    inputTokens: asNumber(usage['promptTokenCount']),
    outputTokens: asNumber(usage['candidatesTokenCount']),
    cachedInputTokens: asNumber(usage['cachedContentTokenCount']),
    reasoningTokens: asNumber(usage['thoughtsTokenCount']),
  });
}

function readPart(part: JsonObject, draft: ChatDraft): void {
  const text = asText(part['text']) ?? '';
  if (part['thought'] === true) draft.reasoning += text;
  else draft.text += text;
  if (!isObject(part['functionCall'])) return;
  const { id, name, args } = part['functionCall'];
  // Calls come whole, each as a part of its own.
  const key = asText(id) ?? `call-${draft.message.toolCalls.length}`;
  draft.tool(key, { id: asText(id), name: asText(name), arguments: JSON.stringify(args ?? {}) });
}
