import type { JsonObject } from '../exchange/attributes.ts';
import type { LlmParams } from '../exchange/llm-facts.ts';
import { number, object, text } from './json.ts';

/** The parameters of a request, whatever its format calls them. */
export function paramsOf(body: JsonObject): LlmParams {
  const config = object(body['generationConfig']);
  return {
    temperature: number(body['temperature']) ?? number(config?.['temperature']),
    topP: number(body['top_p']) ?? number(config?.['topP']),
    frequencyPenalty: number(body['frequency_penalty']) ?? number(config?.['frequencyPenalty']),
    presencePenalty: number(body['presence_penalty']) ?? number(config?.['presencePenalty']),
    seed: number(body['seed']) ?? number(config?.['seed']),
    maxTokens:
      number(body['max_completion_tokens']) ??
      number(body['max_tokens']) ??
      number(body['max_output_tokens']) ??
      number(config?.['maxOutputTokens']),
    encodingFormat: text(body['encoding_format']),
    dimensions: number(body['dimensions']),
  };
}
