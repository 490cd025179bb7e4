import { describe, expect, test } from '@jest/globals';
import { CHAT_FORMATS, type ChatFormatName } from '../../src/chat/formats/registry.ts';
import { questionRequest } from '../../src/chat/question.ts';

const question = { model: 'a/b', prompt: 'hello', system: 'be short', streaming: true };

function request(format: ChatFormatName, url = 'http://gw:4000', headers: readonly (readonly [string, string])[] = []) {
  return questionRequest(question, { url: new URL(url), format, apiKey: 'k', headers });
}

describe('the request of a question', () => {
  test.each<[ChatFormatName, string]>([
    ['completions', '/v1/chat/completions'],
    ['messages', '/v1/messages'],
    ['responses', '/v1/responses'],
    ['generateContent', '/v1beta/models/a%2Fb:streamGenerateContent?alt=sse'],
  ])('%s goes to its path, below the path of the address', (format, path) => {
    expect(request(format).url.href).toBe(`http://gw:4000${path}`);
    expect(request(format, 'http://gw:4000/ai/').url.href).toBe(`http://gw:4000/ai${path}`);
  });

  test('an address that ends in the version, as settings of clients have it, does not get it twice', () => {
    expect(request('completions', 'http://gw/openai/v1').url.pathname).toBe('/openai/v1/chat/completions');
    expect(request('generateContent', 'http://gw/v1beta/').url.pathname).toBe(
      '/v1beta/models/a%2Fb:streamGenerateContent',
    );
  });

  test('the key goes where the format has it, and a header that is given takes the place of its own', () => {
    const keyed = CHAT_FORMATS.map((format) =>
      request(format)
        .headers.filter(([, value]) => value.includes('k'))
        .map(([name]) => name),
    );
    expect(keyed.map((names) => names.at(-1))).toEqual([
      'authorization',
      'x-api-key',
      'authorization',
      'x-goog-api-key',
    ]);
    const given = request('completions', 'http://gw', [['Authorization', 'Basic x']]).headers;
    expect(given.filter(([name]) => name.toLowerCase() === 'authorization')).toEqual([['Authorization', 'Basic x']]);
  });

  test('prompt and instructions stand where the format has them', () => {
    const bodies = Object.fromEntries(CHAT_FORMATS.map((format) => [format, JSON.parse(request(format).body)]));
    expect(bodies).toMatchObject({
      completions: {
        messages: [
          { role: 'system', content: 'be short' },
          { role: 'user', content: 'hello' },
        ],
        stream: true,
      },
      messages: { system: 'be short', messages: [{ role: 'user', content: 'hello' }], max_tokens: expect.any(Number) },
      responses: { instructions: 'be short', input: 'hello', stream: true },
      generateContent: {
        systemInstruction: { parts: [{ text: 'be short' }] },
        contents: [{ parts: [{ text: 'hello' }] }],
      },
    });
  });
});
