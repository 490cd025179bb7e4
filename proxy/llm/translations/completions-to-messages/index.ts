import type { JsonObject } from '../../../exchange/attributes.ts';
import type { Translation } from '../contract.ts';
import { foreignError, plainMessage, serviceError } from '../service-error.ts';
import { messagesRequest } from './request.ts';
import { completionOf } from './response.ts';
import { CompletionChunks } from './stream.ts';

/** Clients of OpenAI chat completions at services that speak Anthropic messages. */
export const completionsToMessages: Translation = {
  from: 'completions',
  to: 'messages',
  begin: (body, { model }, notes) => ({
    body: messagesRequest(body, model, notes),
    response: (answer) => completionOf(answer, { model, nowMs: Date.now() }),
    stream: () => new CompletionChunks({ model, nowMs: Date.now() }),
    error: completionError,
  }),
};

/** The kind of error that Anthropic has a word for stands in `code`. */
function completionError(status: number, answer: string): JsonObject {
  const error = serviceError(answer);
  const code = error?.type === undefined || error.type === 'invalid_request_error' ? null : error.type;
  return foreignError(status, error?.message ?? plainMessage(status, answer), code);
}
