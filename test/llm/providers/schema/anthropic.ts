import {
  anyObject,
  anything,
  between,
  bool,
  byField,
  check,
  either,
  fields,
  filled,
  list,
  nullable,
  oneOf,
  text,
} from './build.ts';

// Written after the types of the `@anthropic-ai/sdk` package (`resources/messages`).

const cache = { cache_control: nullable(fields({ type: oneOf('ephemeral') }, { ttl: oneOf('5m', '1h') })) };
const textBlock = fields(
  { text: { type: 'string', pattern: '\\S' } },
  { ...cache, citations: nullable(list(anyObject)) },
);
const imageSource = byField('type', {
  base64: fields({ media_type: oneOf('image/jpeg', 'image/png', 'image/gif', 'image/webp'), data: filled }),
  url: fields({ url: filled }),
  file: fields({ file_id: filled }),
});
const imageBlock = fields({ source: imageSource }, cache);
const documentBlock = fields(
  {
    source: byField('type', {
      base64: fields({ media_type: oneOf('application/pdf'), data: filled }),
      text: fields({ media_type: oneOf('text/plain'), data: text }),
      content: fields({ content: anything }),
      url: fields({ url: filled }),
      file: fields({ file_id: filled }),
    }),
  },
  { ...cache, citations: nullable(fields({}, { enabled: bool })), context: nullable(text), title: nullable(text) },
);
const block = byField('type', {
  text: textBlock,
  image: imageBlock,
  document: documentBlock,
  search_result: anyObject,
  thinking: fields({ thinking: text, signature: filled }),
  redacted_thinking: fields({ data: filled }),
  tool_use: fields(
    { id: { type: 'string', pattern: '^[a-zA-Z0-9_-]+$' }, name: filled, input: anyObject },
    { ...cache, caller: anyObject },
  ),
  tool_result: fields(
    { tool_use_id: { type: 'string', pattern: '^[a-zA-Z0-9_-]+$' } },
    {
      ...cache,
      content: either(
        text,
        list(
          byField('type', { text: textBlock, image: imageBlock, document: documentBlock, search_result: anyObject }),
        ),
      ),
      is_error: bool,
    },
  ),
  server_tool_use: anyObject,
  web_search_tool_result: anyObject,
});
/** Tools of the client's own, and those that the service brings. */
const tool = either(
  fields(
    {
      name: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,128}$' },
      input_schema: { type: 'object', required: ['type'], properties: { type: { const: 'object' } } },
    },
    {
      ...cache,
      type: oneOf('custom', null),
      description: text,
      strict: bool,
      defer_loading: bool,
      eager_input_streaming: nullable(bool),
      input_examples: list(anyObject),
    },
  ),
  {
    type: 'object',
    required: ['type', 'name'],
    properties: { type: { type: 'string', pattern: '_\\d{8}$' }, name: text },
  },
);
const parallel = { disable_parallel_tool_use: bool };
const shared = {
  cache_control: cache.cache_control,
  output_config: fields(
    {},
    {
      effort: oneOf('low', 'medium', 'high', 'xhigh', 'max', null),
      format: nullable(fields({ type: oneOf('json_schema'), schema: anyObject })),
    },
  ),
  speed: oneOf('standard', 'fast', null),
  system: either(text, list(byField('type', { text: textBlock }))),
  thinking: byField('type', {
    enabled: fields({ budget_tokens: { type: 'integer', minimum: 1024 } }, { display: nullable(text) }),
    disabled: fields({}),
    adaptive: fields({}, { display: nullable(text) }),
  }),
  tool_choice: byField('type', {
    auto: fields({}, parallel),
    any: fields({}, parallel),
    tool: fields({ name: filled }, parallel),
    none: fields({}),
  }),
  tools: list(tool),
};
const messages = list(
  fields({
    role: oneOf('user', 'assistant'),
    content: either({ type: 'string', pattern: '\\S' }, list(block, { minItems: 1 })),
  }),
  { minItems: 1 },
);

const create = {
  max_tokens: { type: 'integer', minimum: 1 },
};
const creating = {
  ...shared,
  container: anything,
  inference_geo: nullable(text),
  metadata: fields({}, { user_id: nullable(text) }),
  service_tier: oneOf('auto', 'standard_only'),
  stop_sequences: list({ type: 'string', pattern: '\\S' }),
  stream: bool,
  temperature: between(0, 1),
  top_k: { type: 'integer', minimum: 0 },
  top_p: between(0, 1),
};

export const messagesCheck = check(fields({ model: filled, messages, ...create }, creating));
export const countCheck = check(fields({ model: filled, messages }, shared));
/** As clouds take it, which name the model in the path. */
export const cloudMessagesCheck = check(
  fields({ anthropic_version: filled, messages, ...create }, { ...creating, anthropic_beta: list(text) }),
);
export const cloudCountCheck = check(fields({ model: filled, messages }, { ...shared, anthropic_version: filled }));
