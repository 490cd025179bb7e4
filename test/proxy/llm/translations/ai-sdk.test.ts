import { afterEach, describe, expect, test } from '@jest/globals';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, type LanguageModel, streamText, type ToolSet } from 'ai';
import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { completionsToMessages } from '../../../../proxy/llm/translations/completions-to-messages/index.ts';
import type { Translation } from '../../../../proxy/llm/translations/contract.ts';
import { messagesToCompletions } from '../../../../proxy/llm/translations/messages-to-completions/index.ts';
import { messagesToResponses } from '../../../../proxy/llm/translations/messages-to-responses/index.ts';
import { responsesToCompletions } from '../../../../proxy/llm/translations/responses-to-completions/index.ts';
import { bridge, sse, type Answer, type Bridge } from './bridge.ts';
import { chatStream, chatUsage, messageStream, responseStream } from './upstream-streams.ts';

/** A library that checks every event against a schema: stricter readers than the vendors' own. */
const open: Bridge[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

type Client = (server: Bridge) => LanguageModel;

const chat: Client = ({ url }) => createOpenAI({ apiKey: 'k', baseURL: `${url}/v1` }).chat('gpt-4o');
const responses: Client = ({ url }) => createOpenAI({ apiKey: 'k', baseURL: `${url}/v1` }).responses('gpt-4o');
const claude: Client = ({ url }) => createAnthropic({ apiKey: 'k', baseURL: `${url}/v1` })('claude-sonnet-4-5');

async function at(translation: Translation, answer: Answer): Promise<Bridge> {
  const opened = await bridge(translation, answer);
  open.push(opened);
  return opened;
}

const tools: ToolSet = {
  weather: { inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }) },
  now: { inputSchema: jsonSchema({ type: 'object', properties: {} }) },
};

const asks = { prompt: 'What is the weather?', tools, maxRetries: 0 };

describe.each<[string, Translation, Client, readonly (JsonObject | string)[], string]>([
  ['completions to messages', completionsToMessages, chat, messageStream, 'Let me look.'],
  ['messages to completions', messagesToCompletions, claude, [...chatStream, '[DONE]'], 'Let me look – ✓.'],
  ['messages to responses', messagesToResponses, claude, responseStream, 'Let me look.Whole.'],
  ['responses to completions', responsesToCompletions, responses, [...chatStream, '[DONE]'], 'Let me look – ✓.'],
])('the AI SDK, %s', (_name, translation, client, events, said) => {
  test('reads a stream to its end', async () => {
    const server = await at(translation, { kind: 'stream', text: sse(events) });
    const errors: unknown[] = [];
    const result = streamText({ ...asks, model: client(server), onError: ({ error }) => void errors.push(error) });
    expect(await result.text).toBe(said);
    expect(errors).toEqual([]);
    const calls = await result.toolCalls;
    expect(calls.map(({ toolName, input }) => [toolName, input])).toEqual([
      ['weather', { city: 'Zürich' }],
      ['now', {}],
    ]);
    expect(await result.finishReason).toBe('tool-calls');
    expect((await result.usage).outputTokens).toBeGreaterThan(0);
  });

  test('is told of a stream that breaks', async () => {
    const server = await at(translation, { kind: 'stream', text: sse(events.slice(0, 4)), cut: true });
    const errors: unknown[] = [];
    const result = streamText({ ...asks, model: client(server), onError: ({ error }) => void errors.push(error) });
    await result.consumeStream();
    expect(errors).toHaveLength(1);
    expect(JSON.stringify(errors[0])).toContain('upstream stream was cut');
  });
});

test('the AI SDK reads whole answers', async () => {
  const message = { role: 'assistant', content: 'Hello' };
  const completion = {
    id: 'c',
    model: 'gpt',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: chatUsage,
  };
  const toCompletions = await at(messagesToCompletions, { kind: 'whole', body: completion });
  expect((await generateText({ ...asks, model: claude(toCompletions) })).text).toBe('Hello');
  const fromResponses = await at(responsesToCompletions, { kind: 'whole', body: completion });
  const response = await generateText({ ...asks, model: responses(fromResponses) });
  expect([response.text, response.finishReason]).toEqual(['Hello', 'stop']);
  const body = { id: 'm', model: 'c', content: [{ type: 'text', text: 'Hello' }], stop_reason: 'max_tokens' };
  const toMessages = await at(completionsToMessages, { kind: 'whole', body });
  const chatted = await generateText({ ...asks, model: chat(toMessages) });
  expect([chatted.text, chatted.finishReason]).toEqual(['Hello', 'length']);
});
