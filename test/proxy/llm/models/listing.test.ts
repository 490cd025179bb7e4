import { describe, expect, test } from '@jest/globals';

import { BufferedBody } from '../../../../proxy/exchange/body.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import { listed, modelQuery } from '../../../../proxy/llm/models/listing.ts';
import { Secret } from '../../../../src/shared/secret.ts';

function asked(target: string, headers: Record<string, string> = {}, place?: string) {
  const apiKey = place === undefined ? null : { key: new Secret('k'), place, metadata: {} };
  return modelQuery({ request: { target, headers: Headers.from(Object.entries(headers)) }, attributes: { apiKey } });
}

function shapeOf(query: ReturnType<typeof asked>): readonly string[] {
  return query === undefined ? [] : Object.keys(query.shape.all([]));
}

describe('a request for models', () => {
  test.each([
    ['/v1/models', undefined],
    ['/v1/models/', undefined],
    ['/models', undefined],
    ['/v1/models?limit=5', undefined],
    ['/v1/models/gpt-5', 'gpt-5'],
    ['/v1/models/meta%2Fllama:7b', 'meta/llama:7b'],
    ['/models/a/b/', 'a/b'],
    ['/openai/models?api-version=2024-10-21', undefined],
    ['/openai/v1/models/gpt-5', 'gpt-5'],
    ['/v1beta/openai/models', undefined],
    ['/v1/models/%zz', '%zz'],
  ])('%s is one for %p', (target, id) => {
    expect(asked(target)).toMatchObject({ id });
    expect(shapeOf(asked(target))).toEqual(['data', 'object']);
  });

  test.each([
    '/v1/chat/completions',
    '/v1/modelsx',
    '/v1beta/models/g:generateContent',
    '/v1/models/g:streamGenerateContent',
    '/x/models',
    '/v1alpha/models/g:countTokens',
    '/v1/publishers/google/models/g:generateContent',
    '/v1/projects/p/locations/l/publishers/google/models',
  ])('%s is none', (target) => {
    expect(asked(target)).toBeUndefined();
  });

  test('is answered in the shape of its client', () => {
    expect(shapeOf(asked('/v1/models', { 'anthropic-version': '2023-06-01' }))).toEqual([
      'data',
      'has_more',
      'first_id',
      'last_id',
    ]);
    expect(shapeOf(asked('/v1beta/models'))).toEqual(['models']);
    expect(shapeOf(asked('/v1/models?key=x'))).toEqual(['models']);
    expect(shapeOf(asked('/v1alpha/models'))).toEqual(['models']);
    expect(shapeOf(asked('/v1/models', { 'x-goog-api-key': 'x' }))).toEqual(['models']);
    expect(shapeOf(asked('/v1/models', { 'x-fern-sdk-name': 'cohere-ai' }))).toEqual(['models']);
    expect(shapeOf(asked('/v1beta1/publishers/google/models?pageSize=5'))).toEqual(['publisherModels']);
  });

  test.each([
    ['x-goog-api-key', ['models']],
    ['key', ['models']],
    ['authorization', ['data', 'object']],
  ])('is answered in the shape of its client when the key in %s was taken out', (place, shape) => {
    expect(shapeOf(asked('/v1/models', {}, place))).toEqual(shape);
  });

  test('names the first and last of a list for Anthropic, and nothing of an empty one', () => {
    const query = asked('/v1/models', { 'anthropic-version': '2023-06-01' });
    if (query === undefined) throw new Error('it is a request for models');
    const body = (ids: readonly string[]) => {
      const { body: written } = listed(query, ids, 1_700_000_000);
      return JSON.parse(written instanceof BufferedBody ? Buffer.from(written.bytes).toString() : '');
    };
    expect(body(['a', 'b'])).toMatchObject({ first_id: 'a', last_id: 'b', has_more: false });
    expect(body(['a']).data[0].created_at).toBe('2023-11-14T22:13:20Z');
    expect(body([])).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  });
});
