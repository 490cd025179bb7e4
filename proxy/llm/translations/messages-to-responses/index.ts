import type { Translation } from '../contract.ts';
import { messagesError } from '../service-error.ts';
import { responsesRequest } from './request.ts';
import { messageFrom } from './response.ts';
import { ResponseMessage } from './stream.ts';

/** Clients of Anthropic messages at services that speak OpenAI responses alone. */
export const messagesToResponses: Translation = {
  from: 'messages',
  to: 'responses',
  begin: (body, { model }, notes) => ({
    body: responsesRequest(body, model, notes),
    response: (answer) => messageFrom(answer, model),
    stream: () => new ResponseMessage(model),
    error: messagesError,
  }),
};
