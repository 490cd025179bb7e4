import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { LlmFailure } from '../../../../proxy/llm/failure.ts';
import { messagesToConverse } from '../../../../proxy/llm/translations/messages-to-converse/index.ts';
import { begin, type Facts, streamed, unlessRefused } from './recorded.ts';

function converse(fields: JsonObject, facts: Facts = {}) {
  return begin(messagesToConverse, { model: 'm', max_tokens: 100, messages: [], ...fields }, facts);
}

const user = (content: JsonObject[string]): JsonObject => ({ role: 'user', content });
const MARK = { cache_control: { type: 'ephemeral' } };
const POINT = { cachePoint: { type: 'default' } };
const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  description: 'd',
  input_schema: { type: 'object' },
  ...more,
});

describe('a conversation', () => {
  test('keeps its blocks', () => {
    const { body, dropped } = converse({
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'system', content: 'And kind.' },
        user('Hello'),
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'sig' },
            { type: 'thinking', thinking: 'unsigned', signature: '' },
            { type: 'redacted_thinking', data: 'AAAA' },
            { type: 'text', text: 'Hi' },
            { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
            { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
          ],
        },
        user([
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            is_error: true,
            content: [
              { type: 'text', text: 'broken' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
              { type: 'tool_reference', tool_name: 'x' },
            ],
          },
          { type: 'document', title: 'notes.txt', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
          { type: 'text', text: 'See?' },
        ]),
      ],
      tools: [tool('f'), { type: 'web_search_20250305', name: 'web_search' }],
    });
    expect(body).toEqual({
      system: [{ text: 'Be brief.' }, { text: 'And kind.' }],
      messages: [
        { role: 'user', content: [{ text: 'Hello' }] },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm', signature: 'sig' } } },
            { reasoningContent: { redactedContent: 'AAAA' } },
            { text: 'Hi' },
            { toolUse: { toolUseId: 'toolu_1', name: 'f', input: { a: 1 } } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              toolResult: {
                toolUseId: 'toolu_1',
                status: 'error',
                content: [{ text: 'broken' }, { image: { format: 'png', source: { bytes: 'iVBO' } } }],
              },
            },
            { document: { format: 'txt', name: 'notes', source: { bytes: 'aGk=' } } },
            { text: 'See?' },
          ],
        },
      ],
      inferenceConfig: { maxTokens: 100 },
      toolConfig: { tools: [{ toolSpec: { name: 'f', description: 'd', inputSchema: { json: { type: 'object' } } } }] },
    });
    expect(dropped).toEqual([
      'tools[1]',
      'messages[2].content[1]',
      'messages[2].content[5]',
      'messages[3].content[0].content[2]',
      'messages[3].content[2]',
    ]);
  });

  test('with an image that has an address is refused', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    expect(() => converse({ messages: [user([image])] })).toThrow(LlmFailure);
  });

  test('has at most four cache points: of the system, then messages, then tools', () => {
    const text = (said: string) => ({ type: 'text', text: said, ...MARK });
    const { body, dropped } = converse({
      system: [text('a')],
      messages: [user([text('b'), { type: 'text', text: ' ', ...MARK }, text('c')]), user([text('d')])],
      tools: [tool('f', MARK)],
    });
    expect(body['system']).toEqual([{ text: 'a' }, POINT]);
    expect(body['messages']).toEqual([
      { role: 'user', content: [{ text: 'b' }, POINT, { text: 'c' }, POINT, { text: 'd' }, POINT] },
    ]);
    expect(body['toolConfig']).toMatchObject({ tools: [{ toolSpec: {} }] });
    expect(dropped).toEqual(['tools[0].cache_control']);
  });

  test('keeps an hour where the client asks for one', () => {
    const system = [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }];
    expect(converse({ system }).body['system']).toEqual([
      { text: 'a' },
      { cachePoint: { type: 'default', ttl: '1h' } },
    ]);
  });
});

describe('settings', () => {
  test('that only the model understands go along', () => {
    const { body, dropped } = converse(
      {
        temperature: 0.5,
        top_p: 0.9,
        top_k: 7,
        stop_sequences: ['END'],
        metadata: { user_id: 'u' },
        output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
        service_tier: 'auto',
        thinking: { type: 'adaptive' },
      },
      { headers: { 'anthropic-beta': 'context-1m-2025-08-07,unknown' } },
    );
    expect(body).toEqual({
      messages: [],
      inferenceConfig: { maxTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
      additionalModelRequestFields: {
        thinking: { type: 'adaptive' },
        top_k: 7,
        output_config: { effort: 'low' },
        metadata: { user_id: 'u' },
        anthropic_beta: ['context-1m-2025-08-07'],
      },
      outputConfig: {
        textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: '{"type":"object"}' } } },
      },
    });
    expect(dropped).toEqual(['service_tier', 'anthropic-beta: unknown']);
  });

  test('of thinking take the place of sampling, and calls are not forced', () => {
    const { body, dropped, changed } = converse({
      thinking: { type: 'enabled', budget_tokens: 2000 },
      temperature: 1,
      top_k: 3,
      tools: [tool('f')],
      tool_choice: { type: 'tool', name: 'f' },
    });
    expect(body).toMatchObject({
      inferenceConfig: { maxTokens: 100 },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
      toolConfig: { toolChoice: { auto: {} } },
    });
    expect(dropped).toEqual(['temperature', 'top_k']);
    expect(changed.join()).toContain('tool_choice tool');
  });

  test.each([
    [{ type: 'auto' }, { auto: {} }],
    [{ type: 'any' }, { any: {} }],
    [{ type: 'tool', name: 'mcp.f' }, { tool: { name: 'mcp_f' } }],
    [{ type: 'none' }, undefined],
  ])('of calls: %j', (tool_choice, toolChoice) => {
    const { toolConfig } = converse({ tools: [tool('mcp.f')], tool_choice }).body as { toolConfig: JsonObject };
    expect(toolConfig['toolChoice']).toEqual(toolChoice);
  });
});

describe('an answer', () => {
  test('is a message', () => {
    const { call } = converse({ tools: [tool('mcp.f')] });
    const message = call.response({
      output: {
        message: {
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm', signature: 'sig' } } },
            { reasoningContent: { redactedContent: 'AAAA' } },
            { text: 'Hi' },
            { toolUse: { toolUseId: 't1', name: 'mcp_f', input: { a: 1 } } },
          ],
        },
      },
      stopReason: 'tool_use',
      usage: { inputTokens: 5, outputTokens: 7, cacheReadInputTokens: 3, cacheWriteInputTokens: 2 },
    });
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'anthropic.claude-sonnet-4',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 'sig' },
        { type: 'redacted_thinking', data: 'AAAA' },
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 't1', name: 'mcp.f', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 5, output_tokens: 7, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
    });
    expect(message['id']).toMatch(/^msg_[0-9a-f]{16,}$/);
  });

  test.each([
    ['guardrail_intervened', 'refusal'],
    ['content_filtered', 'refusal'],
    ['stop_sequence', 'stop_sequence'],
    ['malformed_model_output', 'end_turn'],
  ])('that stopped by %s stopped by %s', (stopReason, stop_reason) => {
    const answer = { output: { message: { content: [] } }, stopReason };
    expect(converse({}).call.response(answer)).toMatchObject({ stop_reason });
  });

  test('of an error is in the envelope of the client', () => {
    expect(converse({}).call.error(429, '{"message":"slow"}')).toEqual({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'slow' },
    });
    expect(converse({}).call.error(503, '<html>')).toMatchObject({ error: { type: 'api_error' } });
  });
});

describe('a stream', () => {
  const names = (written: ReturnType<typeof streamed>) => written.map(({ name }) => name);

  test('opens and closes its blocks, and ends with what Bedrock counted', () => {
    const { call } = converse({ tools: [tool('mcp.f')] });
    const written = streamed(call, [
      ['messageStart', { role: 'assistant' }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm' } } }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'sig' } } }],
      ['contentBlockStop', { contentBlockIndex: 0 }],
      ['contentBlockDelta', { contentBlockIndex: 1, delta: { reasoningContent: { redactedContent: 'AAAA' } } }],
      ['contentBlockStop', { contentBlockIndex: 1 }],
      ['contentBlockDelta', { contentBlockIndex: 2, delta: { text: 'Hi' } }],
      ['contentBlockStart', { contentBlockIndex: 3, start: { toolUse: { toolUseId: 't1', name: 'mcp_f' } } }],
      ['contentBlockDelta', { contentBlockIndex: 3, delta: { toolUse: { input: '{}' } } }],
      ['contentBlockStop', { contentBlockIndex: 3 }],
      ['messageStop', { stopReason: 'tool_use' }],
      ['metadata', { usage: { inputTokens: 5, outputTokens: 7 } }],
    ]);
    expect(names(written)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(
      written.filter(({ name }) => name === 'content_block_start').map(({ data }) => data['content_block']),
    ).toEqual([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'redacted_thinking', data: 'AAAA' },
      { type: 'text', text: '' },
      { type: 'tool_use', id: 't1', name: 'mcp.f', input: {} },
    ]);
    expect(written.find(({ name }) => name === 'message_delta')?.data).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { input_tokens: 5, output_tokens: 7 },
    });
  });

  test('without counts ends all the same; one that is cut fails', () => {
    expect(names(streamed(converse({}).call, [['messageStop', { stopReason: 'end_turn' }]]))).toEqual([
      'message_start',
      'message_delta',
      'message_stop',
    ]);
    const cut = streamed(converse({}).call, [['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'H' } }]]);
    expect(cut.at(-1)).toMatchObject({ name: 'error', data: { error: { type: 'api_error' } } });
  });
});

test('whatever a client sends, either a request or a failure comes of it', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const block = fc.record({
    type: fc.constantFrom('text', 'image', 'thinking', 'tool_use', 'tool_result', 'document', 'x'),
    text: value,
    source: value,
    content: value,
    cache_control: value,
    input: value,
  });
  const message = fc.record({
    role: fc.constantFrom('user', 'assistant', 'system'),
    content: fc.oneof(value, fc.array(block)),
  });
  const body = fc.record({
    messages: fc.array(message),
    system: value,
    tools: value,
    tool_choice: value,
    thinking: value,
  });
  fc.assert(
    fc.property(body, (fields) => {
      const sent = JSON.parse(JSON.stringify(fields)) as JsonObject; // plain data, as it would arrive
      const made = unlessRefused(() => converse(sent).body);
      expect(JSON.stringify(made ?? {}).split('"cachePoint"').length).toBeLessThanOrEqual(5);
    }),
    { numRuns: 150 },
  );
});
