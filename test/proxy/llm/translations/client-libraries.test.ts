import { afterEach, describe, expect, test } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { completionsToMessages } from '../../../../proxy/llm/translations/completions-to-messages/index.ts';
import type { Translation } from '../../../../proxy/llm/translations/contract.ts';
import { messagesToCompletions } from '../../../../proxy/llm/translations/messages-to-completions/index.ts';
import { messagesToResponses } from '../../../../proxy/llm/translations/messages-to-responses/index.ts';
import { responsesToCompletions } from '../../../../proxy/llm/translations/responses-to-completions/index.ts';
import { bridge, sse, type Answer, type Bridge } from './bridge.ts';
import { chatStream, chatUsage, chunk, messageStart, messageStream, responseStream } from './upstream-streams.ts';

const open: Bridge[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function at(translation: Translation, answer: Answer): Promise<Bridge> {
  const opened = await bridge(translation, answer);
  open.push(opened);
  return opened;
}

function streamOf(events: readonly (JsonObject | string)[], cut = false): Answer {
  return { kind: 'stream', text: sse(events), cut };
}

const openai = ({ url }: Bridge) => new OpenAI({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 });
const anthropic = ({ url }: Bridge) => new Anthropic({ apiKey: 'k', baseURL: url, maxRetries: 0 });

const weather = {
  name: 'weather',
  description: 'The weather of a city',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

const claudeAsks = {
  model: 'm',
  max_tokens: 500,
  messages: [{ role: 'user' as const, content: 'What is the weather?' }],
  tools: [weather],
};

describe('the library of OpenAI, chat completions, at a service of messages', () => {
  const asks = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };

  test('puts a streamed answer together', async () => {
    const server = await at(completionsToMessages, streamOf(messageStream));
    const stream = openai(server).chat.completions.stream({ ...asks, stream_options: { include_usage: true } });
    const completion = await stream.finalChatCompletion();
    expect(completion).toMatchObject({
      id: 'msg_1',
      model: 'claude-sonnet-5',
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'Let me look.',
            tool_calls: [
              { id: 'toolu_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Zürich"}' } },
              { id: 'toolu_b', type: 'function', function: { name: 'now', arguments: '{}' } },
            ],
          },
        },
      ],
      usage: {
        prompt_tokens: 50,
        completion_tokens: 42,
        total_tokens: 92,
        prompt_tokens_details: { cached_tokens: 7, cache_write_tokens: 3 },
      },
    });
    expect(server.facts.usage).toMatchObject({ inputTokens: 50, outputTokens: 42, cachedInputTokens: 7 });
  });

  test('reads a whole answer', async () => {
    const body = {
      id: 'msg_1',
      model: 'claude',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'max_tokens',
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    const server = await at(completionsToMessages, { kind: 'whole', body });
    const completion = await openai(server).chat.completions.create(asks);
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'Hello' } });
  });

  test.each([
    ['is cut', messageStream.slice(0, 9), true, 'connection reset'],
    ['ends early', messageStream.slice(0, 9), false, 'before the answer was complete'],
    [
      'tells a fault',
      [...messageStream.slice(0, 9), { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
      false,
      'Overloaded',
    ],
    ['is empty', [], false, 'before the answer was complete'],
    ['is a page', ['<html>busy</html>'], false, 'before the answer was complete'],
  ])('throws when the stream %s', async (_what, events, cut, message) => {
    const server = await at(completionsToMessages, streamOf(events, cut));
    await expect(openai(server).chat.completions.stream(asks).finalChatCompletion()).rejects.toThrow(message);
  });

  test('does not mind a connection that breaks after the answer', async () => {
    const server = await at(completionsToMessages, streamOf(messageStream, true));
    const completion = await openai(server).chat.completions.stream(asks).finalChatCompletion();
    expect(completion.choices[0]?.message.content).toBe('Let me look.');
  });

  test('tells an error by its status, with its message', async () => {
    const body = JSON.stringify({ type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } });
    const server = await at(completionsToMessages, { kind: 'error', status: 429, body });
    const failed = openai(server).chat.completions.create(asks);
    await expect(failed).rejects.toThrow(OpenAI.RateLimitError);
    await expect(failed).rejects.toThrow('Slow down');
    await expect(failed).rejects.toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_error' });
  });

  test.each([
    ['overloaded_error', 'server_error'],
    ['rate_limit_error', 'rate_limit_error'],
  ])('has the word %s of an error in a stream, and the type %s', async (code, type) => {
    const fault = { type: 'error', error: { type: code, message: 'No' } };
    const server = await at(completionsToMessages, streamOf([...messageStream.slice(0, 9), fault], false));
    const failed = openai(server).chat.completions.stream(asks).finalChatCompletion();
    await expect(failed).rejects.toMatchObject({ type, code });
  });
});

describe('the library of Anthropic at a service of chat completions', () => {
  test('puts a streamed answer together', async () => {
    const server = await at(messagesToCompletions, streamOf([...chatStream, '[DONE]']));
    const message = await anthropic(server).messages.stream(claudeAsks).finalMessage();
    expect(message).toMatchObject({
      id: 'chatcmpl-1',
      type: 'message',
      role: 'assistant',
      model: 'gpt-5.4-2026',
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'Let me look – ✓.' },
        { type: 'tool_use', id: 'call_a', name: 'weather', input: { city: 'Zürich' } },
        { type: 'tool_use', id: 'call_b', name: 'now', input: {} },
      ],
      usage: {
        input_tokens: 60,
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 10,
        output_tokens: 20,
      },
    });
    expect(server.facts.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
  });

  test('reads a whole answer', async () => {
    const body = {
      id: 'c',
      model: 'gpt',
      choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: chatUsage,
    };
    const server = await at(messagesToCompletions, { kind: 'whole', body });
    const message = await anthropic(server).messages.create(claudeAsks);
    expect(message).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'Hello' }] });
  });

  test('shows thoughts to those who asked for them', async () => {
    const events = [chunk({ reasoning_content: 'Hm.' }), chunk({ content: 'Yes.' }), chunk({}, 'stop'), '[DONE]'];
    const server = await at(messagesToCompletions, streamOf(events));
    const asks = { ...claudeAsks, thinking: { type: 'adaptive' as const } };
    const message = await anthropic(server).messages.stream(asks).finalMessage();
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Yes.' },
    ]);
    const unasked = await anthropic(server).messages.stream(claudeAsks).finalMessage();
    expect(unasked.content).toMatchObject([{ type: 'text', text: 'Yes.' }]);
  });

  test.each([
    ['is cut', chatStream.slice(0, 5), true, 'connection reset'],
    ['ends early', chatStream.slice(0, 5), false, 'before the answer was complete'],
    ['tells a fault', [...chatStream.slice(0, 5), { error: { message: 'Out of memory' } }], false, 'Out of memory'],
    ['tells a fault in one word', [{ error: 'busy' }], false, 'busy'],
    ['is empty', [], false, 'before the answer was complete'],
  ])('throws when the stream %s', async (_what, events, cut, message) => {
    const server = await at(messagesToCompletions, streamOf(events, cut));
    await expect(anthropic(server).messages.stream(claudeAsks).finalMessage()).rejects.toThrow(message);
  });

  test.each([
    ['the last word is missing', chatStream, false],
    ['the usage is missing', [...chatStream.slice(0, -1), '[DONE]'], false],
    ['both are missing', chatStream.slice(0, -1), false],
    ['the connection breaks after the answer', [...chatStream, '[DONE]'], true],
  ])('has the whole answer when %s', async (_what, events, cut) => {
    const server = await at(messagesToCompletions, streamOf(events, cut));
    const message = await anthropic(server).messages.stream(claudeAsks).finalMessage();
    expect(message.stop_reason).toBe('tool_use');
    expect(message.content).toHaveLength(3);
  });

  test('tells an error by its status, with its type and message', async () => {
    const body = JSON.stringify({ error: { message: 'No such model', type: 'invalid_request_error', code: 'x' } });
    const server = await at(messagesToCompletions, { kind: 'error', status: 404, body });
    const failed = anthropic(server).messages.create(claudeAsks);
    await expect(failed).rejects.toThrow(Anthropic.NotFoundError);
    await expect(failed).rejects.toMatchObject({ type: 'invalid_request_error' });
  });
});

describe('the library of Anthropic at a service of responses', () => {
  test('puts a streamed answer together', async () => {
    const server = await at(messagesToResponses, streamOf(responseStream));
    const message = await anthropic(server).messages.stream(claudeAsks).finalMessage();
    expect(message).toMatchObject({
      id: 'resp_1',
      model: 'gpt-5.4',
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'Let me look.' },
        { type: 'text', text: 'Whole.' },
        { type: 'tool_use', id: 'call_a', name: 'weather', input: { city: 'Zürich' } },
        { type: 'tool_use', id: 'call_b', name: 'now', input: {} },
      ],
      usage: { input_tokens: 70, cache_read_input_tokens: 30, output_tokens: 20 },
    });
    expect(server.facts.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
  });

  test.each([
    ['is cut', responseStream.slice(0, 7), true, 'connection reset'],
    ['ends early', responseStream.slice(0, 7), false, 'before the answer was complete'],
    [
      'fails',
      [
        ...responseStream.slice(0, 7),
        { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'Sorry' } } },
      ],
      false,
      'Sorry',
    ],
    ['tells a fault', [{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down' }], false, 'Slow down'],
  ])('throws when the stream %s', async (_what, events, cut, message) => {
    const server = await at(messagesToResponses, streamOf(events, cut));
    await expect(anthropic(server).messages.stream(claudeAsks).finalMessage()).rejects.toThrow(message);
  });
});

describe('the library of OpenAI, responses, at a service of chat completions', () => {
  const asks = { model: 'm', input: 'What is the weather?' };
  const output = [
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Let me look – ✓.' }],
    },
    { type: 'function_call', call_id: 'call_a', name: 'weather', arguments: '{"city":"Zürich"}', status: 'completed' },
    { type: 'function_call', call_id: 'call_b', name: 'now', arguments: '{}', status: 'completed' },
  ];
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 30 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 120,
  };

  test('puts a streamed answer together', async () => {
    const server = await at(responsesToCompletions, streamOf([...chatStream, '[DONE]']));
    const stream = openai(server).responses.stream(asks);
    const seen: string[] = [];
    stream.on('event', ({ type }) => seen.push(type));
    const response = await stream.finalResponse();
    expect(response).toMatchObject({ object: 'response', status: 'completed', model: 'gpt-5.4-2026', output, usage });
    expect(response.output_text).toBe('Let me look – ✓.');
    expect(new Set(response.output.map((item) => item.id)).size).toBe(3);
    expect(seen).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  test('makes the same of the events that came before the last one', async () => {
    const server = await at(responsesToCompletions, streamOf([...chatStream, '[DONE]']));
    const done: JsonObject[] = [];
    for await (const event of openai(server).responses.stream(asks)) {
      if (event.type === 'response.output_item.done') done[event.output_index] = event.item as unknown as JsonObject;
    }
    expect(done).toMatchObject(output);
  });

  test('reads a whole answer', async () => {
    const body = {
      id: 'c',
      model: 'gpt',
      choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'length' }],
      usage: chatUsage,
    };
    const server = await at(responsesToCompletions, { kind: 'whole', body });
    const response = await openai(server).responses.create(asks);
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output_text: 'Hello',
      usage,
    });
  });

  test('has thoughts as items of their own', async () => {
    const events = [chunk({ reasoning_content: 'Hm.' }), chunk({ content: 'Yes.' }), chunk({}, 'stop'), '[DONE]'];
    const server = await at(responsesToCompletions, streamOf(events));
    const response = await openai(server).responses.stream(asks).finalResponse();
    expect(response.output).toMatchObject([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'Yes.' }] },
    ]);
  });

  test('gives back a parsed answer when a schema was asked for', async () => {
    const events = [chunk({ content: '{"n":' }), chunk({ content: '1}' }), chunk({}, 'stop'), '[DONE]'];
    const server = await at(responsesToCompletions, streamOf(events));
    const text = { format: { type: 'json_schema' as const, name: 'n', schema: { type: 'object' } } };
    const response = await openai(server)
      .responses.stream({ ...asks, text })
      .finalResponse();
    expect(JSON.parse(response.output_text)).toEqual({ n: 1 });
    expect(server.asked[0]).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
    });
  });

  test.each([
    ['is cut', chatStream.slice(0, 5), true, 'connection reset'],
    ['ends early', chatStream.slice(0, 5), false, 'before the answer was complete'],
    ['tells a fault', [...chatStream.slice(0, 5), { error: { message: 'Out of memory' } }], false, 'Out of memory'],
    ['is empty', [], false, 'before the answer was complete'],
  ])('throws when the stream %s', async (_what, events, cut, message) => {
    const server = await at(responsesToCompletions, streamOf(events, cut));
    await expect(openai(server).responses.stream(asks).finalResponse()).rejects.toThrow(message);
  });

  test('tells an error as the service does', async () => {
    const body = JSON.stringify({
      error: { message: 'No such model', type: 'invalid_request_error', code: 'model_not_found' },
    });
    const server = await at(responsesToCompletions, { kind: 'error', status: 404, body });
    await expect(openai(server).responses.create(asks)).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

test('a stream that was cut before its answer began is an error, not an empty answer', async () => {
  const server = await at(completionsToMessages, streamOf([messageStart], true));
  const asks = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
  await expect(openai(server).chat.completions.stream(asks).finalChatCompletion()).rejects.toThrow('connection reset');
});
