import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { list } from '../json.ts';

/** How a client wants its vectors: OpenAI's own clients ask for base64 where nobody tells them otherwise. */
export type Encoding = 'float' | 'base64';

export function encodingOf(body: JsonObject): Encoding {
  return body['encoding_format'] === 'base64' ? 'base64' : 'float';
}

export interface Embeddings {
  readonly model: string;
  readonly encoding: Encoding;
  readonly vectors: readonly JsonValue[];
  /** Of the input; undefined where the service tells none. */
  readonly tokens: number | undefined;
}

/** An answer as OpenAI's clients expect it. */
export function embeddingsBody({ model, encoding, vectors, tokens }: Embeddings): JsonObject {
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encoded(vector, encoding) })),
    model,
    usage: { prompt_tokens: tokens ?? 0, total_tokens: tokens ?? 0 },
  };
}

/** Base64 of 32-bit floats, little-endian. */
function encoded(vector: JsonValue, encoding: Encoding): JsonValue {
  const values = list(vector);
  if (encoding === 'float' || values === undefined) return vector;
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(Number(value), index * 4);
  return bytes.toString('base64');
}
