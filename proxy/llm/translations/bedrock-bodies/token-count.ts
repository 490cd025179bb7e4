import type { JsonObject } from '../../../exchange/attributes.ts';
import { badResponse } from '../../failure.ts';
import { messagesWire } from '../../formats/messages/wire.ts';
import { number } from '../../json.ts';
import type { BodyTranslation } from '../contract.ts';
import { converseError } from '../converse/error.ts';

const DEFAULT_VERSION = '2023-06-01';

/** Anthropic's counts of tokens at Bedrock: what would be asked of the model is counted without asking it. */
export const tokenCountToBedrock: BodyTranslation = {
  from: 'anthropicTokenCount',
  to: 'count-tokens',
  begin: (body, { headers }, notes) => {
    const { model: _model, ...asked } = body;
    const version = headers.get('anthropic-version') ?? DEFAULT_VERSION;
    const counted: JsonObject = { max_tokens: 1, anthropic_version: version, ...asked };
    for (const field of ['max_tokens', 'anthropic_version']) if (body[field] === undefined) notes.added(field);
    const bytes = Buffer.from(JSON.stringify(counted)).toString('base64');
    return {
      body: { input: { invokeModel: { body: bytes } } },
      response: (answer) => {
        const count = number(answer['inputTokens']) ?? number(answer['input_tokens']);
        if (count === undefined) throw badResponse('the response has no count of tokens');
        return { input_tokens: count };
      },
      error: (status, answer) => messagesWire.error(status, converseError(status, answer)),
    };
  },
};
