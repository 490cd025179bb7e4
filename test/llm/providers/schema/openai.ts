import {
  anyObject,
  anything,
  between,
  bool,
  byField,
  check,
  count,
  either,
  fields,
  filled,
  integer,
  list,
  mapOf,
  nullable,
  number,
  oneOf,
  text,
} from './build.ts';

// Written after the types of the `openai` package (`resources/chat/completions`, `resources/responses`, …).

const breakpoint = { prompt_cache_breakpoint: fields({ mode: oneOf('explicit') }) };
const toolName = { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$' };
const effort = oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', null);
const tier = oneOf('auto', 'default', 'flex', 'scale', 'priority', null);
const jsonSchema = { name: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$' } };
const schemaOptions = { description: text, schema: anyObject, strict: nullable(bool) };
const moderation = nullable(
  fields(
    { model: text },
    {
      policy: nullable(
        fields(
          {},
          {
            input: nullable(fields({ mode: oneOf('score', 'block') })),
            output: nullable(fields({ mode: oneOf('score', 'block') })),
          },
        ),
      ),
    },
  ),
);

// ── chat completions ──

const textPart = fields({ type: oneOf('text'), text }, breakpoint);
const texts = either(text, list(textPart, { minItems: 1 }));
const userPart = byField('type', {
  text: fields({ text }, breakpoint),
  image_url: fields({ image_url: fields({ url: filled }, { detail: oneOf('auto', 'low', 'high') }) }, breakpoint),
  input_audio: fields({ input_audio: fields({ data: text, format: oneOf('wav', 'mp3') }) }, breakpoint),
  file: fields({ file: fields({}, { file_data: text, file_id: text, filename: text }) }, breakpoint),
});
const assistantPart = byField('type', { text: fields({ text }, breakpoint), refusal: fields({ refusal: text }) });
const toolCall = byField('type', {
  function: fields({ id: filled, function: fields({ name: filled, arguments: text }) }),
  custom: fields({ id: filled, custom: fields({ name: filled, input: text }) }),
});
const message = byField('role', {
  system: fields({ content: texts }, { name: text }),
  developer: fields({ content: texts }, { name: text }),
  user: fields({ content: either(text, list(userPart, { minItems: 1 })) }, { name: text }),
  assistant: fields(
    {},
    {
      content: either(text, list(assistantPart, { minItems: 1 }), { type: 'null' }),
      refusal: nullable(text),
      reasoning_content: nullable(text),
      name: text,
      audio: nullable(fields({ id: text })),
      tool_calls: list(toolCall, { minItems: 1 }),
      function_call: nullable(fields({ name: text, arguments: text })),
    },
  ),
  tool: fields({ content: texts, tool_call_id: filled }),
  function: fields({ content: nullable(text), name: text }),
});
const completionsTool = byField('type', {
  function: fields({
    function: fields({ name: toolName }, { description: text, parameters: anyObject, strict: nullable(bool) }),
  }),
  custom: fields({ custom: fields({ name: text }, { description: text, format: anyObject }) }),
});
const completionsToolChoice = either(
  oneOf('none', 'auto', 'required'),
  byField('type', {
    function: fields({ function: fields({ name: filled }) }),
    custom: fields({ custom: fields({ name: filled }) }),
    allowed_tools: fields({ allowed_tools: anyObject }),
  }),
);

export const completionsCheck = check(
  fields(
    { model: filled, messages: list(message, { minItems: 1 }) },
    {
      audio: nullable(anyObject),
      frequency_penalty: nullable(between(-2, 2)),
      function_call: anything,
      functions: list(anyObject, { minItems: 1 }),
      logit_bias: nullable(mapOf(number)),
      logprobs: nullable(bool),
      max_completion_tokens: nullable({ type: 'integer', minimum: 1 }),
      max_tokens: nullable({ type: 'integer', minimum: 1 }),
      metadata: nullable(mapOf(text)),
      modalities: nullable(list(oneOf('text', 'audio'))),
      moderation,
      n: nullable({ type: 'integer', minimum: 1, maximum: 128 }),
      parallel_tool_calls: bool,
      prediction: nullable(anyObject),
      presence_penalty: nullable(between(-2, 2)),
      prompt_cache_key: nullable(text),
      prompt_cache_options: anyObject,
      prompt_cache_retention: oneOf('in_memory', '24h', null),
      reasoning_effort: effort,
      response_format: byField('type', {
        text: fields({}),
        json_object: fields({}),
        json_schema: fields({ json_schema: fields(jsonSchema, schemaOptions) }),
      }),
      safety_identifier: nullable(text),
      seed: nullable(integer),
      service_tier: tier,
      stop: either({ type: 'null' }, text, list(text, { minItems: 1, maxItems: 4 })),
      store: nullable(bool),
      stream: nullable(bool),
      stream_options: nullable(fields({}, { include_usage: bool, include_obfuscation: bool })),
      temperature: nullable(between(0, 2)),
      tool_choice: completionsToolChoice,
      tools: list(completionsTool, { minItems: 1 }),
      top_logprobs: nullable({ type: 'integer', minimum: 0, maximum: 20 }),
      top_p: nullable(between(0, 1)),
      user: text,
      verbosity: oneOf('low', 'medium', 'high', null),
      web_search_options: anyObject,
    },
  ),
);

// ── responses ──

const inputPart = byField('type', {
  input_text: fields({ text }, breakpoint),
  input_image: fields(
    {},
    {
      detail: oneOf('low', 'high', 'auto', 'original'),
      file_id: nullable(text),
      image_url: nullable(text),
      ...breakpoint,
    },
  ),
  input_file: fields(
    {},
    { detail: text, file_data: text, file_id: nullable(text), file_url: text, filename: text, ...breakpoint },
  ),
});
const outputPart = byField('type', {
  output_text: fields({ text }, { annotations: list(anyObject), logprobs: list(anyObject) }),
  refusal: fields({ refusal: text }),
});
const status = oneOf('in_progress', 'completed', 'incomplete', null);
const outputItem = {
  message: fields(
    {
      role: oneOf('user', 'assistant', 'system', 'developer'),
      content: either(text, list(either(inputPart, outputPart))),
    },
    { id: text, status, phase: nullable(text) },
  ),
  function_call: fields(
    { call_id: filled, name: filled, arguments: text },
    { id: text, status, namespace: text, caller: anything },
  ),
  function_call_output: fields(
    { call_id: filled, output: either(text, list(inputPart)) },
    { id: nullable(text), status, caller: anything },
  ),
  custom_tool_call: fields({ call_id: filled, name: filled, input: text }, { id: text, namespace: text }),
  custom_tool_call_output: fields({ call_id: filled, output: either(text, list(inputPart)) }, { id: text }),
  reasoning: fields(
    { id: text, summary: list(fields({ type: oneOf('summary_text'), text })) },
    { content: list(anyObject), encrypted_content: nullable(text), status },
  ),
  item_reference: fields({ id: text }),
};
const easyMessage = fields(
  {
    role: oneOf('user', 'assistant', 'system', 'developer'),
    content: either(text, list(either(inputPart, outputPart), { minItems: 1 })),
  },
  { id: text, phase: nullable(text) },
);

export const responsesCheck = check(
  fields(
    { model: filled },
    {
      background: nullable(bool),
      context_management: nullable(list(anyObject)),
      conversation: anything,
      include: nullable(list(text)),
      input: either(text, list(either(byField('type', outputItem), easyMessage), { minItems: 1 })),
      instructions: nullable(text),
      max_output_tokens: nullable({ type: 'integer', minimum: 16 }),
      max_tool_calls: nullable(count),
      metadata: nullable(mapOf(text)),
      moderation,
      parallel_tool_calls: nullable(bool),
      previous_response_id: nullable(text),
      prompt: nullable(anyObject),
      prompt_cache_key: nullable(text),
      prompt_cache_options: anyObject,
      prompt_cache_retention: oneOf('in_memory', '24h', null),
      reasoning: nullable(
        fields({}, { effort, summary: oneOf('auto', 'concise', 'detailed', null), generate_summary: nullable(text) }),
      ),
      safety_identifier: nullable(text),
      service_tier: tier,
      store: nullable(bool),
      stream: nullable(bool),
      stream_options: nullable(fields({}, { include_obfuscation: bool })),
      temperature: nullable(between(0, 2)),
      text: fields(
        {},
        {
          format: byField('type', {
            text: fields({}),
            json_object: fields({}),
            json_schema: fields({ ...jsonSchema, schema: anyObject }, { description: text, strict: nullable(bool) }),
          }),
          verbosity: oneOf('low', 'medium', 'high', null),
        },
      ),
      tool_choice: either(
        oneOf('none', 'auto', 'required'),
        byField('type', {
          function: fields({ name: filled }),
          custom: fields({ name: filled }),
          allowed_tools: anyObject,
        }),
      ),
      tools: list(
        byField('type', {
          function: fields(
            { name: toolName },
            {
              description: nullable(text),
              parameters: nullable(anyObject),
              strict: nullable(bool),
              defer_loading: bool,
            },
          ),
          custom: fields({ name: text }, { description: text, format: anyObject }),
          web_search: anyObject,
          web_search_preview: anyObject,
          file_search: anyObject,
          code_interpreter: anyObject,
          image_generation: anyObject,
          mcp: anyObject,
        }),
      ),
      top_logprobs: nullable(count),
      top_p: nullable(between(0, 1)),
      truncation: oneOf('auto', 'disabled', null),
      user: text,
    },
  ),
);

// ── what is no chat ──

export const embeddingsCheck = check(
  fields(
    {
      model: filled,
      input: either(
        filled,
        list(filled, { minItems: 1 }),
        list(integer, { minItems: 1 }),
        list(list(integer), { minItems: 1 }),
      ),
    },
    { dimensions: { type: 'integer', minimum: 1 }, encoding_format: oneOf('float', 'base64'), user: text },
  ),
);

export const imagesCheck = check(
  fields(
    { prompt: filled },
    {
      model: text,
      n: nullable(count),
      size: nullable(text),
      quality: nullable(text),
      user: text,
      response_format: text,
    },
  ),
);

/** Cohere's, which others have taken over. */
export const rerankCheck = check(
  fields(
    { model: filled, query: filled, documents: list(text, { minItems: 1 }) },
    { top_n: { type: 'integer', minimum: 1 }, max_tokens_per_doc: count, priority: count, return_documents: bool },
  ),
);
