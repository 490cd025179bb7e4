import { Headers } from '../../../../proxy/exchange/headers.ts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { LlmFailure } from '../../../../proxy/llm/failure.ts';
import { completionsToConverse } from '../../../../proxy/llm/translations/completions-to-converse/index.ts';
import { begin, deltas, type Facts, streamed } from './recorded.ts';

function converse(fields: JsonObject, facts: Facts = {}) {
  return begin(completionsToConverse, { model: 'm', messages: [], ...fields }, facts);
}

const user = (content: JsonObject[string]): JsonObject => ({ role: 'user', content });
const callOf = (id: string, name: string, args: string): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const POINT = { cachePoint: { type: 'default' } };

describe('a conversation', () => {
  test('alternates, and blank texts are left out', () => {
    const { body, dropped } = converse({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: 'Be kind.' },
        user('Hello'),
        user([
          { type: 'text', text: ' ' },
          { type: 'image_url', image_url: { url: 'data:image/jpg;base64,/9j/' } },
        ]),
        user([{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } }]),
        { role: 'assistant', content: 'Hi', reasoning_content: 'Hm', reasoning_signature: 'sig' },
        { role: 'assistant', content: '', reasoning_content: 'unsigned' },
        user([{ type: 'input_audio', input_audio: {} }]),
      ],
    });
    expect(body).toEqual({
      system: [{ text: 'Be brief.\nBe kind.' }],
      messages: [
        {
          role: 'user',
          content: [
            { text: 'Hello' },
            { image: { format: 'jpeg', source: { bytes: '/9j/' } } },
            { document: { format: 'pdf', name: 'a', source: { bytes: 'JVBE' } } },
          ],
        },
        {
          role: 'assistant',
          content: [{ reasoningContent: { reasoningText: { text: 'Hm', signature: 'sig' } } }, { text: 'Hi' }],
        },
      ],
    });
    expect(dropped).toEqual(['messages[6].reasoning_content', 'messages[7].content[0]']);
  });

  test.each([['https://example.com/a.png'], ['data:text/plain;base64,AA=='], ['data:image/png,AA'], ['']])(
    'with the image %s is refused',
    (url) => {
      const part = { type: 'image_url', image_url: { url } };
      expect(() => converse({ messages: [user([part])] })).toThrow(LlmFailure);
    },
  );

  test('keeps calls and their answers together, by names and ids that Bedrock takes', () => {
    const { body } = converse({
      messages: [
        user('Weather?'),
        {
          role: 'assistant',
          tool_calls: [callOf('call:1', 'mcp.weather', '{"city":"Paris"}'), callOf('call_2', 'clock', '[]')],
        },
        { role: 'tool', tool_call_id: 'call:1', content: 'sunny' },
        { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'noon' }] },
      ],
      tools: [{ type: 'function', function: { name: 'mcp.weather', parameters: { type: 'object' }, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'mcp.weather' } },
    });
    expect(body['messages']).toEqual([
      { role: 'user', content: [{ text: 'Weather?' }] },
      {
        role: 'assistant',
        content: [
          { toolUse: { toolUseId: 'call_1', name: 'mcp_weather', input: { city: 'Paris' } } },
          { toolUse: { toolUseId: 'call_2', name: 'clock', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'call_1', content: [{ text: 'sunny' }] } },
          { toolResult: { toolUseId: 'call_2', content: [{ text: 'noon' }] } },
        ],
      },
    ]);
    expect(body['toolConfig']).toEqual({
      tools: [{ toolSpec: { name: 'mcp_weather', inputSchema: { json: { type: 'object' } } } }],
      toolChoice: { tool: { name: 'mcp_weather' } },
    });
  });

  test('with calls and without tools gets one that nobody calls', () => {
    const { body, changed } = converse({
      messages: [user('?'), { role: 'assistant', tool_calls: [callOf('c', 'f', '')] }],
      tool_choice: 'auto',
    });
    expect(body['toolConfig']).toMatchObject({
      tools: [{ toolSpec: { name: 'gw_dummy_do_not_call', inputSchema: { json: { type: 'object' } } } }],
    });
    expect(changed).toContain('+ toolConfig');
    expect(converse({ messages: [user('?')] }).body['toolConfig']).toBeUndefined();
  });
});

describe('settings', () => {
  test('are called as Converse calls them; what it has no place for is reported', () => {
    const { body, dropped } = converse(
      {
        temperature: 0.5,
        top_p: 0.9,
        max_completion_tokens: 20,
        stop: ['A', 'B'],
        user: 'me',
        top_k: 3,
        thinking_budget_tokens: 3,
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } },
      },
      {
        guardrail: { identifier: 'g', version: '2' },
        headers: { 'x-bedrock-metadata': '{"team":"a","n":1,"on":true,"list":[]}' },
      },
    );
    expect(body).toEqual({
      messages: [],
      inferenceConfig: { maxTokens: 20, temperature: 0.5, topP: 0.9, stopSequences: ['A', 'B'] },
      guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '2', trace: 'enabled' },
      requestMetadata: { team: 'a', n: '1', on: 'true' },
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { schema: '{"type":"object"}', name: 'n' } },
        },
      },
    });
    expect(dropped).toEqual(['user', 'top_k', 'thinking_budget_tokens', 'response_format.json_schema.strict']);
  });

  test('metadata that is no object is left out', () => {
    const { body, dropped } = converse({}, { headers: { 'x-bedrock-metadata': 'oops' } });
    expect(body['requestMetadata']).toBeUndefined();
    expect(dropped).toEqual(['x-bedrock-metadata']);
  });

  test('of thinking take the place of sampling', () => {
    const { body, dropped } = converse({ reasoning_effort: 'high', temperature: 0.2, max_tokens: 9000 });
    expect(body).toMatchObject({
      inferenceConfig: { maxTokens: 9000 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 4096 } },
    });
    expect(body['inferenceConfig']).not.toHaveProperty('temperature');
    expect(dropped).toEqual(['temperature']);
    expect(converse({ reasoning_effort: 'none' }).body['additionalModelRequestFields']).toBeUndefined();
  });

  test.each([
    ['auto', { auto: {} }],
    ['required', { any: {} }],
    ['none', undefined],
  ])('of calls: %s', (tool_choice, expected) => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    expect((converse({ tools, tool_choice }).body['toolConfig'] as JsonObject)['toolChoice']).toEqual(expected); // an object
  });
});

describe('the cache policy', () => {
  const promptCaching = {
    cacheSystem: true,
    cacheMessages: true,
    cacheTools: true,
    minTokens: 4,
    cacheMessageOffset: 0,
  };
  const fields = {
    messages: [
      { role: 'system', content: 'one two three four' },
      user('a'),
      { role: 'assistant', content: 'b' },
      user('c'),
    ],
    tools: [{ type: 'function', function: { name: 'f' } }],
  };

  test('puts cache points after the system, the last but one message and the tools', () => {
    const { body, changed } = converse(fields, { promptCaching });
    expect(body['system']).toEqual([{ text: 'one two three four' }, POINT]);
    expect(body['messages']).toMatchObject([
      { content: [{ text: 'a' }] },
      { content: [{ text: 'b' }, POINT] },
      { content: [{ text: 'c' }] },
    ]);
    expect(body['toolConfig']).toMatchObject({ tools: [{}, POINT] });
    expect(changed).toHaveLength(3);
  });

  test('may move back, but not beyond the first message', () => {
    const { body } = converse(fields, { promptCaching: { ...promptCaching, cacheMessageOffset: 9 } });
    expect(body['messages']).toMatchObject([{ content: [{ text: 'a' }, POINT] }, {}, {}]);
  });

  test.each([
    ['anthropic.claude-v2:1', false],
    ['anthropic.claude-instant-v1', false],
    ['us.anthropic.claude-sonnet-4-20250514-v1:0', true],
    ['amazon.nova-pro-v1:0', true],
    ['arn:aws:bedrock:eu-west-1:1:application-inference-profile/abc', true],
    ['meta.llama3', false],
  ])('holds for %s: %s', (model, holds) => {
    expect(JSON.stringify(converse(fields, { promptCaching, model }).body).includes('cachePoint')).toBe(holds);
  });

  test('leaves short systems and single messages alone', () => {
    const short = { messages: [{ role: 'system', content: 'one' }, user('a')] };
    expect(JSON.stringify(converse(short, { promptCaching }).body)).not.toContain('cachePoint');
  });
});

describe('an answer', () => {
  test('is a chat completion with the names that the client knows', () => {
    const { call } = converse({ tools: [{ type: 'function', function: { name: 'mcp.f' } }] });
    const completion = call.response({
      output: {
        message: {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm', signature: 'sig' } } },
            { reasoningContent: { redactedContent: 'AAAA' } },
            { text: 'Hello ' },
            { citationsContent: { content: [{ text: 'there' }], citations: [] } },
            { toolUse: { toolUseId: 't1', name: 'mcp_f', input: { a: 1 } } },
          ],
        },
      },
      stopReason: 'tool_use',
      usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12, cacheReadInputTokens: 3 },
    });
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'anthropic.claude-sonnet-4',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello there',
            reasoning_content: 'Hm',
            reasoning_signature: 'sig',
            tool_calls: [callOf('t1', 'mcp.f', '{"a":1}')],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 5,
        completion_tokens: 7,
        total_tokens: 12,
        cache_read_input_tokens: 3,
        prompt_tokens_details: { cached_tokens: 3 },
      },
    });
    expect(completion['id']).toMatch(/^bedrock-\d+$/);
  });

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['content_filtered', 'content_filter'],
    ['guardrail_intervened', 'content_filter'],
    ['malformed_tool_use', 'stop'],
  ])('that stopped by %s ended by %s', (stopReason, expected) => {
    const answer = { output: { message: { content: [] } }, stopReason, usage: {} };
    expect(converse({}).call.response(answer)).toMatchObject({ choices: [{ finish_reason: expected }] });
  });

  test.each([[{}], [{ output: {} }], [{ output: { message: {} } }], [{ output: { message: { content: 'x' } } }]])(
    'that has no message is refused: %j',
    (answer) => expect(() => converse({}).call.response(answer)).toThrow(LlmFailure),
  );
});

describe('a stream', () => {
  test('is made of chunks, and done after the usage', () => {
    const { call } = converse({ tools: [{ type: 'function', function: { name: 'mcp.f' } }] });
    const written = streamed(call, [
      ['initial-response', {}],
      ['messageStart', { role: 'assistant' }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm' } } }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'sig' } } }],
      ['contentBlockDelta', { contentBlockIndex: 1, delta: { reasoningContent: { redactedContent: 'AA' } } }],
      ['contentBlockDelta', { contentBlockIndex: 2, delta: { text: 'Hi' } }],
      ['contentBlockStart', { contentBlockIndex: 3, start: { toolUse: { toolUseId: 't1', name: 'mcp_f' } } }],
      ['contentBlockDelta', { contentBlockIndex: 3, delta: { toolUse: { input: '{"a"' } } }],
      ['contentBlockDelta', { contentBlockIndex: 3, delta: { toolUse: { input: ':1}' } } }],
      ['contentBlockStop', { contentBlockIndex: 3 }],
      ['contentBlockStart', { contentBlockIndex: 4, start: { toolUse: { toolUseId: 't2', name: 'g' } } }],
      ['contentBlockStop', { contentBlockIndex: 4 }],
      ['somethingNew', { contentBlockIndex: 5 }],
      ['messageStop', { stopReason: 'tool_use' }],
      ['metadata', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }, metrics: { latencyMs: 1 } }],
    ]);
    expect(deltas(written)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'Hm' },
      { reasoning_signature: 'sig' },
      { reasoning_content: '[REDACTED]' },
      { content: 'Hi' },
      { tool_calls: [{ index: 0, ...callOf('t1', 'mcp.f', '') }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
      { tool_calls: [{ index: 1, ...callOf('t2', 'g', '') }] },
      { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
      { finish: 'tool_calls' },
      { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
      '[DONE]',
    ]);
  });

  test('that ends too early is not done', () => {
    const written = streamed(converse({}).call, [['contentBlockDelta', { delta: { text: 'Hi' } }]]);
    expect(deltas(written)).toMatchObject([{ content: 'Hi' }, { error: { type: 'server_error' } }]);
  });
});

test.each([
  ['{"message":"too many"}', 'too many'],
  ['{"Message":"signature"}', 'signature'],
  ['<html>Bad gateway</html>', 'Bedrock answered with status 429'],
  ['', 'Bedrock answered with status 429'],
  ['[]', 'Bedrock answered with status 429'],
])('the error %s tells the client %s', (body, message) => {
  expect(converse({}).call.error(429, body)).toEqual({
    event_id: null,
    error: { type: 'rate_limit_error', message, param: null, code: null },
  });
});

test.each([
  ['ThrottlingException:http://internal.amazon.com/coral/', '{"message":"slow down"}'],
  ['ThrottlingException', '{"message":"slow down"}'],
  [undefined, '{"__type":"com.amazon.coral#ThrottlingException","message":"slow down"}'],
])('an error has the name that Bedrock gives it: %s, %s', (name, body) => {
  const headers = Headers.from(name === undefined ? [] : [['x-amzn-errortype', name]]);
  expect(converse({}).call.error(429, body, headers)).toMatchObject({
    error: { type: 'rate_limit_error', code: 'ThrottlingException', message: 'slow down' },
  });
});

test('whatever a client sends, turns alternate and no text is blank', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const message = fc.record({
    role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'developer', 'x'),
    content: fc.oneof(value, fc.array(fc.record({ type: fc.constantFrom('text', 'refusal', 'file'), text: value }))),
    tool_calls: value,
    tool_call_id: value,
  });
  const body = fc.record({
    messages: fc.array(message, { maxLength: 6 }),
    tools: value,
    tool_choice: value,
    stop: value,
  });
  fc.assert(
    fc.property(body, (fields) => {
      const made = converse(JSON.parse(JSON.stringify(fields)) as JsonObject).body; // plain data, as it would arrive
      const messages = made['messages'] as readonly { role: string; content: readonly JsonObject[] }[]; // as they are made
      for (const [index, { role, content }] of messages.entries()) {
        expect(role).not.toBe(messages[index + 1]?.role);
        expect(content.length).toBeGreaterThan(0);
        const blank = content.filter(({ text }) => typeof text === 'string' && text.trim() === '');
        expect(blank).toEqual([]);
      }
    }),
    { numRuns: 150 },
  );
});
