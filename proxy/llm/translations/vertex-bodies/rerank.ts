import type { JsonObject } from '../../../exchange/attributes.ts';
import { badResponse } from '../../failure.ts';
import { compact, list, number, objects, text } from '../../json.ts';
import type { BodyTranslation } from '../contract.ts';
import { openaiErrorOfGoogle } from '../google/error.ts';
import { rerankBody, rerankQuestion, type RerankQuestion } from '../rerank-body.ts';
import { noteUncarried } from '../uncarried.ts';

const CARRIED = new Set(['model', 'query', 'documents', 'top_n', 'top_k', 'return_documents']);

/** Cohere's rerank at Discovery Engine. */
export const rerankToVertex: BodyTranslation = {
  from: 'rerank',
  to: 'discovery engine rank',
  begin: (body, { model }, notes) => {
    noteUncarried(body, CARRIED, notes);
    const question = rerankQuestion(body);
    return {
      body: rankRequest(question, model),
      response: (answer) => rerankBody(rankedOf(answer, question), question),
      error: openaiErrorOfGoogle,
    };
  },
};

/** Records are told apart by their places in the request. */
function rankRequest({ query, texts, topN, returnDocuments }: RerankQuestion, model: string): JsonObject {
  return compact({
    model,
    query,
    records: texts.map((content, index) => ({ id: String(index), content })),
    topN,
    ignoreRecordDetailsInResponse: !returnDocuments,
  });
}

function rankedOf(answer: JsonObject, { texts }: RerankQuestion) {
  const records = answer['records'] ?? answer['results'] ?? answer['data'];
  if (list(records) === undefined) throw badResponse('the response has no records');
  return objects(records).map((record) => {
    const index = Number(text(record['id']) ?? record['index'] ?? Number.NaN);
    if (!Number.isInteger(index) || index < 0 || index >= texts.length) throw badResponse('a record names no document');
    return { index, score: number(record['score']) ?? 1 };
  });
}
