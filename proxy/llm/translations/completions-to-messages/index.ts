import type { JsonObject } from '../../../exchange/attributes.ts';
import { object, parseObject, text } from '../../json.ts';
import type { Translation } from '../contract.ts';
import { messagesRequest } from './request.ts';
import { completionOf } from './response.ts';
import { CompletionChunks } from './stream.ts';

/** Clients of OpenAI chat completions at services that speak Anthropic messages. */
export const completionsToMessages: Translation = {
  from: 'completions',
  to: 'messages',
  begin: (body, { model }, notes) => ({
    body: messagesRequest(body, model, notes),
    response: (answer) => completionOf(answer, Date.now()),
    stream: () => new CompletionChunks(Date.now()),
    error: (_status, answer) => completionError(answer),
  }),
};

function completionError(answer: string): JsonObject | undefined {
  const message = text(object(parseObject(answer)?.['error'])?.['message']);
  if (message === undefined) return undefined;
  return { event_id: null, error: { type: 'invalid_request_error', message, param: null, code: null } };
}
