import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { LlmFailure } from '../../../../proxy/llm/failure.ts';
import { completionsToMessages } from '../../../../proxy/llm/translations/completions-to-messages/index.ts';
import type { Translation } from '../../../../proxy/llm/translations/contract.ts';
import { messagesToCompletions } from '../../../../proxy/llm/translations/messages-to-completions/index.ts';
import { messagesToResponses } from '../../../../proxy/llm/translations/messages-to-responses/index.ts';
import { responsesToCompletions } from '../../../../proxy/llm/translations/responses-to-completions/index.ts';
import { wayFor } from '../../../../proxy/llm/translations/table.ts';
import { begin } from './notes.ts';

function failure(step: () => unknown): LlmFailure {
  try {
    step();
  } catch (error) {
    if (error instanceof LlmFailure) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

describe('an answer that is none is the service’s fault', () => {
  test.each<[Translation, JsonObject]>([
    [completionsToMessages, {}],
    [completionsToMessages, { content: 'text' }],
    [messagesToCompletions, {}],
    [messagesToCompletions, { choices: [] }],
    [messagesToCompletions, { choices: [{ index: 0 }] }],
    [responsesToCompletions, { choices: 'none' }],
    [messagesToResponses, {}],
    [messagesToResponses, { output: [], status: 'failed', error: { message: 'Sorry' } }],
    [messagesToResponses, { output: [], status: 'queued' }],
    [messagesToResponses, { output: [], status: 'incomplete', incomplete_details: { reason: 'who knows' } }],
    [messagesToResponses, { output: [{ type: 'web_search_call' }] }],
    [messagesToResponses, { output: [{ type: 'function_call', call_id: 'a', name: 'n', arguments: '{' }] }],
    [messagesToResponses, { output: [{ type: 'message', content: [{ type: 'output_text', annotations: [{}] }] }] }],
    [messagesToResponses, { output: [{ type: 'message', content: [{ type: 'output_text', logprobs: [{}] }] }] }],
  ])('%#', (translation, body) => {
    expect(failure(() => begin(translation, { model: 'm' }).response(body)).kind).toBe('response');
  });
});

describe('messages that responses cannot carry are refused', () => {
  test.each<[string, JsonObject]>([
    ['thinking at messages[0].content[0]', assistant({ type: 'thinking', thinking: 'Hm', signature: 's' })],
    ['redacted_thinking', assistant({ type: 'redacted_thinking', data: 's' })],
    ['server_tool_use', assistant({ type: 'server_tool_use', id: 'a', name: 'web_search', input: {} })],
    ['document', user({ type: 'document', source: { type: 'text', data: 'x' } })],
    ['search_result', user({ type: 'search_result', source: 'x', title: 'y', content: [] })],
    ['citations', user({ type: 'text', text: 'x', citations: [{ type: 'char_location' }] })],
    ['document', user({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'document' }] })],
    ['what', user({ type: 'what' })],
    ['effort', { output_config: { effort: 'low' }, messages: [] }],
    ['max_tokens', { max_tokens: 2 ** 32, messages: [] }],
  ])('%s', (message, body) => {
    const failed = failure(() => begin(messagesToResponses, { model: 'm', max_tokens: 5, ...body }));
    expect(failed.kind).toBe('request');
    expect(failed.message).toContain('unsupported conversion');
    expect(failed.message).toContain(message);
  });
});

describe('errors of services', () => {
  const google = [{ error: { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED' } }];
  const openai = { error: { message: 'No', type: 'insufficient_quota', param: null, code: 'insufficient_quota' } };
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } };

  test.each<[string, Translation, number, unknown, JsonObject | undefined]>([
    ['keep their type for Anthropic', messagesToCompletions, 429, openai, claude('insufficient_quota', 'No')],
    [
      'have a type by status',
      messagesToCompletions,
      403,
      { error: { message: 'No' } },
      claude('authentication_error', 'No'),
    ],
    [
      'may be a word',
      messagesToCompletions,
      404,
      { error: 'no such model' },
      claude('not_found_error', 'no such model'),
    ],
    ['may be a detail', messagesToCompletions, 422, { detail: 'no' }, claude('api_error', 'no')],
    ['may be wrapped by Google', messagesToCompletions, 429, google, claude('rate_limit_error', 'Quota')],
    ['may say nothing', messagesToCompletions, 500, {}, claude('api_error', '{}')],
    ['must be JSON', messagesToCompletions, 502, '<html>', undefined],
    ['must be JSON here too', messagesToResponses, 502, '', undefined],
    ['pass to clients of responses', responsesToCompletions, 429, openai, openai],
    [
      'of Google are told in OpenAI’s words',
      responsesToCompletions,
      429,
      google,
      { error: { message: 'Quota', type: 'rate_limit_error', param: null, code: 'RESOURCE_EXHAUSTED' } },
    ],
    [
      'that are pages are told by their status',
      responsesToCompletions,
      503,
      '<html>busy</html>',
      { error: { message: 'the service answered with status 503', type: 'server_error', param: null, code: null } },
    ],
    [
      'of Anthropic keep their word',
      completionsToMessages,
      529,
      overloaded,
      foreign('server_error', 'Busy', 'overloaded_error'),
    ],
    ...[
      [400, 'invalid_request_error'],
      [401, 'authentication_error'],
      [403, 'authentication_error'],
      [404, 'not_found_error'],
      [413, 'invalid_request_error'],
      [429, 'rate_limit_error'],
      [500, 'server_error'],
    ].map(([status, type]): [string, Translation, number, unknown, JsonObject] => [
      `of Anthropic have the type of their status, ${status}`,
      completionsToMessages,
      Number(status),
      { type: 'error', error: { type: 'invalid_request_error', message: 'No' } },
      foreign(String(type), 'No', null),
    ]),
    [
      'may be text',
      completionsToMessages,
      500,
      'upstream connect error',
      foreign('server_error', 'upstream connect error', null),
    ],
    [
      'may be empty',
      completionsToMessages,
      500,
      '',
      foreign('server_error', 'the service answered with status 500', null),
    ],
  ])('%s', (_what, translation, status, body, expected) => {
    const told = typeof body === 'string' ? body : JSON.stringify(body);
    expect(begin(translation, { model: 'm' }).error(status, told)).toEqual(expected);
  });
});

describe('the way is the first of the list that the service speaks', () => {
  test.each([
    ['completions', ['completions', 'messages'], 'completions'],
    ['completions', ['messages'], 'messages'],
    ['messages', ['completions', 'responses'], 'completions'],
    ['messages', ['responses'], 'responses'],
    ['messages', ['messages', 'completions'], 'messages'],
    ['responses', ['completions'], 'completions'],
    ['responses', ['messages'], undefined],
  ] as const)('%s at %j', (from, spoken, to) => {
    expect(wayFor(from, spoken)?.to).toBe(to);
  });
});

function user(block: JsonObject): JsonObject {
  return { messages: [{ role: 'user', content: [block] }] };
}

function assistant(block: JsonObject): JsonObject {
  return { messages: [{ role: 'assistant', content: [block] }] };
}

function claude(type: string, message: string): JsonObject {
  return { type: 'error', error: { type, message } };
}

function foreign(type: string, message: string, code: string | null): JsonObject {
  return { event_id: null, error: { type, message, param: null, code } };
}
