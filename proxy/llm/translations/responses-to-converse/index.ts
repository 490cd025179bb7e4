import type { Translation } from '../contract.ts';
import { completionError } from '../converse/error.ts';
import { SafeNames } from '../converse/safe-names.ts';
import { responseHead } from '../response-body.ts';
import { converseRequest } from './request.ts';
import { responseFrom } from './response.ts';
import { ResponseStream } from './stream.ts';

/** Clients of OpenAI responses at Bedrock. */
export const responsesToConverse: Translation = {
  from: 'responses',
  to: 'converse',
  begin: (body, facts, notes) => {
    const tools = new SafeNames('tool');
    const { model } = facts;
    return {
      body: converseRequest(body, facts, tools, notes),
      response: (answer) => responseFrom(answer, responseHead(model, body, Date.now()), tools),
      stream: () => new ResponseStream(responseHead(model, body, Date.now()), tools),
      error: completionError,
    };
  },
};
