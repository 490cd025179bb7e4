import type { LlmFacts } from '../exchange/llm-facts.ts';
import type { LlmUsage } from '../exchange/llm-usage.ts';
import { decimalText } from '../../src/shared/dollars.ts';
import type { AccessField, FieldValue } from './access-fields.ts';
import type { Attribute } from './spans/span.ts';

/** Of calls of language models, in the order of the line. */
export const MODEL_FIELDS: readonly AccessField[] = [
  of('gen_ai.operation.name', ({ routeType }) => (routeType === 'Embeddings' ? 'embeddings' : 'chat')),
  of('gen_ai.provider.name', ({ provider }) => provider),
  of('gen_ai.request.model', ({ requestModel }) => requestModel),
  of('gen_ai.response.model', ({ responseModel }) => responseModel),
  of('gen_ai.usage.input_tokens', ({ inputTokens }) => inputTokens),
  used('gen_ai.usage.cache_creation.input_tokens', 'cacheCreationInputTokens'),
  used('gen_ai.usage.cache_read.input_tokens', 'cachedInputTokens'),
  used('gen_ai.usage.output_tokens', 'outputTokens'),
  used('gen_ai.usage.reasoning_tokens', 'reasoningTokens'),
  of('gw.ai.time_to_first_token', ({ timeToFirstTokenMs }) => milliseconds(timeToFirstTokenMs)),
  of('gw.ai.time_per_output_token', ({ timePerOutputTokenMs }) => milliseconds(timePerOutputTokenMs)),
  of('gw.ai.usage.estimated', ({ estimated }) => (estimated ? 'true' : null)),
  of('gw.ai.usage.cost.total', ({ cost }) => cost && decimalText(cost.total)),
  used('gen_ai.usage.output_image_tokens', 'outputImageTokens'),
  used('gen_ai.usage.input_audio_tokens', 'inputAudioTokens'),
  used('gen_ai.usage.output_audio_tokens', 'outputAudioTokens'),
  of('gen_ai.request.temperature', ({ params }) => params.temperature),
  of('gen_ai.embeddings.dimension.count', ({ params }) => params.dimensions),
  of('gen_ai.request.encoding_formats', ({ params }) => params.encodingFormat),
  of('gen_ai.request.top_p', ({ params }) => params.topP),
  of('gen_ai.request.max_tokens', ({ params }) => params.maxTokens),
  of('gen_ai.request.frequency_penalty', ({ params }) => params.frequencyPenalty),
  of('gen_ai.request.presence_penalty', ({ params }) => params.presencePenalty),
  of('gen_ai.request.seed', ({ params }) => params.seed),
];

const COST_PARTS = [
  ['input', 'input'],
  ['output', 'output'],
  ['cache_read', 'cacheRead'],
  ['cache_write', 'cacheWrite'],
  ['reasoning', 'reasoning'],
  ['input_audio', 'inputAudio'],
  ['output_audio', 'outputAudio'],
] as const;

/** What the cost is made of: for spans, beside the total. */
export function costAttributes(llm: LlmFacts | undefined): readonly Attribute[] {
  const cost = llm?.cost ?? null;
  if (cost === null) return [];
  return COST_PARTS.map(([key, part]) => [`gw.ai.usage.cost.${key}`, decimalText(cost[part])]);
}

function of(key: string, read: (facts: LlmFacts) => FieldValue): AccessField {
  return [key, ({ llm }) => (llm === undefined ? undefined : read(llm))];
}

function used(key: string, field: Exclude<keyof LlmUsage, 'serviceTier'>): AccessField {
  return of(key, ({ usage }) => usage?.[field]);
}

/** With microseconds, as durations are written. */
function milliseconds(value: number | null): string | null {
  return value === null ? null : `${Math.round(value * 1000) / 1000}ms`;
}
