import {
  accepts,
  contentText,
  type Event,
  fragments,
  type Json,
  object,
  objects,
  type ProviderCall,
  reply,
  sse,
  text,
} from '../call.ts';
import { responsesCheck } from '../schema/openai.ts';
import { type Asked, type Counted, type Scripted, scripted } from '../script.ts';
import { openaiDialect } from './openai-chat.ts';

const CREATED = 1_700_000_000;

/** `POST /v1/responses` */
export async function responses(call: ProviderCall): Promise<void> {
  if (!accepts(call, openaiDialect, [responsesCheck, rules])) return;
  const context = { body: call.body, ...scripted(askedOf(call.body)) };
  await reply(call, {
    dialect: openaiDialect,
    script: context.script,
    whole: () => whole(context),
    stream:
      call.body['stream'] === true
        ? {
            type: 'text/event-stream; charset=utf-8',
            events: () => events(context),
            fault: () =>
              sse(
                {
                  type: 'error',
                  code: 'server_error',
                  message: 'simulated stream error',
                  param: null,
                  sequence_number: 99,
                },
                'error',
              ),
          }
        : null,
  });
}

interface Context extends Scripted {
  readonly body: Json;
}

/** Every output belongs to a call that came before. */
function rules(value: unknown): string | null {
  const body = object(value);
  if (body['input'] === undefined && body['prompt'] === undefined) return "Missing required parameter: 'input'.";
  if (body['previous_response_id'] !== undefined && body['previous_response_id'] !== null) return null;
  const calls = new Set<string>();
  for (const item of objects(body['input'])) {
    const type = text(item['type']);
    if (type === 'function_call' || type === 'custom_tool_call') calls.add(text(item['call_id']));
    if (type.endsWith('_call_output') && !calls.delete(text(item['call_id'])))
      return `No tool call found for function call output with call_id ${text(item['call_id'])}.`;
  }
  return calls.size === 0 ? null : `No tool output found for function call ${[...calls].join(', ')}.`;
}

function askedOf(body: Json): Asked {
  if (typeof body['input'] === 'string') return { prompt: body['input'], toolResults: [], images: 0 };
  const items = objects(body['input']);
  const last = items.findLastIndex(
    ({ role, type }) =>
      role === 'assistant' || type === 'function_call' || type === 'custom_tool_call' || type === 'reasoning',
  );
  const turn = items.slice(last + 1);
  const user = turn.filter(({ role }) => role === 'user');
  return {
    prompt: user.map(({ content }) => contentText(content)).join('\n'),
    toolResults: turn
      .filter(({ type }) => text(type).endsWith('_call_output'))
      .map(({ output }) => contentText(output)),
    images: user.flatMap(({ content }) => objects(content)).filter(({ type }) => type === 'input_image').length,
  };
}

function usageOf({ input, cached, output, reasoning }: Counted): Json {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

function outputOf({ script }: Context): readonly Json[] {
  const content = script.pieces.join('');
  const refused = script.stop === 'refusal';
  const part = refused
    ? { type: 'refusal', refusal: 'I cannot help with that.' }
    : { type: 'output_text', text: content, annotations: [], logprobs: [] };
  const status = script.stop === 'length' ? 'incomplete' : 'completed';
  return [
    ...(script.reasoning === null
      ? []
      : [{ id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: script.reasoning }] }]),
    ...(refused || content !== ''
      ? [{ id: 'msg_1', type: 'message', role: 'assistant', status, content: [part] }]
      : []),
    ...script.calls.map(({ name, arguments: given }, index) => ({
      id: `fc_${index + 1}`,
      type: 'function_call',
      call_id: `call_${index + 1}`,
      name,
      arguments: given,
      status: 'completed',
    })),
  ];
}

function whole(context: Context): Json {
  const length = context.script.stop === 'length';
  return {
    ...shell(context, length ? 'incomplete' : 'completed'),
    incomplete_details: length ? { reason: 'max_output_tokens' } : null,
    output: outputOf(context),
    usage: usageOf(context.counted),
  };
}

function shell({ body }: Context, status: string): Json {
  return {
    id: 'resp_sim',
    object: 'response',
    created_at: CREATED,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    model: body['model'],
    output: [],
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: true,
    temperature: body['temperature'] ?? 1,
    text: { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: body['top_p'] ?? 1,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: body['metadata'] ?? {},
  };
}

function* events(context: Context): Generator<Event> {
  let sequence = 0;
  const event = (type: string, fields: Json, piece = false): Event => ({
    data: sse({ type, sequence_number: sequence++, ...fields }, type),
    piece,
  });
  yield event('response.created', { response: shell(context, 'in_progress') });
  yield event('response.in_progress', { response: shell(context, 'in_progress') });
  for (const [index, item] of outputOf(context).entries()) {
    yield* itemEvents(context, { index, item, event });
  }
  const last = context.script.stop === 'length' ? 'response.incomplete' : 'response.completed';
  yield event(last, { response: whole(context) });
}

interface ItemContext {
  readonly index: number;
  readonly item: Json;
  readonly event: (type: string, fields: Json, piece?: boolean) => Event;
}

function* itemEvents(context: Context, own: ItemContext): Generator<Event> {
  const { index, item, event } = own;
  const at = { output_index: index, item_id: item['id'] };
  switch (item['type']) {
    case 'reasoning': {
      const [part] = objects(item['summary']);
      yield event('response.output_item.added', { output_index: index, item: { ...item, summary: [] } });
      yield event('response.reasoning_summary_part.added', {
        ...at,
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      });
      yield event('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta: part?.['text'] }, true);
      yield event('response.reasoning_summary_text.done', { ...at, summary_index: 0, text: part?.['text'] });
      yield event('response.reasoning_summary_part.done', { ...at, summary_index: 0, part });
      break;
    }
    case 'message':
      yield event('response.output_item.added', {
        output_index: index,
        item: { ...item, status: 'in_progress', content: [] },
      });
      yield* partEvents(context, own);
      break;
    default:
      yield event('response.output_item.added', {
        output_index: index,
        item: { ...item, status: 'in_progress', arguments: '' },
      });
      for (const fragment of fragments(text(item['arguments'])))
        yield event('response.function_call_arguments.delta', { ...at, delta: fragment }, true);
      yield event('response.function_call_arguments.done', { ...at, name: item['name'], arguments: item['arguments'] });
  }
  yield event('response.output_item.done', { output_index: index, item });
}

function* partEvents({ script }: Context, { index, item, event }: ItemContext): Generator<Event> {
  const at = { output_index: index, item_id: item['id'], content_index: 0 };
  const [part] = objects(item['content']);
  if (script.stop === 'refusal') {
    yield event('response.content_part.added', { ...at, part: { type: 'refusal', refusal: '' } });
    yield event('response.refusal.delta', { ...at, delta: part?.['refusal'] }, true);
    yield event('response.refusal.done', { ...at, refusal: part?.['refusal'] });
  } else {
    yield event('response.content_part.added', { ...at, part: { ...part, text: '' } });
    for (const piece of script.pieces)
      yield event('response.output_text.delta', { ...at, delta: piece, logprobs: [] }, true);
    yield event('response.output_text.done', { ...at, text: part?.['text'], logprobs: [] });
  }
  yield event('response.content_part.done', { ...at, part });
}
