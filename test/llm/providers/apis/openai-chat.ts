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
  reply,
  sse,
  text,
} from '../call.ts';
import { completionsCheck } from '../schema/openai.ts';
import { type Asked, type Counted, type Script, type Scripted, scripted } from '../script.ts';

const CREATED = 1_700_000_000;

export const openaiDialect: Dialect = {
  error: (status, message) => ({ error: { message, type: errorType(status), param: null, code: errorCode(status) } }),
  errorHeaders: () => ({ 'x-request-id': 'req_sim' }),
};

function errorType(status: number): string {
  if (status === 401) return 'invalid_request_error';
  if (status === 429) return 'rate_limit_exceeded';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

function errorCode(status: number): string | null {
  if (status === 401) return 'invalid_api_key';
  if (status === 404) return 'model_not_found';
  return status === 429 ? 'rate_limit_exceeded' : null;
}

/** `POST /v1/chat/completions` */
export async function chatCompletions(call: ProviderCall): Promise<void> {
  if (!accepts(call, openaiDialect, [completionsCheck, rules])) return;
  const context = { body: call.body, ...scripted(askedOf(call.body)) };
  await reply(call, {
    dialect: openaiDialect,
    script: context.script,
    headers: { 'x-request-id': 'req_sim', 'openai-processing-ms': '1' },
    whole: () => whole(context),
    stream:
      call.body['stream'] === true
        ? {
            type: 'text/event-stream; charset=utf-8',
            events: () => events(context),
            fault: () => sse({ error: openaiDialect.error(500, 'simulated stream error')['error'] }),
          }
        : null,
  });
}

interface Context extends Scripted {
  readonly body: Json;
}

/** What the schema does not say. */
function rules(value: unknown): string | null {
  const body = object(value);
  const model = text(body['model']);
  if (body['stream_options'] !== undefined && body['stream'] !== true)
    return "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
  if (body['max_tokens'] !== undefined && body['max_completion_tokens'] !== undefined)
    return "'max_tokens' and 'max_completion_tokens' cannot be set at the same time";
  if (body['max_tokens'] !== undefined && /^(?:gpt-[5-9]|o\d)/.test(model))
    return "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  for (const name of ['tool_choice', 'parallel_tool_calls'])
    if (body[name] !== undefined && body['tools'] === undefined)
      return `'${name}' is only allowed when 'tools' are specified.`;
  if (!thinksAloud(model) && objects(body['messages']).some((message) => message['reasoning_content'] !== undefined))
    return "Unknown parameter: 'messages.reasoning_content'.";
  return pairing(objects(body['messages']));
}

/** Every call is answered before anybody else speaks, and nothing is answered that was not called. */
function pairing(messages: readonly Json[]): string | null {
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      if (!open.delete(text(message['tool_call_id'])))
        return `messages[${index}]: a message with role 'tool' must be a response to a preceding message with 'tool_calls'`;
      continue;
    }
    if (open.size > 0)
      return `messages[${index}]: tool_call_ids did not have response messages: ${[...open].join(', ')}`;
    if (message['role'] === 'assistant') open = new Set(objects(message['tool_calls']).map((each) => text(each['id'])));
    const empty = message['content'] === undefined || message['content'] === null;
    if (message['role'] === 'assistant' && empty && open.size === 0 && message['refusal'] === undefined)
      return `messages[${index}]: expected 'content' or 'tool_calls'`;
  }
  return open.size === 0 ? null : 'tool_call_ids did not have response messages';
}

function askedOf(body: Json): Asked {
  const messages = objects(body['messages']);
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const turn = messages.slice(last + 1);
  const user = turn.filter(({ role }) => role === 'user');
  return {
    prompt: user.map(({ content }) => contentText(content)).join('\n'),
    toolResults: turn.filter(({ role }) => role === 'tool').map(({ content }) => contentText(content)),
    images: user.flatMap(({ content }) => objects(content)).filter(({ type }) => type === 'image_url').length,
  };
}

function finish({ stop, calls }: Script): string {
  if (stop === 'length') return 'length';
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

/** Services that are made like OpenAI show their thoughts in a field of their own; OpenAI does not. */
function showsThoughts({ body, script }: Context): boolean {
  return script.reasoning !== null && thinksAloud(text(body['model']));
}

function thinksAloud(model: string): boolean {
  return /deepseek|qwen|reason/.test(model);
}

function usageOf({ input, cached, output, reasoning }: Counted): Json {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function whole(context: Context): Json {
  const { body, script, counted } = context;
  const calls = script.calls.map(({ name, arguments: given }, index) => ({
    id: `call_${index + 1}`,
    type: 'function',
    function: { name, arguments: given },
  }));
  const content = script.pieces.join('');
  const refused = script.stop === 'refusal';
  const message = {
    role: 'assistant',
    content: refused || content === '' ? null : content,
    refusal: refused ? 'I cannot help with that.' : null,
    ...(showsThoughts(context) ? { reasoning_content: script.reasoning } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    annotations: [],
  };
  const choices = Array.from({ length: Number(body['n'] ?? 1) }, (_, index) => ({
    index,
    message,
    logprobs: null,
    finish_reason: finish(script),
  }));
  return {
    id: 'chatcmpl-sim',
    object: 'chat.completion',
    created: CREATED,
    model: body['model'],
    choices,
    usage: usageOf(counted),
    service_tier: 'default',
    system_fingerprint: 'fp_sim',
  };
}

function* events(context: Context): Generator<Event> {
  const { body, script, counted } = context;
  const told = object(body['stream_options'])['include_usage'] === true;
  const chunk = (delta: Json, reason: string | null = null): string =>
    sse({
      ...head(body),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
      ...(told ? { usage: null } : {}),
    });
  yield { data: chunk({ role: 'assistant', content: '', refusal: null }) };
  if (showsThoughts(context)) yield { data: chunk({ reasoning_content: script.reasoning }), piece: true };
  if (script.stop === 'refusal') yield { data: chunk({ refusal: 'I cannot help with that.' }), piece: true };
  else for (const piece of script.pieces) yield { data: chunk({ content: piece }), piece: true };
  for (const [index, { name, arguments: given }] of script.calls.entries()) {
    const start = { index, id: `call_${index + 1}`, type: 'function', function: { name, arguments: '' } };
    yield { data: chunk({ tool_calls: [start] }), piece: true };
    for (const fragment of fragments(given))
      yield { data: chunk({ tool_calls: [{ index, function: { arguments: fragment } }] }) };
  }
  yield { data: chunk({}, finish(script)) };
  if (told) yield { data: sse({ ...head(body), choices: [], usage: usageOf(counted) }) };
  yield { data: sse('[DONE]') };
}

function head(body: Json): Json {
  return {
    id: 'chatcmpl-sim',
    object: 'chat.completion.chunk',
    created: CREATED,
    model: body['model'],
    service_tier: 'default',
    system_fingerprint: 'fp_sim',
  };
}
