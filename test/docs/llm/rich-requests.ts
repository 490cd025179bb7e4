import type { JsonObject } from '../../../proxy/exchange/attributes.ts';
import type { ChatFormat } from '../../../proxy/llm/formats.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const picture = 'data:image/png;base64,aGk=';

/** Requests that use nearly everything that their format has, and that every other format can take. */
export const richRequests: Readonly<Partial<Record<ChatFormat, JsonObject>>> = {
  completions: {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: picture } },
          { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
          { type: 'file', file: { file_id: 'f' } },
        ],
      },
      {
        role: 'assistant',
        content: 'Hm',
        reasoning_content: 'unsigned thought',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
      { role: 'user', content: 'Go on' },
    ],
    tools: [
      { type: 'function', function: { name: 'f', parameters, strict: true } },
      { type: 'custom', custom: { name: 'c' } },
    ],
    tool_choice: 'none',
    parallel_tool_calls: false,
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: parameters, strict: true } },
    max_completion_tokens: 4000,
    temperature: 1,
    top_p: 1,
    n: 2,
    stop: ['x'],
    seed: 1,
    frequency_penalty: 0.5,
    presence_penalty: 0.5,
    logit_bias: {},
    logprobs: true,
    top_logprobs: 1,
    user: 'u',
    safety_identifier: 's',
    metadata: { a: 'b' },
    store: true,
    service_tier: 'flex',
    prompt_cache_key: 'k',
    verbosity: 'low',
    modalities: ['text'],
    prediction: { type: 'content', content: 'x' },
    web_search_options: {},
  },
  messages: {
    model: 'm',
    max_tokens: 4000,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look', cache_control: { type: 'ephemeral' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Hm' },
          { type: 'tool_use', id: 't1', name: 'f', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'failed', is_error: true },
          { type: 'text', text: 'Go on' },
        ],
      },
    ],
    tools: [
      { name: 'f', input_schema: parameters, strict: true, cache_control: { type: 'ephemeral' } },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 1024 },
    output_config: { effort: 'low', format: { type: 'json_schema', schema: parameters } },
    temperature: 1,
    top_p: 1,
    top_k: 5,
    stop_sequences: ['x'],
    metadata: { user_id: 'u' },
    service_tier: 'auto',
    container: 'c',
    context_management: {},
    mcp_servers: [],
  },
  responses: {
    model: 'm',
    instructions: 'Be brief.',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: picture, detail: 'auto' },
          { type: 'input_file', file_id: 'f' },
        ],
      },
      { type: 'reasoning', id: 'r', summary: [] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
      { type: 'item_reference', id: 'x' },
      { role: 'user', content: 'Go on' },
    ],
    tools: [{ type: 'function', name: 'f', parameters, strict: true }, { type: 'web_search' }],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'a', schema: parameters, strict: true }, verbosity: 'low' },
    max_output_tokens: 4000,
    temperature: 1,
    top_p: 1,
    user: 'u',
    metadata: { a: 'b' },
    store: true,
    service_tier: 'flex',
    truncation: 'auto',
    include: ['reasoning.encrypted_content'],
    previous_response_id: 'p',
    prompt_cache_key: 'k',
    background: false,
    max_tool_calls: 1,
    top_logprobs: 1,
  },
};
