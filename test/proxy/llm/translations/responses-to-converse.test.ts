import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { LlmFailure } from '../../../../proxy/llm/failure.ts';
import { responsesToConverse } from '../../../../proxy/llm/translations/responses-to-converse/index.ts';
import { begin, type Facts, streamed, unlessRefused } from './recorded.ts';

function converse(fields: JsonObject, facts: Facts = {}) {
  return begin(responsesToConverse, { model: 'm', input: 'Hello', ...fields }, facts);
}

describe('input', () => {
  test('that is a text is a turn of the user', () => {
    expect(converse({ instructions: 'Be brief.' }).body).toEqual({
      system: [{ text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
      inferenceConfig: { maxTokens: 4096 },
    });
  });

  test('that is a list becomes turns that alternate', () => {
    const { body, dropped } = converse({
      instructions: 'First.',
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: 'Then.' }] },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBO' },
            { type: 'input_file', filename: 'a.csv', file_data: 'YSxi' },
            { type: 'input_file', filename: 'a.csv', file_data: 'data:text/csv;base64,YSxi' },
            { type: 'input_file', file_url: 'https://example.com/a.pdf' },
          ],
        },
        { type: 'reasoning', id: 'rs', summary: [] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I see' }] },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call', call_id: 'c2', name: 'f', arguments: 'broken' },
        { type: 'custom_tool_call', call_id: 'c3', name: 'sh', input: 'ls' },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
        { type: 'function_call_output', call_id: 'c2', output: 'two' },
        { type: 'custom_tool_call_output', call_id: 'c3', output: [{ type: 'input_text', text: 'three' }] },
      ],
    });
    expect(body['system']).toEqual([{ text: 'First.' }, { text: 'Then.' }]);
    expect(body['messages']).toEqual([
      {
        role: 'user',
        content: [
          { text: 'Look' },
          { image: { format: 'png', source: { bytes: 'iVBO' } } },
          { document: { format: 'csv', name: 'a', source: { bytes: 'YSxi' } } },
          { document: { format: 'csv', name: 'a [2]', source: { bytes: 'YSxi' } } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { text: 'I see' },
          { toolUse: { toolUseId: 'c1', name: 'f', input: { a: 1 } } },
          { toolUse: { toolUseId: 'c3', name: 'sh', input: { input: 'ls' } } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c1', content: [{ text: 'one' }] } },
          { toolResult: { toolUseId: 'c3', content: [{ text: 'three' }] } },
        ],
      },
    ]);
    expect(body['toolConfig']).toMatchObject({ tools: [{ toolSpec: { name: 'gw_dummy_do_not_call' } }] });
    expect(dropped).toEqual(['input[1].content[4]', 'input[2]', 'input[5]', 'input[8]']);
  });

  test('with an image that has an address is refused', () => {
    const content = [{ type: 'input_image', image_url: 'https://example.com/a.png' }];
    expect(() => converse({ input: [{ role: 'user', content }] })).toThrow(LlmFailure);
  });
});

describe('settings', () => {
  test('are called as Converse calls them', () => {
    const { body, dropped } = converse({
      max_output_tokens: 50,
      temperature: 0.5,
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: true }, { type: 'web_search' }],
      tool_choice: { type: 'function', name: 'f' },
      text: { format: { type: 'json_schema', name: 'n', schema: {}, description: 'd' }, verbosity: 'low' },
      previous_response_id: 'resp_1',
      store: true,
    });
    expect(body).toMatchObject({
      inferenceConfig: { maxTokens: 50, temperature: 0.5 },
      toolConfig: {
        tools: [{ toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } }],
        toolChoice: { tool: { name: 'f' } },
      },
      outputConfig: {
        textFormat: { structure: { jsonSchema: { schema: '{}', name: 'n', description: 'd' } } },
      },
    });
    expect(dropped).toEqual(['previous_response_id', 'store', 'tools[0].strict', 'tools[1]', 'text.verbosity']);
  });

  test.each([
    [{ reasoning: { effort: 'medium' } }, 2048],
    [{ reasoning: { effort: 'medium' }, vendor_extensions: { thinking_budget_tokens: 3000 } }, 3000],
  ])('of thinking: %j', (fields, budget_tokens) => {
    const { body } = converse({ ...fields, temperature: 1 });
    expect(body['additionalModelRequestFields']).toEqual({ thinking: { type: 'enabled', budget_tokens } });
    expect(body['inferenceConfig']).toEqual({ maxTokens: 4096 + budget_tokens });
  });
});

const USAGE = { inputTokens: 5, outputTokens: 7, totalTokens: 12, cacheReadInputTokens: 2 };

describe('an answer', () => {
  test('is a response', () => {
    const { call } = converse({ tools: [{ type: 'function', name: 'mcp.f' }] });
    const content = [
      { reasoningContent: { reasoningText: { text: 'Hm' } } },
      { text: 'Hi' },
      { toolUse: { toolUseId: 't1', name: 'mcp_f', input: {} } },
    ];
    const response = call.response({ output: { message: { content } }, stopReason: 'tool_use', usage: USAGE });
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      output: [
        { type: 'reasoning', summary: [{ text: 'Hm' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
        { type: 'function_call', call_id: 't1', name: 'mcp.f', arguments: '{}' },
      ],
      usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12, input_tokens_details: { cached_tokens: 2 } },
    });
  });

  test.each([
    ['max_tokens', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }],
    ['guardrail_intervened', { status: 'failed', error: { code: 'content_filter' } }],
    ['end_turn', { status: 'completed' }],
  ])('that stopped by %s', (stopReason, expected) => {
    const answer = { output: { message: { content: [{ text: 'x' }] } }, stopReason };
    expect(converse({}).call.response(answer)).toMatchObject(expected);
  });

  test('without a message is refused', () => {
    expect(() => converse({}).call.response({ stopReason: 'end_turn' })).toThrow(LlmFailure);
  });

  test('of an error is in the envelope of OpenAI', () => {
    expect(converse({}).call.error(400, '{"message":"no"}')).toMatchObject({ error: { message: 'no' } });
  });
});

describe('a stream', () => {
  test('ends with the whole response', () => {
    const written = streamed(converse({}).call, [
      ['messageStart', { role: 'assistant' }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm' } } }],
      ['contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Hi' } }],
      ['contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 't1', name: 'f' } } }],
      ['contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '{"a":1}' } } }],
      ['contentBlockStop', { contentBlockIndex: 2 }],
      ['messageStop', { stopReason: 'tool_use' }],
      ['metadata', { usage: USAGE }],
    ]);
    for (const { name, data } of written) expect(data['type']).toBe(name);
    expect(written[0]?.name).toBe('response.created');
    expect(written.at(-1)).toMatchObject({
      name: 'response.completed',
      data: {
        response: {
          output: [
            { type: 'reasoning' },
            { type: 'message', content: [{ text: 'Hi' }] },
            { type: 'function_call', call_id: 't1', arguments: '{"a":1}' },
          ],
          usage: { input_tokens: 5, output_tokens: 7 },
        },
      },
    });
  });

  test('that is cut fails', () => {
    expect(streamed(converse({}).call, [['messageStart', {}]]).at(-1)).toMatchObject({ name: 'error' });
  });
});

test('whatever a client sends, either a request or a failure comes of it', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const part = fc.record({
    type: fc.constantFrom('input_text', 'input_image', 'input_file', 'x'),
    text: value,
    image_url: value,
    file_data: value,
  });
  const item = fc.record({
    type: fc.constantFrom('message', 'function_call', 'function_call_output', 'custom_tool_call', 'x'),
    role: fc.constantFrom('user', 'assistant', 'system'),
    content: fc.oneof(value, fc.array(part)),
    arguments: value,
    call_id: value,
    output: value,
  });
  const body = fc.record({ input: fc.oneof(value, fc.array(item)), tools: value, tool_choice: value, text: value });
  fc.assert(
    fc.property(body, (fields) => {
      const sent = JSON.parse(JSON.stringify(fields)) as JsonObject; // plain data, as it would arrive
      const made = unlessRefused(() => converse(sent).body);
      expect(made === undefined || Array.isArray(made['messages'])).toBe(true);
    }),
    { numRuns: 150 },
  );
});
