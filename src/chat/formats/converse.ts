import { asArray, asNumber, asObject, asText, isObject, type JsonObject } from '../../admin/protocol/lenient.ts';
import type { ChatDraft } from '../answer.ts';
import type { ChatReading } from './contract.ts';

/** Converse of Bedrock, which nobody asks by hand: requests are signed. */
export const converse: ChatReading = {
  owns: (data) =>
    isObject(asObject(data['output'])['message']) ||
    'contentBlockIndex' in data ||
    'stopReason' in data ||
    data['role'] === 'assistant',
  whole: (body, draft) => {
    const message = asObject(asObject(body['output'])['message']);
    for (const [at, block] of asArray(message['content']).map(asObject).entries()) readBlock(block, at, draft);
    end(body, draft);
  },
  event: (data, draft) => {
    const at = asNumber(data['contentBlockIndex']) ?? 0;
    readBlock(asObject(data['start']), at, draft);
    readBlock(asObject(data['delta']), at, draft);
    end(data, draft);
  },
};

/** Blocks and pieces of them have the same fields. */
function readBlock({ text, reasoningContent, toolUse }: JsonObject, at: number, draft: ChatDraft): void {
  draft.text += asText(text) ?? '';
  const thought = asObject(reasoningContent);
  draft.reasoning += asText(thought['text']) ?? asText(asObject(thought['reasoningText'])['text']) ?? '';
  if (!isObject(toolUse)) return;
  const { toolUseId, name, input } = toolUse;
  const args = input === undefined || typeof input === 'string' ? asText(input) : JSON.stringify(input);
  draft.tool(at, { id: asText(toolUseId), name: asText(name), arguments: args });
}

function end(data: JsonObject, draft: ChatDraft): void {
  draft.finish = asText(data['stopReason']) ?? draft.finish;
  const usage = asObject(data['usage']);
  draft.count({
    inputTokens: asNumber(usage['inputTokens']),
    outputTokens: asNumber(usage['outputTokens']),
    cachedInputTokens: asNumber(usage['cacheReadInputTokens']),
    reasoningTokens: undefined,
  });
}
