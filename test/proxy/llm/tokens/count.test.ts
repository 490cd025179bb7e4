import { describe, expect, test } from '@jest/globals';
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as o200k, encodeChat } from 'gpt-tokenizer/encoding/o200k_base';

import { countTokens } from '../../../../proxy/llm/tokens/count.ts';
import { encodingOf } from '../../../../proxy/llm/tokens/encoding.ts';
import { pieces } from '../../../../proxy/llm/tokens/pieces.ts';
import { messageTexts } from '../../../../proxy/llm/tokens/texts.ts';

const chat = {
  messages: [
    { role: 'system', content: 'You are terse.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hello, wörld!' },
        { type: 'image_url', image_url: { url: 'x' } },
      ],
    },
  ],
};

describe('tokens of a request', () => {
  test('are those of its texts, its roles and its frames', async () => {
    const expected = o200k('You are terse.') + o200k('Hello, wörld!') + 2 * 4 + 3;
    expect(await countTokens('gpt-4o', chat, 'completions')).toBe(expected);
  });

  test('are as many as a chat is encoded to', async () => {
    const messages = [
      { role: 'system', content: 'You are terse.' },
      { role: 'user', content: 'Hello, wörld!' },
    ] as const;
    const framed = encodeChat(messages, 'gpt-4o').length;
    expect(await countTokens('gpt-4o', { messages }, 'completions')).toBe(framed);
  });

  test.each([
    ['gpt-4o', 'o200k_base'],
    ['openai/gpt-4o-mini', 'o200k_base'],
    ['ft:gpt-4o:acme::1', 'o200k_base'],
    ['gpt-5.1-codex', 'o200k_base'],
    ['gpt-4.1-nano', 'o200k_base'],
    ['o3-mini', 'o200k_base'],
    ['gpt-4', 'cl100k_base'],
    ['gpt-4-turbo', 'cl100k_base'],
    ['gpt-3.5-turbo', 'cl100k_base'],
    ['text-embedding-3-small', 'cl100k_base'],
    ['claude-sonnet-4', 'cl100k_base'],
    ['', 'cl100k_base'],
  ])('of %s are those of %s', (model, encoding) => expect(encodingOf(model)).toBe(encoding));

  test.each(['text-davinci-003', 'code-davinci-002', 'gpt2', 'davinci', 'ada'])(
    'of %s cannot be counted',
    async (model) => {
      await expect(countTokens(model, chat, 'completions')).rejects.toThrow(`tokens of the model ${model}`);
    },
  );

  test('that look special are texts like others', async () => {
    const body = { input: 'a<|endoftext|>b' };
    expect(await countTokens('gpt-4o', body, 'responses')).toBeGreaterThan(3 + 4 + 3);
  });

  test.each([{}, { messages: null }, { messages: 'text' }, { messages: [null, 1, 'x', { content: 5 }] }])(
    'of %j are counted, too',
    async (body) => expect(await countTokens('m', body, 'messages')).toBeGreaterThanOrEqual(3),
  );
});

describe('the texts of a request', () => {
  test.each([
    [
      'messages',
      {
        system: [{ type: 'text', text: 's' }],
        messages: [
          { role: 'user', content: 'u' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'i', name: 'n', input: { a: 1 } }] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'i', content: [{ type: 'text', text: 'r' }] }],
          },
        ],
      },
      [['s'], ['u'], ['n', '{"a":1}'], ['r']],
    ],
    ['anthropicTokenCount', { system: 's', messages: [{ role: 'user', content: 'u' }] }, [['s'], ['u']]],
    [
      'completions',
      {
        messages: [
          { role: 'assistant', content: null, tool_calls: [{ id: 'i', function: { name: 'n', arguments: '{}' } }] },
        ],
      },
      [['n', '{}']],
    ],
    [
      'responses',
      {
        instructions: 's',
        input: [
          { role: 'user', content: 'u' },
          { type: 'function_call_output', output: 'o' },
        ],
      },
      [['s'], ['u'], ['o']],
    ],
    ['responses', { input: 'u' }, [['u']]],
    [
      'generateContent',
      { systemInstruction: { parts: [{ text: 's' }] }, contents: [{ parts: [{ text: 'u' }, { inlineData: {} }] }] },
      [['s'], ['u']],
    ],
    ['geminiCountTokens', { generateContentRequest: { contents: [{ parts: [{ text: 'u' }] }] } }, [['u']]],
    ['embeddings', { input: ['a', 'b'] }, [['a'], ['b']]],
  ] as const)('of %s: %j', (type, body, texts) => expect(messageTexts(body, type)).toEqual(texts));
});

describe('long texts', () => {
  const prose = 'The quick brown fox jumps over the lazy dog, again and again. '.repeat(300);

  test('are cut where tokens begin', () => {
    expect([...pieces(prose)].join('')).toBe(prose);
    const counted = [...pieces(prose)].reduce((sum, piece) => sum + cl100k(piece), 0);
    expect(counted).toBe(cl100k(prose));
  });

  test.each([
    ['no spaces', 'a'.repeat(10_000)],
    ['nothing but spaces', ' '.repeat(10_000)],
    ['pairs of surrogates', '👩‍🚀'.repeat(3_000)],
    ['one long word among short ones', `${'a b '.repeat(400)}${'z'.repeat(5_000)}${' c d'.repeat(400)}`],
  ])('of %s come in pieces that are short', (_what, text) => {
    const cut = [...pieces(text)];
    expect(cut.join('')).toBe(text);
    expect(cut.every((piece) => piece.isWellFormed())).toBe(true);
    const words = cut.flatMap((piece) => piece.split(/(?<=[^ ])(?= )/));
    expect(Math.max(...words.map(({ length }) => length))).toBeLessThanOrEqual(512);
  });
});
