import {
  accepts,
  contentText,
  type Dialect,
  type Event,
  fragments,
  type Json,
  object,
  objects,
  type ProviderCall,
  refuse,
  reply,
  sendJson,
  sse,
  text,
} from '../call.ts';
import type { Check } from '../schema/build.ts';
import { countCheck, messagesCheck } from '../schema/anthropic.ts';
import { type Asked, type Counted, type Script, type Scripted, scripted } from '../script.ts';

export const anthropicDialect: Dialect = {
  error: (status, message) => ({ type: 'error', error: { type: errorType(status), message }, request_id: 'req_sim' }),
  errorHeaders: () => ({ 'request-id': 'req_sim' }),
};

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function errorType(status: number): string {
  return TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** Anthropic's own API. */
export async function anthropic(call: ProviderCall): Promise<void> {
  const key = call.headers['x-api-key'];
  const bearer = text(call.headers.authorization);
  if (key === undefined && !bearer.startsWith('Bearer '))
    return refuse(call, anthropicDialect, { status: 401, message: 'x-api-key header is required' });
  if (!/^20\d\d-\d\d-\d\d$/.test(text(call.headers['anthropic-version'])))
    return refuse(call, anthropicDialect, { status: 400, message: 'anthropic-version: header is required' });
  switch (`${call.method} ${call.path}`) {
    case 'POST /v1/messages':
      return messages(call, {
        check: messagesCheck,
        model: text(call.body['model']),
        stream: call.body['stream'] === true,
      });
    case 'POST /v1/messages/count_tokens':
      return countTokens(call, countCheck);
    default:
      return refuse(call, anthropicDialect, { status: 404, message: 'Not found' });
  }
}

export interface MessagesOptions {
  readonly check: Check;
  readonly model: string;
  readonly stream: boolean;
  /** How events are framed; server-sent events unless a cloud has its own way. */
  readonly framed?: { readonly type: string; readonly frame: (event: Json) => Buffer };
}

/** Messages, wherever they are served. */
export async function messages(call: ProviderCall, { check, model, stream, framed }: MessagesOptions): Promise<void> {
  if (!accepts(call, anthropicDialect, [check, rules])) return;
  const context = { model, ...scripted(askedOf(call.body)) };
  const frame = framed?.frame ?? ((event: Json) => sse(event, text(event['type'])));
  await reply(call, {
    dialect: anthropicDialect,
    script: context.script,
    headers: { 'request-id': 'req_sim' },
    whole: () => whole(context),
    stream: stream
      ? {
          type: framed?.type ?? 'text/event-stream; charset=utf-8',
          *events() {
            for (const { event, piece } of events(context))
              yield { data: frame(event), piece: piece === true } satisfies Event;
          },
          fault: () => frame({ type: 'error', error: { type: 'overloaded_error', message: 'simulated stream error' } }),
        }
      : null,
  });
}

export function countTokens(call: ProviderCall, check: Check): void {
  if (!accepts(call, anthropicDialect, [check, rules])) return;
  sendJson(call, 200, { input_tokens: scripted(askedOf(call.body)).counted.input }, { 'request-id': 'req_sim' });
}

interface Context extends Scripted {
  readonly model: string;
}

/** What the schema does not say. */
function rules(value: unknown): string | null {
  const body = object(value);
  const thinking = object(body['thinking']);
  if (thinking['type'] === 'enabled') {
    const budget = Number(thinking['budget_tokens']);
    if (body['max_tokens'] !== undefined && Number(body['max_tokens']) <= budget)
      return '`max_tokens` must be greater than `thinking.budget_tokens`';
    if (body['temperature'] !== undefined && body['temperature'] !== 1)
      return '`temperature` may only be set to 1 when thinking is enabled';
    const forced = text(object(body['tool_choice'])['type']);
    if (forced === 'any' || forced === 'tool') return 'Thinking may not be enabled when tool_choice forces tool use.';
    const [called, answered] = merged(objects(body['messages'])).slice(-2);
    const goesOn = answered?.content.some(({ type }) => type === 'tool_result') === true;
    if (goesOn && !text(called?.content[0]?.['type']).endsWith('thinking'))
      return 'Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.';
  }
  if (body['tool_choice'] !== undefined && objects(body['tools']).length === 0)
    return 'tool_choice may only be specified while providing tools';
  const marks = JSON.stringify(body).match(/"cache_control":\{/g)?.length ?? 0;
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`;
  return pairing(objects(body['messages']));
}

function pairing(all: readonly Json[]): string | null {
  if (all[0]?.['role'] !== 'user') return 'messages: first message must use the "user" role';
  let open: readonly string[] = [];
  for (const [index, { content }] of merged(all).entries()) {
    const blocks = objects(content);
    const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => text(block['tool_use_id']));
    const missing = open.filter((id) => !results.includes(id));
    if (missing.length > 0)
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`;
    const unknown = results.filter((id) => !open.includes(id));
    if (unknown.length > 0)
      return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unknown.join(', ')}`;
    const firstOther = blocks.findIndex(({ type }) => type !== 'tool_result');
    if (results.length > 0 && firstOther !== -1 && firstOther < results.length)
      return `messages.${index}: \`tool_result\` blocks must come first`;
    open = blocks.filter(({ type }) => type === 'tool_use').map((block) => text(block['id']));
  }
  return open.length === 0 ? null : '`tool_use` ids were found without `tool_result` blocks immediately after';
}

/** Neighbours of one role are one turn. */
function merged(all: readonly Json[]): readonly { role: unknown; content: readonly Json[] }[] {
  const turns: { role: unknown; content: readonly Json[] }[] = [];
  for (const { role, content } of all) {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);
    const last = turns.at(-1);
    if (last !== undefined && last.role === role) last.content = [...last.content, ...blocks];
    else turns.push({ role, content: blocks });
  }
  return turns;
}

function askedOf(body: Json): Asked {
  const turn = merged(objects(body['messages'])).findLast(({ role }) => role === 'user');
  const blocks = turn?.content ?? [];
  return {
    prompt: contentText(blocks.filter(({ type }) => type === 'text')),
    toolResults: blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => contentText(content)),
    images: blocks.filter(({ type }) => type === 'image').length,
  };
}

const STOPS = { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal' } as const;

function stopOf({ stop, calls }: Script): string {
  return stop === 'stop' && calls.length > 0 ? 'tool_use' : STOPS[stop];
}

/** What came out of the cache is counted apart. */
function usageOf({ input, cached, output, reasoning }: Counted): Json {
  return {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: 'us',
    speed: null,
  };
}

function shell({ model, counted }: Context): Json {
  return {
    id: 'msg_sim',
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: { ...usageOf(counted), output_tokens: 1 },
  };
}

function contentOf({ pieces, calls, reasoning }: Script): readonly Json[] {
  const said = pieces.join('');
  return [
    ...(reasoning === null ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'sig-sim' }]),
    ...(said === '' ? [] : [{ type: 'text', text: said }]),
    ...calls.map(({ name, arguments: given }, index) => ({
      type: 'tool_use',
      id: `toolu_${index + 1}`,
      name,
      input: JSON.parse(given === '' ? '{}' : given),
      caller: { type: 'direct' },
    })),
  ];
}

function whole(context: Context): Json {
  const { script, counted } = context;
  return { ...shell(context), content: contentOf(script), stop_reason: stopOf(script), usage: usageOf(counted) };
}

function* events(context: Context): Generator<{ event: Json; piece?: boolean }> {
  const { script, counted } = context;
  yield { event: { type: 'message_start', message: shell(context) } };
  for (const [index, block] of contentOf(script).entries()) {
    yield* blockEvents(script, { index, block });
    yield { event: { type: 'content_block_stop', index } };
    if (index === 0) yield { event: { type: 'ping' } };
  }
  const {
    input_tokens: input,
    cache_creation_input_tokens: write,
    cache_read_input_tokens: read,
    output_tokens: output,
    output_tokens_details: details,
  } = usageOf(counted);
  const usage = {
    input_tokens: input,
    cache_creation_input_tokens: write,
    cache_read_input_tokens: read,
    output_tokens: output,
    output_tokens_details: details,
    server_tool_use: null,
  };
  yield {
    event: {
      type: 'message_delta',
      delta: { stop_reason: stopOf(script), stop_sequence: null, stop_details: null, container: null },
      usage,
    },
  };
  yield { event: { type: 'message_stop' } };
}

function* blockEvents(
  script: Script,
  { index, block }: { readonly index: number; readonly block: Json },
): Generator<{ event: Json; piece?: boolean }> {
  const delta = (fields: Json): Json => ({ type: 'content_block_delta', index, delta: fields });
  switch (block['type']) {
    case 'thinking':
      yield {
        event: { type: 'content_block_start', index, content_block: { type: 'thinking', thinking: '', signature: '' } },
      };
      yield { event: delta({ type: 'thinking_delta', thinking: block['thinking'] }), piece: true };
      yield { event: delta({ type: 'signature_delta', signature: block['signature'] }) };
      return;
    case 'text':
      yield {
        event: { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
      };
      for (const piece of script.pieces) yield { event: delta({ type: 'text_delta', text: piece }), piece: true };
      return;
    default: {
      yield { event: { type: 'content_block_start', index, content_block: { ...block, input: {} } } };
      yield { event: delta({ type: 'input_json_delta', partial_json: '' }) };
      const call = script.calls.find((each, at) => block['id'] === `toolu_${at + 1}` && each.name === block['name']);
      for (const fragment of fragments(call?.arguments ?? ''))
        yield { event: delta({ type: 'input_json_delta', partial_json: fragment }), piece: true };
    }
  }
}
