import type { JsonObject } from '../../../exchange/attributes.ts';
import { number, object, text } from '../../json.ts';
import type { Told } from '../contract.ts';

/** Cohere rerank; services that are made like Voyage count in `usage`. Those that bill by the search tell no tokens. */
export function rerankTold(body: JsonObject): Told {
  const meta = object(body['meta']);
  const units = object(meta?.['tokens']) ?? object(meta?.['billed_units']);
  const usage = object(body['usage']);
  const total = number(usage?.['total_tokens']);
  const input = number(units?.['input_tokens']) ?? number(usage?.['prompt_tokens']) ?? total;
  return {
    model: text(body['model']),
    usage:
      input === undefined
        ? undefined
        : { inputTokens: input, outputTokens: number(units?.['output_tokens']) ?? 0, totalTokens: total ?? input },
  };
}
