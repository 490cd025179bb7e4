import { createOpenAI } from '@ai-sdk/openai';
import { afterEach, describe, expect, test } from '@jest/globals';
import { generateText, streamText, tool, jsonSchema } from 'ai';
import { AzureOpenAI, type OpenAI } from 'openai';

import { Cleanup } from '../../e2e/gateway.ts';
import { clients } from '../clients.ts';
import { startProvider, type SimulatedProvider } from './server.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function client(): Promise<{ openai: OpenAI; provider: SimulatedProvider }> {
  const provider = cleanup.add(await startProvider('openai'));
  return { provider, openai: clients.openai(provider.url) };
}

const weather = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
} as const;

describe('the simulated OpenAI', () => {
  test('answers chats as its SDK reads them', async () => {
    const { openai, provider } = await client();
    const answer = await openai.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'hello there' }],
    });
    expect(answer.choices[0]?.message.content).toBe('echo: hello there');
    expect(answer.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 3 });
    expect(provider.faults).toEqual([]);
  });

  test('streams chats, with parallel calls in fragments', async () => {
    const { openai, provider } = await client();
    const stream = openai.chat.completions.stream({
      model: 'gpt-4o',
      messages: [
        { role: 'user', content: '@say hi\n@call get_weather {"city":"Paris"}\n@call get_weather {"city":"Rome"}' },
      ],
      tools: [weather],
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]?.message.content).toBe('hi');
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { id: 'call_1', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } },
      { id: 'call_2', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
    ]);
    expect(usage?.completion_tokens).toBe(11);
    expect(provider.faults).toEqual([]);
  });

  test('answers responses, whole and streamed', async () => {
    const { openai, provider } = await client();
    const input = '@think hard\n@say fine\n@call get_weather {"city":"Oslo"}';
    const whole = await openai.responses.create({ model: 'gpt-5', input });
    expect(whole.output_text).toBe('fine');
    expect(whole.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call']);
    const streamed = await openai.responses.stream({ model: 'gpt-5', input }).finalResponse();
    expect(streamed.output_text).toBe('fine');
    expect(streamed.output).toMatchObject(whole.output);
    expect(provider.faults).toEqual([]);
  });

  test('gives embeddings, models and images', async () => {
    const { openai, provider } = await client();
    const embeddings = await openai.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'bb'] });
    const plain = await openai.embeddings.create({ model: 'm', input: ['a', 'bb'], encoding_format: 'float' });
    expect(embeddings.data.map(({ embedding }) => embedding)).toEqual(plain.data.map(({ embedding }) => embedding));
    const models: string[] = [];
    for await (const { id } of openai.models.list()) models.push(id);
    expect(models).toContain('gpt-4o');
    expect((await openai.images.generate({ model: 'gpt-image-1', prompt: 'a cat' })).data).toHaveLength(1);
    expect(provider.faults).toEqual([]);
  });

  test.each([
    ['@error 429 retry-after: 3', 429],
    ['@error 500', 500],
    ['@error 404', 404],
  ])('fails as it is told to: %s', async (content, status) => {
    const { openai } = await client();
    const failed = openai.chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content }] });
    await expect(failed).rejects.toMatchObject({ status });
  });

  test('dies in the middle of a stream', async () => {
    const { openai } = await client();
    const stream = await openai.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: '@count 5\n@die' }],
      stream: true,
    });
    let text = '';
    const read = async (): Promise<void> => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    };
    await expect(read()).rejects.toThrow();
    expect(text).toBe('1 ');
  });

  test.each([
    ['an unknown field', { temprature: 1 }, '/ unknown field temprature'],
    ['a wrong type', { temperature: 'hot' }, '/temperature'],
    ['no tools', { tools: [] }, '/tools'],
    [
      'a field of another vendor',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', cache_control: {} }] }] },
      'unknown field cache_control',
    ],
    ['an answer to nothing', { messages: [{ role: 'tool', tool_call_id: 'x', content: 'y' }] }, 'preceding message'],
    [
      'a call without an answer',
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] },
          { role: 'user', content: 'x' },
        ],
      },
      'did not have response messages',
    ],
    ['the old limit', { model: 'gpt-5', max_tokens: 5 }, 'max_completion_tokens'],
    ['stream options without a stream', { stream_options: { include_usage: true } }, 'stream_options'],
  ])('refuses %s', async (_what, fields, message) => {
    const provider = cleanup.add(await startProvider('openai'));
    const answer = await fetch(`${provider.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer x', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'x' }], ...fields }),
    });
    expect(answer.status).toBe(400);
    expect(provider.faults.join()).toContain(message.replace('/ ', ''));
  });

  test('understands the AI SDK', async () => {
    const provider = cleanup.add(await startProvider('openai'));
    const sdk = createOpenAI({ apiKey: 'x', baseURL: `${provider.url}/v1` });
    for (const model of [sdk.chat('gpt-4o'), sdk.responses('gpt-4o')]) {
      const { text, toolCalls } = await generateText({
        model,
        prompt: '@call look {"at":"it"}',
        tools: { look: tool({ inputSchema: jsonSchema({ type: 'object', properties: { at: { type: 'string' } } }) }) },
      });
      expect([text, toolCalls[0]?.input]).toEqual(['', { at: 'it' }]);
      const streamed = streamText({ model, prompt: 'hello' });
      expect(await streamed.text).toBe('echo: hello');
    }
    expect(provider.faults).toEqual([]);
  });
});

describe('the simulated Azure', () => {
  test('answers its SDK by deployment', async () => {
    const provider = cleanup.add(await startProvider('azure'));
    const azure = new AzureOpenAI({ apiKey: 'k', endpoint: provider.url, apiVersion: '2024-10-21', maxRetries: 0 });
    const answer = await azure.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(answer.choices[0]?.message.content).toBe('echo: hi');
    expect(provider.requests[0]?.target).toBe('/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21');
    expect(provider.faults).toEqual([]);
  });
});
