import type { JsonObject } from '../../../exchange/attributes.ts';
import { object } from '../../json.ts';
import type { Translation } from '../contract.ts';
import { messagesError } from '../service-error.ts';
import { completionsRequest } from './request.ts';
import { messageFrom } from './response.ts';
import { MessageChunks } from './stream.ts';

/** Clients of Anthropic messages at services that speak OpenAI chat completions. */
export const messagesToCompletions: Translation = {
  from: 'messages',
  to: 'completions',
  begin: (body, { model }, notes) => {
    const options = { model, thoughts: wantsThoughts(body) };
    return {
      body: completionsRequest(body, model, notes),
      response: (answer) => messageFrom(answer, options),
      stream: () => new MessageChunks(options),
      error: messagesError,
    };
  },
};

function wantsThoughts(body: JsonObject): boolean {
  const type = object(body['thinking'])?.['type'];
  return type === 'enabled' || type === 'adaptive';
}
