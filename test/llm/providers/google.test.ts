import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { FunctionCallingConfigMode, type GoogleGenAI, Type } from '@google/genai';
import { afterEach, describe, expect, test } from '@jest/globals';
import { generateText, jsonSchema, streamText, tool } from 'ai';

import { Cleanup } from '../../e2e/gateway.ts';
import { clients } from '../clients.ts';
import { startProvider, type SimulatedProvider } from './server.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function client(): Promise<{ google: GoogleGenAI; provider: SimulatedProvider }> {
  const provider = cleanup.add(await startProvider('gemini'));
  return { provider, google: clients.google(provider.url) };
}

const model = 'gemini-2.5-pro';
const look = {
  functionDeclarations: [
    { name: 'look', parameters: { type: Type.OBJECT, properties: { at: { type: Type.STRING } }, required: ['at'] } },
  ],
};

describe('the simulated Gemini', () => {
  test('answers content, whole and streamed, alike', async () => {
    const { google, provider } = await client();
    const ask = {
      model,
      contents: '@think deep\n@say well\n@call look {"at":"it"}',
      config: {
        systemInstruction: 'Be brief.',
        tools: [look],
        toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
        thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
        temperature: 0,
      },
    };
    const whole = await google.models.generateContent(ask);
    expect(whole.functionCalls).toMatchObject([{ name: 'look', args: { at: 'it' } }]);
    expect(whole.usageMetadata).toMatchObject({ thoughtsTokenCount: 1 });
    const parts = [];
    for await (const chunk of await google.models.generateContentStream(ask)) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    }
    expect(parts).toEqual(whole.candidates?.[0]?.content?.parts);
    expect(provider.faults).toEqual([]);
  });

  test('takes results of functions and counts tokens', async () => {
    const { google, provider } = await client();
    const answer = await google.models.generateContent({
      model,
      contents: [
        { role: 'user', parts: [{ text: 'look' }] },
        { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'look', response: { output: 'a tree' } } }] },
      ],
      config: { tools: [look] },
    });
    expect(answer.text).toBe('tools said: a tree');
    expect((await google.models.countTokens({ model, contents: 'one two' })).totalTokens).toBe(12);
    expect(provider.faults).toEqual([]);
  });

  test.each([
    ['@error 429', 429],
    ['@error 503', 503],
  ])('fails as it is told to: %s', async (contents, status) => {
    const { google } = await client();
    await expect(google.models.generateContent({ model, contents })).rejects.toMatchObject({ status });
  });

  test.each([
    ['a model in the body', { model }, 'unknown field model'],
    ['no contents', { contents: [] }, '/contents'],
    [
      'an unknown word of a schema',
      {
        tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'object', additionalProperties: false } }] }],
      },
      'additionalProperties',
    ],
    ['an unknown role', { contents: [{ role: 'assistant', parts: [{ text: 'x' }] }] }, '/contents/0/role'],
    [
      'a call without an answer',
      {
        contents: [
          { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
          { role: 'user', parts: [{ text: 'x' }] },
        ],
      },
      'number of function response parts',
    ],
  ])('refuses %s', async (_what, fields, message) => {
    const provider = cleanup.add(await startProvider('gemini'));
    const answer = await fetch(`${provider.url}/v1beta/models/${model}:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': 'AIza' },
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'x' }] }], ...fields }),
    });
    expect(answer.status).toBe(400);
    expect(provider.faults.join()).toContain(message);
  });

  test('streams one list of JSON where no events are asked for', async () => {
    const provider = cleanup.add(await startProvider('gemini'));
    const answer = await fetch(`${provider.url}/v1beta/models/${model}:streamGenerateContent?key=k`, {
      method: 'POST',
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: '@count 3' }] }] }),
    });
    expect(await answer.json()).toHaveLength(3);
  });

  test('understands the AI SDK', async () => {
    const provider = cleanup.add(await startProvider('gemini'));
    const sdk = createGoogleGenerativeAI({ apiKey: 'k', baseURL: `${provider.url}/v1beta` });
    expect(await streamText({ model: sdk(model), prompt: 'hello' }).text).toBe('echo: hello');
    const { toolCalls } = await generateText({
      model: sdk(model),
      prompt: '@call look {"at":"it"}',
      tools: { look: tool({ inputSchema: jsonSchema({ type: 'object', properties: { at: { type: 'string' } } }) }) },
    });
    expect(toolCalls[0]?.input).toEqual({ at: 'it' });
    expect(provider.faults).toEqual([]);
  });
});
