import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { badRequest } from '../failure.ts';
import { bool, compact, list, number, object, text } from '../json.ts';
import { newId } from './ids.ts';

/** What every service needs of a request to rerank, as Cohere's clients write it. */
export interface RerankQuestion {
  readonly query: string;
  /** In the order of the request, to which answers refer by number. */
  readonly documents: readonly JsonObject[];
  readonly texts: readonly string[];
  readonly topN: number | undefined;
  readonly returnDocuments: boolean;
}

/** Throws an `LlmFailure` for a request that asks nothing. */
export function rerankQuestion(body: JsonObject): RerankQuestion {
  const query = text(body['query']);
  if (query === undefined || query === '') throw badRequest('missing field: query');
  const documents = list(body['documents']) ?? [];
  if (documents.length === 0) throw badRequest('the field documents is empty');
  const texts = documents.map((document, index) => documentText(document, index));
  return {
    query,
    documents: documents.map((document, index) => object(document) ?? { text: texts[index] ?? '' }),
    texts,
    topN: number(body['top_n']) ?? number(body['top_k']),
    returnDocuments: bool(body['return_documents']) ?? false,
  };
}

function documentText(document: JsonValue, index: number): string {
  const said = text(document) ?? text(object(document)?.['text']);
  if (said !== undefined) return said;
  // What has no text of its own is ranked by all that it has.
  if (object(document) !== undefined) return JSON.stringify(document);
  throw badRequest(`documents[${index}] is neither a text nor an object`);
}

export interface Ranked {
  readonly index: number;
  readonly score: number;
}

/** An answer as Cohere's clients expect it. */
export function rerankBody(ranked: readonly Ranked[], { documents, returnDocuments }: RerankQuestion): JsonObject {
  return {
    id: newId('rerank-'),
    results: ranked.map(({ index, score }) =>
      compact({ index, relevance_score: score, document: returnDocuments ? documents[index] : undefined }),
    ),
  };
}
