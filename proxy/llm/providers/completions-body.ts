import { isJsonObject, type JsonObject, type JsonValue } from '../../exchange/attributes.ts';
import { list } from '../json.ts';
import type { Adapt, ProviderRequest } from './contract.ts';

/** Streams tell their usage, unless the client has said what they tell. */
export const askUsage: Adapt = (body) =>
  body['stream'] === true && body['stream_options'] === undefined
    ? { ...body, stream_options: { include_usage: true } }
    : body;

/** The same for services of OpenAI's models, which know `max_tokens` by another name, and take back no thoughts. */
export const openaiCompletions: Adapt = (body, request) =>
  withoutThoughts(renamedLimit(askUsage(body, request), request), request);

/** OpenAI's own; other models at services that are made like its may want their thoughts back. */
const OPENAI = /^(?:gpt-|o\d)/;

/** A client may have got thoughts from another model that served it before. */
function withoutThoughts(body: JsonObject, { model }: ProviderRequest): JsonObject {
  const messages = list(body['messages']);
  if (messages === undefined || !OPENAI.test(model) || !messages.some(hasThoughts)) return body;
  return { ...body, messages: messages.map((message) => (hasThoughts(message) ? unthinking(message) : message)) };
}

function hasThoughts(message: JsonValue): message is JsonObject {
  return (
    isJsonObject(message) &&
    (message['reasoning_content'] !== undefined || message['reasoning_signature'] !== undefined)
  );
}

function unthinking({ reasoning_content: _thought, reasoning_signature: _signature, ...rest }: JsonObject): JsonObject {
  return rest;
}

function renamedLimit(body: JsonObject, { model }: ProviderRequest): JsonObject {
  if (body['max_tokens'] === undefined || !model.startsWith('gpt-')) return body;
  const { max_tokens: limit, ...rest } = body;
  return rest['max_completion_tokens'] === undefined ? { ...rest, max_completion_tokens: limit ?? null } : rest;
}
