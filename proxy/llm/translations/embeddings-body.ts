import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { badRequest, badResponse } from '../failure.ts';
import { list } from '../json.ts';

/** How a client wants its vectors: OpenAI's own clients ask for base64 where nobody tells them otherwise. */
export type Encoding = 'float' | 'base64';

export function encodingOf(body: JsonObject): Encoding {
  return body['encoding_format'] === 'base64' ? 'base64' : 'float';
}

/** The texts of a request. Throws an `LlmFailure` for what is none. */
export function textsIn(input: JsonValue | undefined): readonly string[] {
  const all = typeof input === 'string' ? [input] : (list(input) ?? []);
  const named = all.filter((one): one is string => typeof one === 'string');
  if (named.length === 0 || named.length < all.length) throw badRequest('the field input has to be a text or several');
  return named;
}

/** A vector of a service's answer. Throws an `LlmFailure` for what is none. */
export function vectorIn(value: JsonValue | undefined): readonly number[] {
  const values = list(value);
  if (values === undefined || values.length === 0 || !values.every((each) => typeof each === 'number'))
    throw badResponse('the response has no embedding');
  return values;
}

export interface Embeddings {
  readonly model: string;
  readonly encoding: Encoding;
  /** How many texts were sent. */
  readonly asked: number;
  readonly vectors: readonly (readonly number[])[];
  /** Of the input; undefined where the service tells none. */
  readonly tokens: number | undefined;
}

/** An answer as OpenAI's clients expect it. Throws an `LlmFailure` where texts and vectors do not fit together. */
export function embeddingsBody({ model, encoding, asked, vectors, tokens }: Embeddings): JsonObject {
  if (vectors.length !== asked) throw badResponse(`the response has ${vectors.length} embeddings for ${asked} texts`);
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encoded(vector, encoding) })),
    model,
    usage: { prompt_tokens: tokens ?? 0, total_tokens: tokens ?? 0 },
  };
}

/** Base64 of 32-bit floats, little-endian. */
function encoded(vector: readonly number[], encoding: Encoding): JsonValue {
  if (encoding === 'float') return vector;
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}
