import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import type { Headers } from '../../../exchange/headers.ts';
import { badRequest, badResponse } from '../../failure.ts';
import { bool, compact, list, number, object, objects, text } from '../../json.ts';
import type { BodyTranslation } from '../contract.ts';
import { completionError } from '../converse/error.ts';
import { embeddingsBody, encodingOf, type Encoding, textsIn, vectorIn } from '../embeddings-body.ts';
import { noteUncarried } from '../uncarried.ts';

/** How one family of models takes and gives embeddings. */
interface Family {
  readonly request: (body: JsonObject, model: string) => JsonObject;
  readonly carried: readonly string[];
  /** Throws an `LlmFailure` for what has none. */
  readonly vectors: (answer: JsonObject) => readonly (readonly number[])[];
  readonly tokens: (answer: JsonObject, headers: Headers) => number | undefined;
}

/** OpenAI's embeddings at the models of Bedrock. */
export const embeddingsToBedrock: BodyTranslation = {
  from: 'embeddings',
  to: 'invoke',
  begin: (body, { model }, notes) => {
    const family = familyOf(model);
    noteUncarried(body, new Set(['model', 'input', 'encoding_format', ...family.carried]), notes);
    const encoding: Encoding = encodingOf(body);
    const asked = list(body['input'])?.length ?? 1;
    return {
      body: family.request(body, model),
      response: (answer, headers) =>
        embeddingsBody({
          model,
          encoding,
          asked,
          vectors: family.vectors(answer),
          tokens: family.tokens(answer, headers),
        }),
      error: completionError,
    };
  },
};

function familyOf(model: string): Family {
  if (model.includes('nova')) return nova;
  return model.includes('cohere') ? cohere : titan;
}

const titan: Family = {
  carried: ['dimensions', 'normalize'],
  request: (body) =>
    compact({
      inputText: onlyText(body['input'], 'Titan'),
      dimensions: number(body['dimensions']),
      normalize: bool(body['normalize']),
      // Vectors that clients want as base64 are encoded here: what Titan has beside floats is of one bit.
      embeddingTypes: body['encoding_format'] === undefined ? undefined : ['float'],
    }),
  vectors: (answer) => {
    const byType = object(answer['embeddingsByType']);
    return [vectorIn(answer['embedding'] ?? byType?.['float'])];
  },
  tokens: (answer) => number(answer['inputTextTokenCount']),
};

const nova: Family = {
  carried: ['dimensions', 'embedding_purpose', 'embeddingPurpose', 'truncation_mode', 'truncationMode'],
  request: (body) => ({
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: compact({
      embeddingPurpose: text(body['embedding_purpose']) ?? text(body['embeddingPurpose']) ?? 'GENERIC_INDEX',
      embeddingDimension: number(body['dimensions']),
      text: {
        truncationMode: text(body['truncation_mode']) ?? text(body['truncationMode']) ?? 'END',
        value: onlyText(body['input'], 'Nova'),
      },
    }),
  }),
  vectors: (answer) => {
    const first = objects(answer['embeddings'])[0];
    return [vectorIn(first?.['embedding'])];
  },
  tokens: countedByHeader,
};

const cohere: Family = {
  carried: ['dimensions', 'input_type', 'truncate'],
  request: (body, model) =>
    compact({
      texts: textsIn(body['input']),
      input_type: text(body['input_type']) ?? 'search_query',
      truncate: text(body['truncate']),
      output_dimension: model.includes('embed-v4') ? number(body['dimensions']) : undefined,
    }),
  vectors: (answer) => {
    const { embeddings } = answer;
    const found = list(embeddings) ?? list(object(embeddings)?.['float']);
    if (found === undefined) throw badResponse('the response has no embeddings');
    return found.map(vectorIn);
  },
  tokens: countedByHeader,
};

function countedByHeader(_answer: JsonObject, headers: Headers): number | undefined {
  const count = headers.get('x-amzn-bedrock-input-token-count');
  return count !== undefined && /^\d{1,15}$/.test(count) ? Number(count) : undefined;
}

function onlyText(input: JsonValue | undefined, family: string): string {
  const single = list(input)?.length === 1 ? list(input)?.[0] : input;
  const value = text(single);
  if (value === undefined) throw badRequest(`the field input: ${family} embeds one text at a time`);
  return value;
}
