import type { Translation } from '../contract.ts';
import { responseHead } from '../response-body.ts';
import { openaiError } from '../service-error.ts';
import { completionsRequest } from './request.ts';
import { responseFrom } from './response.ts';
import { ResponseChunks } from './stream.ts';

/** Clients of OpenAI responses at services that speak chat completions. */
export const responsesToCompletions: Translation = {
  from: 'responses',
  to: 'completions',
  begin: (body, { model }, notes) => ({
    body: completionsRequest(body, model, notes),
    response: (answer) => responseFrom(answer, responseHead(model, body, Date.now())),
    stream: () => new ResponseChunks(responseHead(model, body, Date.now())),
    error: openaiError,
  }),
};
