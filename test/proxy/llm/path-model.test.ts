import { describe, expect, test } from '@jest/globals';

import { pathModel, withPathModel } from '../../../proxy/llm/path-model.ts';

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
  ])('of %s is %s, and can be another', (path, model, changed) => {
    expect(pathModel(path)).toBe(model);
    expect(withPathModel(path, 'a/b:1')).toBe(changed);
  });

  test.each(['/v1/chat/completions', '/v1/models/x:rawPredict', '/model/converse', '/v1beta/models/:generateContent'])(
    'is not in %s',
    (path) => {
      expect(pathModel(path)).toBeUndefined();
    },
  );

  test('is none that leads elsewhere', () => {
    for (const name of ['a%2F..%2Fb', '..', 'a%00b', 'a%20b', 'a%3Fb', 'a%5Cb', '%2Fa'])
      expect(pathModel(`/v1beta/models/${name}:generateContent`)).toBeUndefined();
  });
});
