import type { JsonObject } from '../../../exchange/attributes.ts';
import { badResponse } from '../../failure.ts';
import { list, number, objects } from '../../json.ts';
import type { BodyTranslation } from '../contract.ts';
import { completionError } from '../converse/error.ts';
import { rerankBody, rerankQuestion, type RerankQuestion } from '../rerank-body.ts';

const OWN = new Set(['model', 'query', 'documents', 'top_n', 'top_k', 'return_documents']);

/** Cohere's rerank at Bedrock's agents. */
export const rerankToBedrock: BodyTranslation = {
  from: 'rerank',
  to: 'bedrock-agent-runtime rerank',
  begin: (body, { model, region }, notes) => {
    const question = rerankQuestion(body);
    // Fields that are only the model's are the model's business.
    const extra = Object.fromEntries(Object.entries(body).filter(([field]) => !OWN.has(field)));
    for (const field of Object.keys(extra)) notes.renamed(field, `additionalModelRequestFields.${field}`);
    return {
      body: rerankRequest(question, modelArn(model, region), extra),
      response: (answer) => rerankBody(rankedOf(answer, question), question),
      error: completionError,
    };
  },
};

function modelArn(model: string, region: string | null): string {
  if (model.startsWith('arn:')) return model;
  const where = region ?? 'us-east-1';
  return `arn:${partitionOf(where)}:bedrock:${where}::foundation-model/${model}`;
}

function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn';
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';
}

function rerankRequest(question: RerankQuestion, arn: string, extra: JsonObject): JsonObject {
  const { query, texts, topN } = question;
  const fields = Object.keys(extra).length === 0 ? {} : { additionalModelRequestFields: extra };
  return {
    queries: [{ type: 'TEXT', textQuery: { text: query } }],
    sources: texts.map((source) => ({
      type: 'INLINE',
      inlineDocumentSource: { type: 'TEXT', textDocument: { text: source } },
    })),
    rerankingConfiguration: {
      type: 'BEDROCK_RERANKING_MODEL',
      bedrockRerankingConfiguration: {
        modelConfiguration: { modelArn: arn, ...fields },
        numberOfResults: topN ?? texts.length,
      },
    },
  };
}

function rankedOf(answer: JsonObject, { texts }: RerankQuestion) {
  const results = answer['results'] ?? answer['data'];
  if (list(results) === undefined) throw badResponse('the response has no results');
  return objects(results).flatMap((result) => {
    const index = number(result['index']);
    if (index === undefined || !Number.isInteger(index) || index < 0 || index >= texts.length)
      throw badResponse('a result names no document');
    return [{ index, score: number(result['relevanceScore']) ?? number(result['relevance_score']) ?? 1 }];
  });
}
