import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import type { LlmUsage } from '../../../exchange/llm-usage.ts';
import { number, object, objects, text } from '../../json.ts';
import type { WireFormat } from '../contract.ts';
import { saidIn } from '../said.ts';

/** Gemini `generateContent`. */
export const geminiWire: WireFormat = {
  error: (status, message) => ({ error: { code: status, message, status: googleStatus(status) } }),
  streamError: (message) => ({ name: null, data: { error: { code: 502, message, status: 'UNAVAILABLE' } } }),
  answer: told,
  told: (_name, data) => told(data),
  mayTell: (data) => data.includes('"usageMetadata"'),
  said: saidIn('text'),
  ends: (_name, data) =>
    (data['error'] ?? null) !== null ||
    text(object(data['promptFeedback'])?.['blockReason']) !== undefined ||
    objects(data['candidates']).some(({ finishReason }) => (finishReason ?? UNSPECIFIED) !== UNSPECIFIED),
  delta: (_name, data) =>
    objects(object(objects(data['candidates'])[0]?.['content'])?.['parts'])
      .filter((part) => part['thought'] !== true)
      .map((part) => text(part['text']) ?? '')
      .join(''),
};

const UNSPECIFIED = 'FINISH_REASON_UNSPECIFIED';

function told(data: JsonObject) {
  return { model: text(data['modelVersion']), usage: geminiUsage(data['usageMetadata']) };
}

/** Thoughts are output, which Google counts by themselves. */
export function geminiUsage(value: JsonValue | undefined): LlmUsage | undefined {
  const usage = object(value);
  if (usage === undefined) return undefined;
  const candidates = number(usage['candidatesTokenCount']);
  const thoughts = number(usage['thoughtsTokenCount']);
  return {
    inputTokens: number(usage['promptTokenCount']),
    outputTokens: candidates === undefined && thoughts === undefined ? undefined : (candidates ?? 0) + (thoughts ?? 0),
    totalTokens: number(usage['totalTokenCount']),
    cachedInputTokens: number(usage['cachedContentTokenCount']),
    reasoningTokens: thoughts,
    inputTextTokens: ofKind(usage['promptTokensDetails'], 'TEXT'),
    inputImageTokens: ofKind(usage['promptTokensDetails'], 'IMAGE'),
    inputAudioTokens: ofKind(usage['promptTokensDetails'], 'AUDIO'),
    outputTextTokens: ofKind(usage['candidatesTokensDetails'], 'TEXT'),
    outputImageTokens: ofKind(usage['candidatesTokensDetails'], 'IMAGE'),
    outputAudioTokens: ofKind(usage['candidatesTokensDetails'], 'AUDIO'),
  };
}

function ofKind(details: JsonValue | undefined, modality: string): number | undefined {
  return number(objects(details).find((entry) => entry['modality'] === modality)?.['tokenCount']);
}

const GOOGLE_STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** The canonical code of `google.rpc.Code` for a status. */
export function googleStatus(status: number): string {
  return GOOGLE_STATUS[status] ?? (status >= 500 ? 'INTERNAL' : 'FAILED_PRECONDITION');
}
