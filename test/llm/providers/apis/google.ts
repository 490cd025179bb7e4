import { accepts, type Json, object, objects, type ProviderCall, refuse, sendJson, text } from '../call.ts';
import { cloudCountCheck, cloudMessagesCheck } from '../schema/anthropic.ts';
import { anyObject, bool, check, fields, filled, list, text as string } from '../schema/build.ts';
import { tokensOf } from '../script.ts';
import { countTokens, messages } from './anthropic.ts';
import { geminiAction, googleDialect } from './gemini.ts';
import { openaiRoute, ranked, vectorOf } from './openai.ts';

const NATIVE = /^\/v1(?:beta|alpha)?\/(?:models|tunedModels)\/([^/]+):(\w+)$/;
const COMPAT = /^\/v1beta\/openai(\/.*)$/;

/** The Gemini API. */
export async function gemini(call: ProviderCall): Promise<void> {
  const compat = COMPAT.exec(call.path)?.[1];
  const bearer = text(call.headers.authorization).startsWith('Bearer ');
  const key = call.headers['x-goog-api-key'] ?? call.query.get('key');
  if (compat === undefined ? key === null && !bearer : !bearer)
    return refuse(call, googleDialect, { status: 403, message: "Method doesn't allow unregistered callers." });
  if (compat !== undefined) return openaiRoute(call, compat);
  const [, model, action] = NATIVE.exec(call.path) ?? [];
  if (model === undefined || action === undefined) return notFound(call);
  return geminiAction(call, decodeURIComponent(model), action);
}

const PUBLISHED = /^\/publishers\/(google|anthropic)\/models\/([^/:]+):(\w+)$/;

/** Vertex AI: Google's and Anthropic's models by publisher, others as OpenAI's are. */
export async function vertex(call: ProviderCall): Promise<void> {
  if (!text(call.headers.authorization).startsWith('Bearer '))
    return refuse(call, googleDialect, {
      status: 401,
      message: 'Request is missing required authentication credential.',
    });
  const place = /^\/v1(?:beta1)?\/projects\/[^/]+\/locations\/[^/]+(\/.*)$/.exec(call.path)?.[1];
  if (place === '/endpoints/openapi/chat/completions') return openaiRoute(call, '/chat/completions');
  if (place === '/rankingConfigs/default_ranking_config:rank') return rank(call);
  const [, publisher, model = '', action = ''] = PUBLISHED.exec(place ?? '') ?? [];
  if (publisher === 'anthropic') return claude(call, model, action);
  if (publisher !== 'google') return notFound(call);
  if (action === 'predict') return predict(call);
  return geminiAction(call, decodeURIComponent(model), action);
}

async function claude(call: ProviderCall, model: string, action: string): Promise<void> {
  if (model === 'count-tokens') return countTokens(call, cloudCountCheck);
  if (action !== 'rawPredict' && action !== 'streamRawPredict') return notFound(call);
  if (call.body['anthropic_version'] !== 'vertex-2023-10-16')
    return refuse(call, googleDialect, { status: 400, message: 'anthropic_version is not supported' });
  return messages(call, {
    check: cloudMessagesCheck,
    model: decodeURIComponent(model),
    stream: call.body['stream'] === true,
  });
}

function notFound(call: ProviderCall): void {
  refuse(call, googleDialect, { status: 404, message: `${call.path} was not found` });
}

const predictCheck = check(
  fields(
    { instances: list(fields({ content: filled }, { task_type: string, title: string }), { minItems: 1 }) },
    { parameters: fields({}, { autoTruncate: bool, outputDimensionality: { type: 'integer', minimum: 1 } }) },
  ),
);

function predict(call: ProviderCall): void {
  if (!accepts(call, googleDialect, [predictCheck])) return;
  const size = Number(object(call.body['parameters'])['outputDimensionality'] ?? 8);
  const predictions = objects(call.body['instances']).map((instance) => {
    const content = text(instance['content']);
    return {
      embeddings: { values: vectorOf(content, size), statistics: { token_count: tokensOf(content), truncated: false } },
    };
  });
  sendJson(call, 200, { predictions, metadata: { billableCharacterCount: 1 } });
}

const rankCheck = check(
  fields(
    {
      query: filled,
      records: list(fields({ id: filled }, { title: string, content: string, score: {} }), { minItems: 1 }),
    },
    {
      model: string,
      topN: { type: 'integer', minimum: 1 },
      ignoreRecordDetailsInResponse: bool,
      userLabels: anyObject,
    },
  ),
);

function rank(call: ProviderCall): void {
  if (!accepts(call, googleDialect, [rankCheck])) return;
  const records = objects(call.body['records']);
  const order = ranked(
    text(call.body['query']),
    records.map((record) => text(record['content'])),
  );
  const details = call.body['ignoreRecordDetailsInResponse'] !== true;
  const ordered = order
    .slice(0, Number(call.body['topN'] ?? records.length))
    .map(({ index, relevance_score: score }): Json => {
      const { id, content } = records[index] ?? {};
      return details ? { id, content, score } : { id, score };
    });
  sendJson(call, 200, { records: ordered });
}
