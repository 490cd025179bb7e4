import type Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { afterEach, describe, expect, test } from '@jest/globals';
import { streamText } from 'ai';

import { Cleanup } from '../../e2e/gateway.ts';
import { clients } from '../clients.ts';
import { startProvider, type SimulatedProvider } from './server.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function client(): Promise<{ anthropic: Anthropic; provider: SimulatedProvider }> {
  const provider = cleanup.add(await startProvider('anthropic'));
  return { provider, anthropic: clients.anthropic(provider.url) };
}

const base = { model: 'claude-test', max_tokens: 2048 };
const look = { name: 'look', input_schema: { type: 'object', properties: {} } } as const;

describe('the simulated Anthropic', () => {
  test('answers messages, whole and streamed, alike', async () => {
    const { anthropic, provider } = await client();
    const ask = {
      ...base,
      messages: [{ role: 'user' as const, content: '@think deep\n@say well\n@call look {"at":"it"}\n@cached 7' }],
      thinking: { type: 'enabled' as const, budget_tokens: 1024 },
      tools: [look],
    };
    const whole = await anthropic.messages.create(ask);
    const streamed = await anthropic.messages.stream(ask).finalMessage();
    expect(whole.content).toMatchObject([
      { type: 'thinking', thinking: 'deep', signature: 'sig-sim' },
      { type: 'text', text: 'well' },
      { type: 'tool_use', name: 'look', input: { at: 'it' } },
    ]);
    expect(streamed.content).toMatchObject(whole.content);
    expect([streamed.stop_reason, whole.stop_reason]).toEqual(['tool_use', 'tool_use']);
    expect(streamed.usage).toMatchObject({ cache_read_input_tokens: 7, output_tokens: whole.usage.output_tokens });
    expect(provider.faults).toEqual([]);
  });

  test('takes results of tools, images and counts', async () => {
    const { anthropic, provider } = await client();
    const messages: Anthropic.MessageParam[] = [
      { role: 'user', content: 'look' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'a tree' }] },
    ];
    const answer = await anthropic.messages.create({ ...base, messages, tools: [look] });
    expect(answer.content[0]).toMatchObject({ text: 'tools said: a tree' });
    const counted = await anthropic.messages.countTokens({ model: base.model, messages, tools: [look] });
    expect(counted.input_tokens).toBe(12);
    expect(provider.faults).toEqual([]);
  });

  test.each([
    ['@error 529', 529],
    ['@error 429 retry-after: 2', 429],
  ])('fails as it is told to: %s', async (content, status) => {
    const { anthropic } = await client();
    await expect(anthropic.messages.create({ ...base, messages: [{ role: 'user', content }] })).rejects.toMatchObject({
      status,
    });
  });

  test('reports an error in a stream', async () => {
    const { anthropic } = await client();
    const stream = anthropic.messages.stream({
      ...base,
      messages: [{ role: 'user', content: '@count 9\n@stream-error' }],
    });
    await expect(stream.finalMessage()).rejects.toThrow('simulated stream error');
  });

  test.each([
    ['an unknown field', { stop: ['x'] }, 'unknown field stop'],
    ['no limit', { max_tokens: undefined }, 'max_tokens'],
    ['a blank text', { messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] }, '/messages/0/content'],
    ['a system message', { messages: [{ role: 'system', content: 'x' }] }, '/messages/0/role'],
    ['a small budget', { thinking: { type: 'enabled', budget_tokens: 100 } }, '/thinking/budget_tokens'],
    ['a budget over the limit', { thinking: { type: 'enabled', budget_tokens: 4096 } }, 'greater than'],
    [
      'a call without a result',
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
          { role: 'user', content: 'y' },
        ],
      },
      'without `tool_result`',
    ],
    [
      'five cache marks',
      { system: Array.from({ length: 5 }, () => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } })) },
      'maximum of 4',
    ],
  ])('refuses %s', async (_what, fields, message) => {
    const provider = cleanup.add(await startProvider('anthropic'));
    const answer = await fetch(`${provider.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ ...base, messages: [{ role: 'user', content: 'x' }], ...fields }),
    });
    expect(answer.status).toBe(400);
    expect(provider.faults.join()).toContain(message);
  });

  test('wants a key and a version', async () => {
    const { url } = cleanup.add(await startProvider('anthropic'));
    expect((await fetch(`${url}/v1/messages`, { method: 'POST', body: '{}' })).status).toBe(401);
    expect(
      (await fetch(`${url}/v1/messages`, { method: 'POST', body: '{}', headers: { 'x-api-key': 'k' } })).status,
    ).toBe(400);
  });

  test('understands the AI SDK', async () => {
    const provider = cleanup.add(await startProvider('anthropic'));
    const sdk = createAnthropic({ apiKey: 'k', baseURL: `${provider.url}/v1` });
    expect(await streamText({ model: sdk('claude-test'), prompt: 'hello', maxOutputTokens: 99 }).text).toBe(
      'echo: hello',
    );
    expect(provider.faults).toEqual([]);
  });
});
