import Anthropic from '@anthropic-ai/sdk';
import type {
  ContentBlockParam,
  Message,
  MessageCreateParamsNonStreaming as Ask,
  MessageParam,
  RawMessageStreamEvent,
} from '@anthropic-ai/sdk/resources/messages';

import { type Chat, type ChatClient, PNG, type Question, type Told } from '../client.ts';
import { CLIENT_KEY } from '../world.ts';

/** The library `@anthropic-ai/sdk`. */
export const anthropic: ChatClient = {
  name: '@anthropic-ai/sdk',
  format: 'messages',
  at: (url) => chat(new Anthropic({ apiKey: CLIENT_KEY, baseURL: url, maxRetries: 0 })),
  finish: { stop: 'end_turn', length: 'max_tokens', calls: 'tool_use', filtered: 'refusal' },
  countsCached: false,
  errors: { 400: 'BadRequestError', 401: 'AuthenticationError', 429: 'RateLimitError', 500: 'InternalServerError' },
  failure(error) {
    if (!(error instanceof Anthropic.APIError)) throw error;
    return {
      kind: error.constructor.name,
      // `as`: the library leaves the types open.
      status: error.status as number | undefined,
      message: error.message,
      retryAfter: (error.headers as Headers | undefined)?.get('retry-after'),
    };
  },
};

function chat(client: Anthropic): Chat {
  return {
    async ask(model, question) {
      const body: Ask = { model, ...asked(question) };
      return told(
        question.stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body),
      );
    },
    async pieces(model, prompt, signal) {
      const stream = await client.messages.create(
        { model, max_tokens: 1000, messages: [{ role: 'user', content: prompt }], stream: true },
        { signal },
      );
      return texts(stream);
    },
  };
}

async function* texts(stream: AsyncIterable<RawMessageStreamEvent>): AsyncIterable<string> {
  for await (const event of stream)
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') yield event.delta.text;
}

function asked({ prompt, earlier = [], system, tools, schema, image, reasoning }: Question): Omit<Ask, 'model'> {
  const messages: MessageParam[] = [];
  for (const { prompt: before, reply, results = [] } of earlier) {
    // `as`: the content of an earlier answer.
    const content = reply as ContentBlockParam[];
    messages.push({ role: 'user', content: before }, { role: 'assistant', content });
    if (results.length > 0) {
      const blocks = results.map(({ id, text }) => ({ type: 'tool_result' as const, tool_use_id: id, content: text }));
      messages.push({ role: 'user', content: blocks });
    }
  }
  if (prompt !== null) messages.push({ role: 'user', content: image === true ? pictured(prompt) : prompt });
  return {
    max_tokens: 4096,
    messages,
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, parameters }) => ({
            name,
            input_schema: { type: 'object' as const, ...parameters },
          })),
        }),
    ...(schema === undefined
      ? {}
      : { output_config: { format: { type: 'json_schema' as const, schema: { ...schema } } } }),
    ...(reasoning === true ? { thinking: { type: 'enabled' as const, budget_tokens: 1024 } } : {}),
  };
}

function pictured(text: string): ContentBlockParam[] {
  return [
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    { type: 'text', text },
  ];
}

function told({ content, stop_reason: finish, usage }: Message): Told {
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    refusal: '',
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    finish: String(finish),
    usage: {
      input: usage.input_tokens,
      cached: usage.cache_read_input_tokens ?? 0,
      output: usage.output_tokens,
    },
    reply: content,
  };
}
