import OpenAI from 'openai';
import type {
  ChatCompletion,
  ChatCompletionCreateParamsNonStreaming as Ask,
  ChatCompletionMessageParam as Message,
} from 'openai/resources/chat/completions';

import { type Chat, type ChatClient, parsed, PNG, type Question, type Told } from '../client.ts';
import { CLIENT_KEY } from '../world.ts';
import { openaiErrors, openaiFailure } from './openai-errors.ts';

/** The library `openai`, with chat completions. */
export const openaiChat: ChatClient = {
  name: 'openai, chat completions',
  format: 'completions',
  at: (url) => chat(new OpenAI({ apiKey: CLIENT_KEY, baseURL: `${url}/v1`, maxRetries: 0 })),
  finish: { stop: 'stop', length: 'length', calls: 'tool_calls', filtered: 'content_filter' },
  refused: { finish: 'stop', worded: true },
  countsCached: true,
  errors: openaiErrors,
  failure: openaiFailure,
};

function chat(client: OpenAI): Chat {
  return {
    async ask(model, question) {
      const body: Ask = { model, ...asked(question) };
      if (!question.stream) return told(await client.chat.completions.create(body));
      const stream = client.chat.completions.stream({ ...body, stream: true });
      // The library puts together what it knows; thoughts are fields that it does not.
      let reasoning = '';
      let signature = '';
      stream.on('chunk', ({ choices }) => {
        const delta = thoughtsOf(choices[0]?.delta ?? {});
        reasoning += delta.reasoning_content ?? '';
        signature += delta.reasoning_signature ?? '';
      });
      const answer = told(await stream.finalChatCompletion());
      const thoughts = reasoning === '' ? {} : { reasoning_content: reasoning };
      const signed = signature === '' ? {} : { reasoning_signature: signature };
      // `as`: made of a message.
      const reply = answer.reply as Message;
      return { ...answer, reasoning, reply: { ...reply, ...thoughts, ...signed } };
    },
    async pieces(model, prompt, signal) {
      const stream = await client.chat.completions.create(
        { model, messages: [{ role: 'user', content: prompt }], stream: true },
        { signal },
      );
      return texts(stream);
    },
  };
}

async function* texts(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): AsyncIterable<string> {
  for await (const { choices } of stream) {
    const text = choices[0]?.delta.content;
    if (typeof text === 'string' && text !== '') yield text;
  }
}

/** Fields of those who are like OpenAI. */
interface Thoughts {
  readonly reasoning_content?: string | null;
  readonly reasoning_signature?: string | null;
}

function thoughtsOf(message: object): Thoughts {
  return message;
}

function asked({ prompt, earlier = [], system, tools, schema, image, reasoning }: Question): Omit<Ask, 'model'> {
  const messages: Message[] = system === undefined ? [] : [{ role: 'system', content: system }];
  for (const { prompt: before, reply, results = [] } of earlier) {
    // `as`: what an earlier answer gave.
    messages.push({ role: 'user', content: before }, reply as Message);
    for (const { id, text } of results) messages.push({ role: 'tool', tool_call_id: id, content: text });
  }
  if (prompt !== null) messages.push({ role: 'user', content: image === true ? pictured(prompt) : prompt });
  return {
    messages,
    ...(tools === undefined
      ? {}
      : { tools: tools.map((each) => ({ type: 'function' as const, function: { ...each } })) }),
    ...(schema === undefined
      ? {}
      : { response_format: { type: 'json_schema' as const, json_schema: { name: 'answer', schema, strict: true } } }),
    ...(reasoning === true ? { reasoning_effort: 'low' as const, max_completion_tokens: 4096 } : {}),
  };
}

function pictured(text: string): OpenAI.ChatCompletionContentPart[] {
  return [
    { type: 'text', text },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
  ];
}

function told({ choices, usage }: ChatCompletion): Told {
  const [choice] = choices;
  if (choice === undefined) throw new Error('no choice');
  const { message, finish_reason: finish } = choice;
  const thoughts = thoughtsOf(message);
  return {
    text: message.content ?? '',
    reasoning: thoughts.reasoning_content ?? '',
    refusal: message.refusal ?? '',
    calls: (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, input: parsed(call.function.arguments) }]
        : [],
    ),
    finish,
    usage: {
      input: usage?.prompt_tokens ?? 0,
      cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      output: usage?.completion_tokens ?? 0,
    },
    reply: clean(message),
  };
}

/** What the library has added to the message for its readers is not sent back. */
function clean(message: ChatCompletion['choices'][number]['message']): unknown {
  const { role, content, tool_calls: calls } = message;
  const { reasoning_content: reasoning, reasoning_signature: signature } = thoughtsOf(message);
  return {
    role,
    content,
    ...(reasoning === undefined || reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(signature === undefined || signature === null ? {} : { reasoning_signature: signature }),
    ...(calls === undefined || calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call) =>
            call.type === 'function'
              ? {
                  id: call.id,
                  type: call.type,
                  function: { name: call.function.name, arguments: call.function.arguments },
                }
              : call,
          ),
        }),
  };
}
