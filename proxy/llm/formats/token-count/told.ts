import type { JsonObject } from '../../../exchange/attributes.ts';
import { number } from '../../json.ts';
import type { Told } from '../contract.ts';

/** Anthropic `count_tokens`; Bedrock's own name is taken too. */
export function messagesCountTold(body: JsonObject): Told {
  return { countTokens: number(body['input_tokens']) ?? number(body['inputTokens']) };
}

/** Gemini `countTokens`. */
export function geminiCountTold(body: JsonObject): Told {
  return { countTokens: number(body['totalTokens']) };
}
