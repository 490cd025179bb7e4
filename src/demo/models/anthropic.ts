import { asArray, asObject, asText, type JsonObject } from '../../admin/protocol/lenient.ts';
import type { Answered, SentEvent, Vendor } from './contract.ts';
import { textOf, typesIn } from './openai.ts';
import { piecesOf, type Asked } from './reply.ts';

const ID = 'msg_demo';

/** Messages. */
export const anthropic: Vendor = {
  key: 'demo-anthropic-key',
  keyOf: ({ headers }) => (typeof headers['x-api-key'] === 'string' ? headers['x-api-key'] : undefined),
  read: (path, body) => (path.endsWith('/messages') ? asked(body) : undefined),
  whole: (question, reply) => ({
    ...head(question),
    content: [block(reply)],
    stop_reason: stopOf(reply),
    usage: { input_tokens: reply.tokens.input, output_tokens: reply.tokens.output },
  }),
  events,
  error: (status, message) => ({ type: 'error', error: { type: errorType(status), message } }),
};

function asked(body: JsonObject): Asked {
  const turns = asArray(body['messages']).map(asObject);
  const results = asArray(turns.at(-1)?.['content'])
    .map(asObject)
    .filter((part) => part['type'] === 'tool_result');
  return {
    model: asText(body['model']) ?? '',
    prompt:
      turns
        .filter((turn) => turn['role'] === 'user')
        .map((turn) => textOf(turn['content']))
        .findLast(Boolean) ?? '',
    streaming: body['stream'] === true,
    tools: asArray(body['tools'])
      .map(asObject)
      .map((tool) => ({ name: asText(tool['name']) ?? '', parameters: typesIn(tool['input_schema']) })),
    toolResult: results[0] === undefined ? undefined : textOf(results[0]['content']),
  };
}

function head({ model }: Asked): JsonObject {
  return { id: ID, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null };
}

function block(reply: Answered): JsonObject {
  if (reply.kind === 'say') return { type: 'text', text: reply.text };
  return { type: 'tool_use', id: 'toolu_demo', name: reply.name, input: reply.args };
}

function stopOf({ kind }: Answered): string {
  return kind === 'call' ? 'tool_use' : 'end_turn';
}

function events(question: Asked, reply: Answered): readonly SentEvent[] {
  const event = (type: string, rest: JsonObject = {}): SentEvent => ({ name: type, data: { type, ...rest } });
  const empty = reply.kind === 'say' ? { type: 'text', text: '' } : { ...block(reply), input: {} };
  return [
    event('message_start', {
      message: { ...head(question), usage: { input_tokens: reply.tokens.input, output_tokens: 1 } },
    }),
    event('content_block_start', { index: 0, content_block: empty }),
    ...deltas(reply).map((delta) => event('content_block_delta', { index: 0, delta })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: stopOf(reply), stop_sequence: null },
      usage: { output_tokens: reply.tokens.output },
    }),
    event('message_stop'),
  ];
}

function deltas(reply: Answered): readonly JsonObject[] {
  if (reply.kind === 'say') return piecesOf(reply.text).map((text) => ({ type: 'text_delta', text }));
  const fragments = JSON.stringify(reply.args).match(/.{1,8}/gsu) ?? [];
  return fragments.map((text) => ({ type: 'input_json_delta', partial_json: text }));
}

function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  if (status === 529) return 'overloaded_error';
  return status < 500 ? 'invalid_request_error' : 'api_error';
}
