import type { JsonObject } from '../../../exchange/attributes.ts';
import { bool, compact, list, number, object, objects, text } from '../../json.ts';
import type { BodyTranslation } from '../contract.ts';
import { embeddingsBody, encodingOf, textsIn, vectorIn } from '../embeddings-body.ts';
import { openaiErrorOfGoogle } from '../google/error.ts';
import { noteUncarried } from '../uncarried.ts';

const CARRIED = new Set([
  'model',
  'input',
  'dimensions',
  'encoding_format',
  'task_type',
  'taskType',
  'title',
  'auto_truncate',
  'autoTruncate',
]);

/** OpenAI's embeddings at Vertex AI. */
export const embeddingsToVertex: BodyTranslation = {
  from: 'embeddings',
  to: 'predict',
  begin: (body, { model }, notes) => {
    noteUncarried(body, CARRIED, notes);
    const encoding = encodingOf(body);
    return {
      body: predictRequest(body),
      response: (answer) => {
        const predictions = objects(answer['predictions']).map((prediction) => object(prediction['embeddings']));
        return embeddingsBody({
          model,
          encoding,
          asked: list(body['input'])?.length ?? 1,
          vectors: predictions.map((found) => vectorIn(found?.['values'])),
          tokens: predictions.reduce(
            (sum, found) => sum + (number(object(found?.['statistics'])?.['token_count']) ?? 0),
            0,
          ),
        });
      },
      error: openaiErrorOfGoogle,
    };
  },
};

function predictRequest(body: JsonObject): JsonObject {
  const taskType = text(body['task_type']) ?? text(body['taskType']) ?? 'RETRIEVAL_QUERY';
  const title = text(body['title']);
  const parameters = compact({
    autoTruncate: bool(body['auto_truncate']) ?? bool(body['autoTruncate']),
    outputDimensionality: number(body['dimensions']),
  });
  return compact({
    instances: textsIn(body['input']).map((content) => compact({ content, task_type: taskType, title })),
    parameters: Object.keys(parameters).length === 0 ? undefined : parameters,
  });
}
