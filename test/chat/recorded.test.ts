import { describe, expect, test } from '@jest/globals';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import fc from 'fast-check';
import { framesAsEvents } from '../../src/chat/aws-frames.ts';
import { promptIn } from '../../src/chat/prompt.ts';
import { isEventStream, messageIn } from '../../src/chat/recorded.ts';

const sse = (...events: (object | string)[]): string =>
  events.map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`).join('');

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text),
);

function frame(type: string, payload: object): Buffer {
  const headers = {
    ':event-type': { type: 'string', value: type },
    ':message-type': { type: 'string', value: 'event' },
  } as const;
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(payload)) }));
}

describe('a recorded answer as one message', () => {
  test('chat completions, in pieces, with arguments of two calls at once', () => {
    const delta = (part: object, finish: string | null = null) => ({
      model: 'm',
      choices: [{ index: 0, delta: part, finish_reason: finish }],
    });
    const call = (index: number, part: object) => delta({ tool_calls: [{ index, ...part }] });
    const text = sse(
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'hm' }),
      delta({ content: 'a' }),
      delta({ content: 'b' }),
      call(0, { id: 'c0', function: { name: 'f', arguments: '' } }),
      call(1, { id: 'c1', function: { name: 'g', arguments: '{"x"' } }),
      call(0, { function: { arguments: '{}' } }),
      call(1, { function: { arguments: ':1}' } }),
      delta({}, 'tool_calls'),
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 2 } } },
      '[DONE]',
    );
    expect(messageIn(text)).toEqual({
      model: 'm',
      text: 'ab',
      reasoning: 'hm',
      toolCalls: [
        { id: 'c0', name: 'f', arguments: '{}' },
        { id: 'c1', name: 'g', arguments: '{"x":1}' },
      ],
      finish: 'tool_calls',
      usage: { inputTokens: 3, outputTokens: 4, cachedInputTokens: 2 },
      error: undefined,
    });
  });

  test('messages, whole and in pieces, are the same', () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'ab' },
      { type: 'tool_use', id: 't', name: 'f', input: { x: 1 } },
    ];
    const usage = { input_tokens: 3, output_tokens: 9 };
    const whole = { type: 'message', model: 'm', content, stop_reason: 'tool_use', usage };
    const piece = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
    const start = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block });
    const streamed = sse(
      { type: 'message_start', message: { ...whole, content: [], stop_reason: null, usage: { input_tokens: 3 } } },
      { type: 'ping' },
      start(0, { type: 'thinking', thinking: '' }),
      piece(0, { type: 'thinking_delta', thinking: 'hm' }),
      piece(0, { type: 'signature_delta', signature: 's' }),
      start(1, { type: 'text', text: '' }),
      piece(1, { type: 'text_delta', text: 'a' }),
      piece(1, { type: 'text_delta', text: 'b' }),
      start(2, { type: 'tool_use', id: 't', name: 'f', input: {} }),
      piece(2, { type: 'input_json_delta', partial_json: '{"x":' }),
      piece(2, { type: 'input_json_delta', partial_json: '1}' }),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    );
    expect(messageIn(streamed)).toEqual(messageIn(JSON.stringify(whole)));
    expect(messageIn(streamed)).toMatchObject({ text: 'ab', reasoning: 'hm', finish: 'tool_use' });
  });

  test('responses, whole and in pieces, are the same', () => {
    const output = [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ab' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"x":1}' },
    ];
    const usage = { input_tokens: 3, output_tokens: 4, output_tokens_details: { reasoning_tokens: 1 } };
    const whole = { object: 'response', model: 'm', status: 'completed', output, usage };
    const streamed = sse(
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
      { type: 'response.output_text.delta', output_index: 0, delta: 'a' },
      { type: 'response.output_text.delta', output_index: 0, delta: 'b' },
      { type: 'response.output_item.added', output_index: 1, item: { ...output[1], arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"x"' },
      { type: 'response.function_call_arguments.done', output_index: 1, arguments: '{"x":1}' },
      { type: 'response.completed', response: whole },
    );
    expect(messageIn(streamed)).toEqual(messageIn(JSON.stringify(whole)));
    expect(messageIn(streamed)?.usage).toEqual({ inputTokens: 3, outputTokens: 4, reasoningTokens: 1 });
  });

  test('Gemini, thoughts and calls told apart from text', () => {
    const part = (value: object, more: object = {}) => ({
      candidates: [{ content: { parts: [value] }, ...more }],
      modelVersion: 'm',
    });
    const text = sse(
      part({ text: 'hm', thought: true }),
      part({ text: 'a' }),
      part({ functionCall: { name: 'f', args: { x: 1 } } }),
      part({ functionCall: { name: 'g' } }, { finishReason: 'STOP' }),
    );
    expect(messageIn(text)).toMatchObject({
      text: 'a',
      reasoning: 'hm',
      toolCalls: [
        { id: '', name: 'f', arguments: '{"x":1}' },
        { id: '', name: 'g', arguments: '{}' },
      ],
      finish: 'STOP',
    });
  });

  test('Converse, out of the frames of Bedrock', () => {
    const frames = Buffer.concat([
      frame('messageStart', { role: 'assistant' }),
      frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'ä' } }),
      frame('contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 't', name: 'f' } } }),
      frame('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{"x":1}' } } }),
      frame('messageStop', { stopReason: 'tool_use' }),
      frame('metadata', { usage: { inputTokens: 3, outputTokens: 4 } }),
    ]);
    const events = framesAsEvents(frames) ?? '';
    expect(events).toContain('event: messageStop\ndata: {"stopReason":"tool_use"}');
    const message = messageIn(events);
    expect(message).toMatchObject({
      text: 'ä',
      toolCalls: [{ id: 't', name: 'f', arguments: '{"x":1}' }],
      finish: 'tool_use',
      usage: { inputTokens: 3, outputTokens: 4 },
    });
    // A recording may end inside a frame.
    expect(framesAsEvents(frames.subarray(0, frames.length - 9))).toBe(
      events.slice(0, events.indexOf('event: metadata')),
    );
  });

  test.each([
    ['an error body', '{"error":{"message":"no","type":"x"}}', 'no'],
    ['an error in a stream', sse({ choices: [{ delta: { content: 'a' } }] }, { error: { message: 'cut' } }), 'cut'],
    ['an error event', 'event: error\ndata: {"type":"error","error":{"message":"busy"}}\n\n', 'busy'],
  ])('%s is told', (_name, text, error) => {
    expect(messageIn(text)?.error).toBe(error);
  });

  test('a stream that was cut inside an event keeps what came before', () => {
    expect(messageIn(`${sse({ choices: [{ delta: { content: 'a' } }] })}data: {"choices":[{"del`)?.text).toBe('a');
  });

  test('streams are told from other texts', () => {
    expect([': comment\n\ndata: x\n\n', 'event: a\ndata: b\n\n', '\n\ndata:x'].map(isEventStream)).toEqual([
      true,
      true,
      true,
    ]);
    expect(['', '{"data": 1}', 'database: x', 'hello\ndata: x'].map(isEventStream)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test('nothing that a body may hold is thrown over', () => {
    const bodies = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc.jsonValue().map((value) => `data: ${JSON.stringify(value)}\n\n`),
      fc
        .record({
          choices: fc.array(fc.record({ index: fc.jsonValue(), delta: fc.jsonValue(), message: fc.jsonValue() })),
          type: fc.constantFrom('message', 'message_start', 'content_block_start', 'response.completed', 'error'),
          content: fc.jsonValue(),
          usage: fc.jsonValue(),
          candidates: fc.jsonValue(),
          contentBlockIndex: fc.jsonValue(),
        })
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(bodies, (text) => {
        messageIn(text);
        promptIn(text);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        framesAsEvents(Buffer.from(bytes));
      }),
    );
  });
});

describe('what was asked last', () => {
  test.each([
    [
      'completions',
      {
        messages: [
          { role: 'system', content: 's' },
          { role: 'user', content: 'hello' },
        ],
      },
      'hello',
    ],
    [
      'parts',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
        ],
      },
      'a b',
    ],
    [
      'a tool answered since',
      {
        messages: [
          { role: 'user', content: 'weather?' },
          { role: 'assistant', content: null },
          { role: 'user', content: [{ type: 'tool_result', content: 'rain' }] },
        ],
      },
      'weather?',
    ],
    ['responses', { input: 'hello' }, 'hello'],
    ['items', { input: [{ role: 'user', content: [{ type: 'input_text', text: 'hello' }] }] }, 'hello'],
    ['Gemini', { contents: [{ parts: [{ text: 'hello' }] }] }, 'hello'],
    ['nothing', { model: 'm' }, undefined],
  ])('%s', (_name, body, prompt) => {
    expect(promptIn(JSON.stringify(body))).toBe(prompt);
  });
});
