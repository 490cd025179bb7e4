import { asArray, asObject, asText, isObject, type JsonObject } from '../../admin/protocol/lenient.ts';
import type { Answered, SentEvent, Vendor } from './contract.ts';
import { piecesOf, type Asked, type AskedTool, type TokenCounts } from './reply.ts';

const ID = 'chatcmpl-demo';
const CALL_ID = 'call_demo';

/** Chat completions. */
export const openai: Vendor = {
  key: 'demo-openai-key',
  keyOf: ({ headers }) => headers.authorization?.replace(/^Bearer /, ''),
  read: (path, body) => (path.endsWith('/chat/completions') ? asked(body) : undefined),
  whole: ({ model }, reply) => ({
    id: ID,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message: message(reply), logprobs: null, finish_reason: finishOf(reply) }],
    usage: usage(reply.tokens),
  }),
  events,
  error: (status, text) => ({ error: { message: text, type: errorType(status), param: null, code: null } }),
};

function asked(body: JsonObject): Asked {
  const turns = asArray(body['messages']).map(asObject);
  const last = turns.at(-1);
  return {
    model: asText(body['model']) ?? '',
    prompt: textOf(turns.findLast((turn) => turn['role'] === 'user')?.['content']),
    streaming: body['stream'] === true,
    tools: asArray(body['tools']).flatMap(toolOf),
    toolResult: last?.['role'] === 'tool' ? textOf(last['content']) : undefined,
  };
}

function toolOf(value: unknown): AskedTool[] {
  const { name, parameters } = asObject(asObject(value)['function']);
  return [{ name: asText(name) ?? '', parameters: typesIn(parameters) }];
}

/** Properties of a JSON Schema with their types. */
export function typesIn(schema: unknown): Readonly<Record<string, string>> {
  const properties = Object.entries(asObject(asObject(schema)['properties']));
  return Object.fromEntries(
    properties.map(([name, value]) => [name, asText(asObject(value)['type'])?.toLowerCase() ?? 'string']),
  );
}

/** A text, or the texts of a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return asArray(content)
    .flatMap((part) => (isObject(part) ? (asText(part['text']) ?? []) : []))
    .join(' ');
}

function message(reply: Answered): JsonObject {
  if (reply.kind === 'say') return { role: 'assistant', content: reply.text, refusal: null };
  return {
    role: 'assistant',
    content: null,
    refusal: null,
    tool_calls: [toolCall(reply.name, JSON.stringify(reply.args))],
  };
}

function toolCall(name: string, args: string): JsonObject {
  return { id: CALL_ID, type: 'function', function: { name, arguments: args } };
}

function finishOf({ kind }: Answered): string {
  return kind === 'call' ? 'tool_calls' : 'stop';
}

function usage({ input, output }: TokenCounts): JsonObject {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function events({ model }: Asked, reply: Answered): readonly SentEvent[] {
  const chunk = (choices: readonly unknown[], more: JsonObject = {}): SentEvent => ({
    data: { id: ID, object: 'chat.completion.chunk', created: 0, model, choices, ...more },
  });
  const delta = (part: JsonObject, finish: string | null = null): SentEvent =>
    chunk([{ index: 0, delta: part, finish_reason: finish }]);
  return [
    delta({ role: 'assistant', content: reply.kind === 'say' ? '' : null }),
    ...deltas(reply).map((part) => delta(part)),
    delta({}, finishOf(reply)),
    chunk([], { usage: usage(reply.tokens) }),
    { data: '[DONE]' },
  ];
}

function deltas(reply: Answered): readonly JsonObject[] {
  if (reply.kind === 'say') return piecesOf(reply.text).map((content) => ({ content }));
  const fragments = JSON.stringify(reply.args).match(/.{1,8}/gsu) ?? [];
  return [
    { tool_calls: [{ index: 0, ...toolCall(reply.name, '') }] },
    ...fragments.map((text) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
  ];
}

function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 429) return 'rate_limit_exceeded';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
