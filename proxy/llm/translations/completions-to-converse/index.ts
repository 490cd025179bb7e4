import type { Translation } from '../contract.ts';
import { completionError } from '../converse/error.ts';
import { SafeNames } from '../converse/safe-names.ts';
import { converseRequest } from './request.ts';
import { completionOf } from './response.ts';
import { CompletionChunks } from './stream.ts';

/** Clients of OpenAI chat completions at Bedrock. */
export const completionsToConverse: Translation = {
  from: 'completions',
  to: 'converse',
  begin: (body, facts, notes) => {
    const tools = new SafeNames('tool');
    const { model } = facts;
    return {
      body: converseRequest(body, facts, tools, notes),
      response: (answer) => completionOf(answer, { model, nowMs: Date.now(), tools }),
      stream: () => new CompletionChunks({ model, nowMs: Date.now(), tools }),
      error: completionError,
    };
  },
};
