import { describe, expect, test } from '@jest/globals';

import { pathOf } from '../../../proxy/exchange/message.ts';
import { isAzureTarget, openaiPathOf, pathModel, withPathModel } from '../../../proxy/llm/path-model.ts';

describe('the model of a path', () => {
  test.each([
    ['/v1beta/models/gemini-pro:generateContent', 'gemini-pro', '/v1beta/models/a%2Fb%3A1:generateContent'],
    [
      '/v1/projects/p/locations/l/publishers/anthropic/models/claude@1:streamRawPredict',
      'claude@1',
      '/v1/projects/p/locations/l/publishers/anthropic/models/a%2Fb%3A1:streamRawPredict',
    ],
    ['/model/anthropic.claude-v2:1/converse', 'anthropic.claude-v2:1', '/model/a%2Fb:1/converse'],
    ['/model/arn%3Aaws%2Fx/invoke-with-response-stream', 'arn:aws/x', '/model/a%2Fb:1/invoke-with-response-stream'],
    ['/openai/deployments/gpt-4o/embeddings', 'gpt-4o', '/openai/deployments/a%2Fb%3A1/embeddings'],
    ['/openai/deployments/meta/llama-4/completions', 'meta/llama-4', '/openai/deployments/a%2Fb%3A1/completions'],
    ['/x/openai/deployments/gpt-4o/embeddings', 'gpt-4o', '/x/openai/deployments/a%2Fb%3A1/embeddings'],
  ])('of %s is %s, and can be another', (path, model, changed) => {
    expect(pathModel(path)).toBe(model);
    expect(withPathModel(path, 'a/b:1')).toBe(changed);
  });

  test.each([
    ['/openai/deployments/gpt-4o/chat/completions', '/v1/chat/completions'],
    ['/azure/openai/deployments/gpt-4o/audio/speech?api-version=1', '/v1/audio/speech'],
    ['/openai/responses?x=1&api-version=1', '/v1/responses'],
    ['/openai/v1/responses?api-version=preview', '/v1/responses'],
  ])('knows that %s is one of Azure, and %s for OpenAI', (target, openai) => {
    expect(isAzureTarget(target)).toBe(true);
    expect(openaiPathOf(pathOf(target))).toBe(openai);
  });

  test.each([
    '/openai/v1/responses',
    '/openai/deployments/',
    '/v1/chat/completions?api-version=1',
    '/v1/chat/completions?x=/openai/deployments/a/completions',
  ])('knows that %s is none of Azure', (target) => {
    expect(isAzureTarget(target)).toBe(false);
  });

  test.each([
    '/v1/chat/completions',
    '/openai/deployments/gpt-4o',
    '/v1/models/x:rawPredict',
    '/model/converse',
    '/v1beta/models/:generateContent',
  ])('is not in %s', (path) => {
    expect(pathModel(path)).toBeUndefined();
  });

  test('is none that leads elsewhere', () => {
    for (const name of ['a%2F..%2Fb', '..', 'a%00b', 'a%20b', 'a%3Fb', 'a%5Cb', '%2Fa'])
      expect(pathModel(`/v1beta/models/${name}:generateContent`)).toBeUndefined();
  });
});
