import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { LlmFailure } from '../../../../proxy/llm/failure.ts';
import { embeddingsTold } from '../../../../proxy/llm/formats/embeddings/told.ts';
import { rerankTold } from '../../../../proxy/llm/formats/rerank/told.ts';
import { embeddingsToBedrock } from '../../../../proxy/llm/translations/bedrock-bodies/embeddings.ts';
import { rerankToBedrock } from '../../../../proxy/llm/translations/bedrock-bodies/rerank.ts';
import { tokenCountToBedrock } from '../../../../proxy/llm/translations/bedrock-bodies/token-count.ts';
import type { BodyTranslation } from '../../../../proxy/llm/translations/contract.ts';
import { embeddingsToVertex } from '../../../../proxy/llm/translations/vertex-bodies/embeddings.ts';
import { rerankToVertex } from '../../../../proxy/llm/translations/vertex-bodies/rerank.ts';
import { begin } from './recorded.ts';

const none = new Headers();
const counted = Headers.from([['x-amzn-bedrock-input-token-count', '9']]);

function floats(base64: unknown): readonly number[] {
  const bytes = Buffer.from(String(base64), 'base64');
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}

describe('embeddings of Bedrock', () => {
  const embed = (model: string, fields: JsonObject) => begin(embeddingsToBedrock, { model, ...fields }, { model });
  const TITAN = 'amazon.titan-embed-text-v2:0';
  const COHERE = 'cohere.embed-english-v3';
  const NOVA = 'amazon.nova-2-multimodal-embeddings-v1:0';

  test('by Titan', () => {
    const { body, call, dropped } = embed(TITAN, { input: 'hi', dimensions: 256, normalize: true, user: 'u' });
    expect(body).toEqual({ inputText: 'hi', dimensions: 256, normalize: true });
    expect(dropped).toEqual(['user']);
    const answer = call.response({ embedding: [0.5, 1], inputTextTokenCount: 3 }, none);
    expect(answer).toEqual({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, 1] }],
      model: TITAN,
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
    expect(embeddingsTold(answer)).toMatchObject({ model: TITAN, usage: { inputTokens: 3, totalTokens: 3 } });
  });

  test('are floats encoded here for clients that want base64', () => {
    const { body, call } = embed(TITAN, { input: 'hi', encoding_format: 'base64' });
    expect(body).toEqual({ inputText: 'hi', embeddingTypes: ['float'] });
    const answer = call.response({ embeddingsByType: { float: [0.5, -2] } }, none) as { data: { embedding: string }[] };
    expect(floats(answer.data[0]?.embedding)).toEqual([0.5, -2]);
  });

  test('by Cohere, of several texts', () => {
    const { body, call } = embed(COHERE, { input: ['a', 'b'], dimensions: 256, truncate: 'END' });
    expect(body).toEqual({ texts: ['a', 'b'], input_type: 'search_query', truncate: 'END' });
    expect(embed('cohere.embed-v4:0', { input: 'a', dimensions: 256, input_type: 'x' }).body).toEqual({
      texts: ['a'],
      input_type: 'x',
      output_dimension: 256,
    });
    const expected = { data: [{ embedding: [1] }, { embedding: [2] }], usage: { prompt_tokens: 9 } };
    expect(call.response({ embeddings: [[1], [2]] }, counted)).toMatchObject(expected);
    expect(call.response({ embeddings: { float: [[1], [2]] } }, counted)).toMatchObject(expected);
  });

  test('by Nova', () => {
    const { body, call } = embed(NOVA, { input: 'hi', dimensions: 384 });
    expect(body).toEqual({
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: 'GENERIC_INDEX',
        embeddingDimension: 384,
        text: { truncationMode: 'END', value: 'hi' },
      },
    });
    const answer = { embeddings: [{ embeddingType: 'TEXT', embedding: [1] }] };
    expect(call.response(answer, counted)).toMatchObject({ data: [{ embedding: [1] }], usage: { total_tokens: 9 } });
  });

  test.each([
    [TITAN, ['a', 'b']],
    [TITAN, [1, 2]],
    [NOVA, ['a', 'b']],
    [COHERE, []],
    [COHERE, ['a', 1]],
    [COHERE, null],
  ])('by %s of %j are refused', (model, input) => {
    expect(() => embed(model, { input })).toThrow(LlmFailure);
  });

  test.each([
    [TITAN, {}],
    [NOVA, { embeddings: [] }],
    [COHERE, { embeddings: 'x' }],
  ])('that %s does not give are a fault: %j', (model, answer) => {
    expect(() => embed(model, { input: 'a' }).call.response(answer, none)).toThrow(LlmFailure);
  });
});

describe('embeddings of Vertex', () => {
  const embed = (fields: JsonObject) =>
    begin(embeddingsToVertex, { model: 'text-embedding-005', ...fields }, { model: 'text-embedding-005' });

  test('are predictions', () => {
    const { body, call } = embed({ input: ['a', 'b'], dimensions: 64, auto_truncate: false, title: 't' });
    expect(body).toEqual({
      instances: [
        { content: 'a', task_type: 'RETRIEVAL_QUERY', title: 't' },
        { content: 'b', task_type: 'RETRIEVAL_QUERY', title: 't' },
      ],
      parameters: { autoTruncate: false, outputDimensionality: 64 },
    });
    const prediction = (value: number, token_count: number) => ({
      embeddings: { values: [value], statistics: { token_count, truncated: false } },
    });
    expect(call.response({ predictions: [prediction(1, 2), prediction(2, 3)] }, none)).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [1] },
        { object: 'embedding', index: 1, embedding: [2] },
      ],
      model: 'text-embedding-005',
      usage: { prompt_tokens: 5, total_tokens: 5 },
    });
    expect(embed({ input: 'a' }).body).not.toHaveProperty('parameters');
  });

  test('that are missing are a fault, and errors are those of OpenAI', () => {
    const { call } = embed({ input: 'a' });
    expect(() => call.response({}, none)).toThrow(LlmFailure);
    expect(() => call.response({ predictions: [{}] }, none)).toThrow(LlmFailure);
    const error = { code: 400, message: 'no', status: 'INVALID_ARGUMENT' };
    expect(call.error(400, JSON.stringify([{ error }]))).toMatchObject({ error: { type: 'invalid_request_error' } });
  });
});

describe('rerank', () => {
  const DOCUMENTS = ['a', { text: 'b', id: 7 }, { title: 'c' }];
  const ask = (translation: BodyTranslation, fields: JsonObject) =>
    begin(translation, { model: 'rank', query: 'q', documents: DOCUMENTS, ...fields }, { model: 'rank' });

  test('by the agents of Bedrock', () => {
    const { body, call, changed } = ask(rerankToBedrock, { max_tokens_per_doc: 10, return_documents: true });
    const inline = (text: string) => ({
      type: 'INLINE',
      inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
    });
    expect(body).toEqual({
      queries: [{ type: 'TEXT', textQuery: { text: 'q' } }],
      sources: [inline('a'), inline('b'), inline('{"title":"c"}')],
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          modelConfiguration: {
            modelArn: 'arn:aws:bedrock:eu-west-1::foundation-model/rank',
            additionalModelRequestFields: { max_tokens_per_doc: 10 },
          },
          numberOfResults: 3,
        },
      },
    });
    expect(changed).toEqual(['max_tokens_per_doc → additionalModelRequestFields.max_tokens_per_doc']);
    const results = [
      { index: 1, relevanceScore: 0.9 },
      { index: 0, relevanceScore: 0.1 },
    ];
    expect(call.response({ results }, none)).toMatchObject({
      results: [
        { index: 1, relevance_score: 0.9, document: { text: 'b', id: 7 } },
        { index: 0, relevance_score: 0.1, document: { text: 'a' } },
      ],
    });
    expect(call.response({ data: [{ index: 0, relevance_score: 0.5 }] }, none)).toMatchObject({
      results: [{ relevance_score: 0.5 }],
    });
    expect(call.error(400, '{"message":"no"}')).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  test('keeps an ARN as it is', () => {
    const model = 'arn:aws:bedrock:us-east-1::foundation-model/cohere.rerank-v3-5:0';
    const { body } = begin(rerankToBedrock, { model, query: 'q', documents: ['a'], top_n: 1 }, { model });
    expect(JSON.stringify(body)).toContain(`"modelArn":"${model}"`);
    expect(JSON.stringify(body)).toContain('"numberOfResults":1');
  });

  test('by Discovery Engine', () => {
    const { body, call } = ask(rerankToVertex, { top_n: 2 });
    expect(body).toEqual({
      model: 'rank',
      query: 'q',
      records: [
        { id: '0', content: 'a' },
        { id: '1', content: 'b' },
        { id: '2', content: '{"title":"c"}' },
      ],
      topN: 2,
      ignoreRecordDetailsInResponse: true,
    });
    expect(call.response({ records: [{ id: '2', score: 0.7 }, { id: '0' }] }, none)).toMatchObject({
      results: [
        { index: 2, relevance_score: 0.7 },
        { index: 0, relevance_score: 1 },
      ],
    });
  });

  test.each([[rerankToBedrock], [rerankToVertex]])('asks something, and gets an answer', (translation) => {
    expect(() => ask(translation, { documents: [] })).toThrow(LlmFailure);
    expect(() => ask(translation, { documents: [1] })).toThrow(LlmFailure);
    expect(() => ask(translation, { query: null })).toThrow(LlmFailure);
    const { call } = ask(translation, {});
    expect(() => call.response({}, none)).toThrow(LlmFailure);
    expect(() => call.response({ results: [{ index: 9 }] }, none)).toThrow(LlmFailure);
  });

  test('tells tokens where it bills by them', () => {
    expect(rerankTold({ usage: { total_tokens: 8 } }).usage).toMatchObject({ inputTokens: 8, totalTokens: 8 });
    expect(rerankTold({ meta: { billed_units: { search_units: 1 } } }).usage).toBeUndefined();
    expect(rerankTold({ meta: { tokens: { input_tokens: 5, output_tokens: 1 } } }).usage).toMatchObject({
      inputTokens: 5,
    });
  });
});

describe('a count of tokens of Bedrock', () => {
  test('wraps what would be asked', () => {
    const fields = { model: 'anthropic.claude-sonnet-4', messages: [{ role: 'user', content: 'hi' }] };
    const { body, call } = begin(tokenCountToBedrock, fields, { headers: { 'anthropic-version': '2024-01-01' } });
    const { input } = body as { input: { invokeModel: { body: string } } };
    expect(JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString())).toEqual({
      anthropic_version: '2024-01-01',
      max_tokens: 1,
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(call.response({ inputTokens: 12 }, none)).toEqual({ input_tokens: 12 });
    expect(() => call.response({}, none)).toThrow(LlmFailure);
    expect(call.error(429, '{"message":"slow"}')).toEqual({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'slow' },
    });
  });
});
