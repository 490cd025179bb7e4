import { messagesWire } from '../../formats/messages/wire.ts';
import type { Translation } from '../contract.ts';
import { converseError } from '../converse/error.ts';
import { SafeNames } from '../converse/safe-names.ts';
import { converseRequest } from './request.ts';
import { messageFrom } from './response.ts';
import { MessageStream } from './stream.ts';

/** Clients of Anthropic messages at Bedrock. */
export const messagesToConverse: Translation = {
  from: 'messages',
  to: 'converse',
  begin: (body, facts, notes) => {
    const tools = new SafeNames('tool');
    const { model } = facts;
    return {
      body: converseRequest(body, facts, tools, notes),
      response: (answer) => messageFrom(answer, { model, nowMs: Date.now(), tools }),
      stream: () => new MessageStream({ model, nowMs: Date.now(), tools }),
      error: (status, answer) => messagesWire.error(status, converseError(status, answer)),
    };
  },
};
