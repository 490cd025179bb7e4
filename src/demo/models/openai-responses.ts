import { asArray, asObject, asText, type JsonObject } from '../../admin/protocol/lenient.ts';
import type { Answered, SentEvent, Vendor } from './contract.ts';
import { openai, textOf, typesIn } from './openai.ts';
import { piecesOf, type Asked } from './reply.ts';

/** OpenAI's newer way in. */
export const openaiResponses: Vendor = {
  ...openai,
  read: (path, body) => (path.endsWith('/responses') ? asked(body) : undefined),
  whole: ({ model }, reply) => response(model, reply),
  events,
};

function asked(body: JsonObject): Asked {
  const { input } = body;
  const items = (typeof input === 'string' ? [{ role: 'user', content: input }] : asArray(input)).map(asObject);
  const last = items.at(-1);
  return {
    model: asText(body['model']) ?? '',
    prompt: textOf(items.findLast((turn) => turn['role'] === 'user')?.['content']),
    streaming: body['stream'] === true,
    tools: asArray(body['tools'])
      .map(asObject)
      .map((tool) => ({ name: asText(tool['name']) ?? '', parameters: typesIn(tool['parameters']) })),
    toolResult: last?.['type'] === 'function_call_output' ? textOf(last['output']) : undefined,
  };
}

function response(model: string, reply: Answered | undefined): JsonObject {
  const { input = 0, output = 0 } = reply?.tokens ?? {};
  return {
    id: 'resp_demo',
    object: 'response',
    created_at: 0,
    model,
    status: reply === undefined ? 'in_progress' : 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    top_p: 1,
    tool_choice: 'auto',
    tools: [],
    output: reply === undefined ? [] : [item(reply)],
    usage:
      reply === undefined
        ? null
        : {
            input_tokens: input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + output,
          },
  };
}

function item(reply: Answered): JsonObject {
  if (reply.kind === 'say')
    return { type: 'message', id: 'msg_demo', status: 'completed', role: 'assistant', content: [textPart(reply.text)] };
  const args = JSON.stringify(reply.args);
  return {
    type: 'function_call',
    id: 'fc_demo',
    call_id: 'call_demo',
    name: reply.name,
    arguments: args,
    status: 'completed',
  };
}

function textPart(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** Events count themselves. */
function events({ model }: Asked, reply: Answered): readonly SentEvent[] {
  const parts = reply.kind === 'say' ? saying(reply.text) : calling(JSON.stringify(reply.args));
  const whole = item(reply);
  const begun = { ...whole, status: 'in_progress', ...(reply.kind === 'say' ? { content: [] } : { arguments: '' }) };
  const all: readonly (readonly [string, JsonObject])[] = [
    ['response.created', { response: response(model, undefined) }],
    ['response.output_item.added', { output_index: 0, item: begun }],
    ...parts,
    ['response.output_item.done', { output_index: 0, item: whole }],
    ['response.completed', { response: response(model, reply) }],
  ];
  return all.map(([type, data], at) => ({ name: type, data: { type, sequence_number: at, ...data } }));
}

function saying(text: string): readonly (readonly [string, JsonObject])[] {
  const place = { item_id: 'msg_demo', output_index: 0, content_index: 0 };
  return [
    ['response.content_part.added', { ...place, part: textPart('') }],
    ...piecesOf(text).map((delta) => ['response.output_text.delta', { ...place, delta, logprobs: [] }] as const),
    ['response.output_text.done', { ...place, text, logprobs: [] }],
    ['response.content_part.done', { ...place, part: textPart(text) }],
  ];
}

function calling(args: string): readonly (readonly [string, JsonObject])[] {
  const place = { item_id: 'fc_demo', output_index: 0 };
  const fragments = args.match(/.{1,8}/gsu) ?? [];
  return [
    ...fragments.map((delta) => ['response.function_call_arguments.delta', { ...place, delta }] as const),
    ['response.function_call_arguments.done', { ...place, arguments: args }],
  ];
}
