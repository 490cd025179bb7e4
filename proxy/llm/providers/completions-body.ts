import type { JsonObject } from '../../exchange/attributes.ts';
import type { Adapt, ProviderRequest } from './contract.ts';

/** Streams tell their usage, unless the client has said what they tell. */
export const askUsage: Adapt = (body) =>
  body['stream'] === true && body['stream_options'] === undefined
    ? { ...body, stream_options: { include_usage: true } }
    : body;

/** The same for services of OpenAI's models, which know `max_tokens` by another name. */
export const openaiCompletions: Adapt = (body, request) => renamedLimit(askUsage(body, request), request);

function renamedLimit(body: JsonObject, { model }: ProviderRequest): JsonObject {
  if (body['max_tokens'] === undefined || !model.startsWith('gpt-')) return body;
  const { max_tokens: limit, ...rest } = body;
  return rest['max_completion_tokens'] === undefined ? { ...rest, max_completion_tokens: limit ?? null } : rest;
}
