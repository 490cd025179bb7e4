import type { JsonObject } from '../../../exchange/attributes.ts';
import { number, object, text } from '../../json.ts';
import type { Told } from '../contract.ts';

/** OpenAI embeddings. */
export function embeddingsTold(body: JsonObject): Told {
  const usage = object(body['usage']);
  return {
    model: text(body['model']),
    usage: usage && {
      inputTokens: number(usage['prompt_tokens']),
      outputTokens: 0,
      totalTokens: number(usage['total_tokens']) ?? number(usage['prompt_tokens']),
    },
  };
}
