import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';

/** What services send: streams in their own formats, for tests of every translation. */

export function chunk(delta: JsonObject, finish: string | null = null): JsonObject {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-5.4-2026',
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

export function usageChunk(usage: JsonObject): JsonObject {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-5.4-2026', choices: [], usage };
}

export const chatUsage: JsonObject = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 5 },
};

/** Says something, then calls two tools at once whose arguments come in turns; the second has none. */
export const chatStream: readonly JsonObject[] = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Let me ' }),
  chunk({ content: 'look – ✓.' }),
  chunk({ tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'weather', arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
  chunk({ tool_calls: [{ index: 1, id: 'call_b', type: 'function', function: { name: 'now', arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '"Zürich"}' } }] }),
  chunk({}, 'tool_calls'),
  usageChunk(chatUsage),
];

export const messageStart: JsonObject = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 50, output_tokens: 1, cache_read_input_tokens: 7, cache_creation_input_tokens: 3 },
  },
};

/** Thinks, speaks, and calls two tools; the second has no arguments. */
export const messageStream: readonly JsonObject[] = [
  messageStart,
  { type: 'ping' },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm, ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'weather.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2lnbmVk' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Let me ' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'look.' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 'toolu_a', name: 'weather', input: {} },
  },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '"Zürich"}' } },
  { type: 'content_block_stop', index: 2 },
  { type: 'content_block_start', index: 3, content_block: { type: 'tool_use', id: 'toolu_b', name: 'now', input: {} } },
  { type: 'content_block_stop', index: 3 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 42, cache_read_input_tokens: null },
  },
  { type: 'message_stop' },
];

const response: JsonObject = { id: 'resp_1', object: 'response', model: 'gpt-5.4', status: 'in_progress', output: [] };

export const responseUsage: JsonObject = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 30 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 120,
};

/** Reasons, speaks in two parts, calls two tools at once. */
export const responseStream: readonly JsonObject[] = [
  { type: 'response.created', sequence_number: 0, response },
  { type: 'response.in_progress', sequence_number: 1, response },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
  { type: 'response.output_item.done', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
  },
  { type: 'response.content_part.added', output_index: 1, content_index: 0, part: { type: 'output_text', text: '' } },
  { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'Let me ' },
  { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'look.' },
  { type: 'response.output_text.done', output_index: 1, content_index: 0, text: 'Let me look.' },
  {
    type: 'response.content_part.done',
    output_index: 1,
    content_index: 0,
    part: { type: 'output_text', text: 'Let me look.' },
  },
  {
    type: 'response.content_part.done',
    output_index: 1,
    content_index: 1,
    part: { type: 'output_text', text: 'Whole.' },
  },
  {
    type: 'response.output_item.done',
    output_index: 1,
    item: {
      type: 'message',
      content: [
        { type: 'output_text', text: 'Let me look.' },
        { type: 'output_text', text: 'Whole.' },
      ],
    },
  },
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: { type: 'function_call', id: 'fc_1', call_id: 'call_a', name: 'weather', arguments: '' },
  },
  {
    type: 'response.output_item.added',
    output_index: 3,
    item: { type: 'function_call', id: 'fc_2', call_id: 'call_b', name: 'now', arguments: '' },
  },
  { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"city":' },
  { type: 'response.function_call_arguments.delta', output_index: 2, delta: '"Zürich"}' },
  { type: 'response.function_call_arguments.done', output_index: 2, arguments: '{"city":"Zürich"}' },
  {
    type: 'response.output_item.done',
    output_index: 2,
    item: { type: 'function_call', call_id: 'call_a', name: 'weather', arguments: '{"city":"Zürich"}' },
  },
  {
    type: 'response.output_item.done',
    output_index: 3,
    item: { type: 'function_call', call_id: 'call_b', name: 'now', arguments: '' },
  },
  {
    type: 'response.completed',
    response: {
      ...response,
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Let me look.' }] }],
      usage: responseUsage,
    },
  },
];
