import OpenAI from 'openai';
import type {
  Response,
  ResponseCreateParamsNonStreaming as Ask,
  ResponseInputItem as Item,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';

import { type Chat, type ChatClient, parsed, PNG, type Question, type Told } from '../client.ts';
import { CLIENT_KEY } from '../world.ts';
import { openaiErrors, openaiFailure } from './openai-errors.ts';

/** The library `openai`, with responses. */
export const openaiResponses: ChatClient = {
  name: 'openai, responses',
  format: 'responses',
  at: (url) => chat(new OpenAI({ apiKey: CLIENT_KEY, baseURL: `${url}/v1`, maxRetries: 0 })),
  finish: {
    stop: 'completed',
    length: 'incomplete: max_output_tokens',
    calls: 'completed',
    filtered: 'failed: content_filter',
  },
  refused: { finish: 'completed', worded: true },
  countsCached: true,
  errors: openaiErrors,
  failure: openaiFailure,
};

function chat(client: OpenAI): Chat {
  return {
    async ask(model, question) {
      const body: Ask = { model, ...asked(question) };
      if (!question.stream) return told(await client.responses.create(body));
      return told(await client.responses.stream({ ...body, stream: true }).finalResponse());
    },
    async pieces(model, prompt, signal) {
      return texts(await client.responses.create({ model, input: prompt, stream: true }, { signal }));
    },
  };
}

/** The library leaves it to its user to see that a stream failed. */
async function* texts(stream: AsyncIterable<ResponseStreamEvent>): AsyncIterable<string> {
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') yield event.delta;
    if (event.type === 'error')
      throw new OpenAI.APIError(undefined, { message: event.message, code: event.code }, event.message, undefined);
    if (event.type === 'response.failed') {
      const message = event.response.error?.message ?? '';
      throw new OpenAI.APIError(undefined, { message }, message, undefined);
    }
  }
}

function asked({ prompt, earlier = [], system, tools, schema, image, reasoning }: Question): Omit<Ask, 'model'> {
  const input: Item[] = [];
  for (const { prompt: before, reply, results = [] } of earlier) {
    // `as`: the output of an earlier answer.
    input.push({ role: 'user', content: before }, ...(reply as Item[]));
    for (const { id, text } of results) input.push({ type: 'function_call_output', call_id: id, output: text });
  }
  if (prompt !== null) input.push({ role: 'user', content: image === true ? pictured(prompt) : prompt });
  return {
    input,
    store: false,
    ...(system === undefined ? {} : { instructions: system }),
    ...(tools === undefined
      ? {}
      : { tools: tools.map((each) => ({ type: 'function' as const, ...each, strict: false })) }),
    ...(schema === undefined
      ? {}
      : { text: { format: { type: 'json_schema' as const, name: 'answer', schema: { ...schema }, strict: true } } }),
    ...(reasoning === true ? { reasoning: { effort: 'low' as const, summary: 'auto' as const } } : {}),
  };
}

function pictured(text: string): OpenAI.Responses.ResponseInputContent[] {
  return [
    { type: 'input_text', text },
    { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
  ];
}

function told({ output, status, incomplete_details: incomplete, error, usage }: Response): Told {
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  const why = incomplete?.reason ?? error?.code;
  return {
    text: parts.map((part) => (part.type === 'output_text' ? part.text : '')).join(''),
    reasoning: output
      .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
      .map(({ text }) => text)
      .join(''),
    refusal: parts.map((part) => (part.type === 'refusal' ? part.refusal : '')).join(''),
    calls: output.flatMap((item) =>
      item.type === 'function_call' ? [{ id: item.call_id, name: item.name, input: parsed(item.arguments) }] : [],
    ),
    finish: why === undefined ? String(status) : `${String(status)}: ${why}`,
    usage: {
      input: usage?.input_tokens ?? 0,
      cached: usage?.input_tokens_details?.cached_tokens ?? 0,
      output: usage?.output_tokens ?? 0,
    },
    reply: output.map(clean),
  };
}

/** The library adds what it has read out of the arguments. */
function clean(item: object): object {
  const { parsed_arguments: _parsed, ...rest } = { parsed_arguments: null, ...item };
  if (!('content' in rest) || !Array.isArray(rest.content)) return rest;
  const content = rest.content.map((part: object) => {
    const { parsed: _read, ...plain } = { parsed: null, ...part };
    return plain;
  });
  return { ...rest, content };
}
