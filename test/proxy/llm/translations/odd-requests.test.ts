import { describe, expect, test } from '@jest/globals';

import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { completionsToConverse } from '../../../../proxy/llm/translations/completions-to-converse/index.ts';
import { completionsToMessages } from '../../../../proxy/llm/translations/completions-to-messages/index.ts';
import { messagesToConverse } from '../../../../proxy/llm/translations/messages-to-converse/index.ts';
import { messagesToCompletions } from '../../../../proxy/llm/translations/messages-to-completions/index.ts';
import { messagesToResponses } from '../../../../proxy/llm/translations/messages-to-responses/index.ts';
import { responsesToConverse } from '../../../../proxy/llm/translations/responses-to-converse/index.ts';
import { messagesCheck } from '../../../llm/providers/schema/anthropic.ts';
import { converseCheck } from '../../../llm/providers/schema/bedrock.ts';
import { completionsCheck, responsesCheck } from '../../../llm/providers/schema/openai.ts';
import { begin, KeptNotes } from './notes.ts';

const hi = { role: 'user', content: 'Hi' };
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const weather = { type: 'function', function: { name: 'weather', parameters } };

const services = [
  ['Anthropic', completionsToMessages, messagesCheck],
  ['Bedrock', completionsToConverse, converseCheck],
] as const;

/** A history in which a tool was called. */
function called(call: JsonObject): JsonObject {
  const id = String(call['id']);
  return {
    model: 'm',
    tools: [weather],
    messages: [hi, { role: 'assistant', tool_calls: [call] }, { role: 'tool', tool_call_id: id, content: 'done' }],
  };
}

const functionCall = (id: string, source: string): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: source },
});

/** What OpenAI takes, and others refuse as it is. */
const legal: readonly (readonly [string, JsonObject])[] = [
  ['stops that are blank', { messages: [hi], stop: ['\n\n', 'END', ' '] }],
  ['a blank stop alone', { messages: [hi], stop: '\n' }],
  ['no stops', { messages: [hi], stop: [] }],
  [
    'a tool whose schema has no type',
    { messages: [hi], tools: [{ type: 'function', function: { name: 'now', parameters: {} } }] },
  ],
  ['a tool without a schema', { messages: [hi], tools: [{ type: 'function', function: { name: 'now' } }] }],
  [
    'a schema that is missing',
    { messages: [hi], response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
  ],
  ['a high temperature', { messages: [hi], temperature: 1.8 }],
  ['arguments that are broken off', called(functionCall('call_1', '{"city":'))],
  ['arguments that are a list', called(functionCall('call_1', '["Paris"]'))],
  ['arguments that are none', called(functionCall('call_1', ''))],
  ['ids of calls of other services', called(functionCall('call_1__thought__c2ln+/=', '{}'))],
  ['a call with a text', called({ id: 'call_1', type: 'custom', custom: { name: 'grep', input: 'needle' } })],
  [
    'a forced call of a model that thinks',
    { messages: [hi], tools: [weather], tool_choice: 'required', reasoning_effort: 'low' },
  ],
];

describe.each(services)('what OpenAI takes of a client becomes what %s takes', (_name, translation, check) => {
  test.each(legal)('%s', (_what, request) => {
    expect(check(begin(translation, { model: 'm', ...request }).body)).toBeNull();
  });
});

describe('a chat completion for Anthropic', () => {
  const ask = (request: JsonObject) => {
    const notes = new KeptNotes();
    return { ...begin(completionsToMessages, { model: 'm', ...request }, { notes }), notes: notes.lines };
  };

  test('has the stops that are not blank, and tells of the others', () => {
    const { body, notes } = ask({ messages: [hi], stop: ['\n\n', 'END', ' '] });
    expect(body).toMatchObject({ stop_sequences: ['END'] });
    expect(notes).toEqual(expect.arrayContaining(['- stop (what is blank)', 'stop → stop_sequences']));
    expect(ask({ messages: [hi], stop: '\n' }).body).not.toHaveProperty('stop_sequences');
  });

  test('has the highest temperature that there is, and tells of it', () => {
    const { body, notes } = ask({ messages: [hi], temperature: 1.8 });
    expect(body).toMatchObject({ temperature: 1 });
    expect(notes).toContain('temperature → 1, the most that the service takes');
  });

  test.each([
    [functionCall('c', '{"city":"Paris"}'), { city: 'Paris' }],
    [functionCall('c', '{"city":'), { input: '{"city":' }],
    [functionCall('c', '["Paris"]'), { input: ['Paris'] }],
    [functionCall('c', ' '), {}],
    [{ id: 'c', type: 'custom', custom: { name: 'grep', input: '{"a":1}' } }, { input: '{"a":1}' }],
  ])('has calls with objects: %j', (call, input) => {
    expect(ask(called(call)).body).toMatchObject({ messages: [{}, { content: [{ type: 'tool_use', input }] }, {}] });
  });

  test.each([
    ['application/pdf', { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }],
    ['text/plain', { type: 'text', media_type: 'text/plain', data: 'hi' }],
  ])('has files that come with their bytes: %s', (mediaType, source) => {
    const file = { filename: 'notes', file_data: `data:${mediaType};base64,aGk=` };
    const { body } = ask({ messages: [{ role: 'user', content: [{ type: 'file', file }] }] });
    expect(body).toMatchObject({ messages: [{ content: [{ type: 'document', source, title: 'notes' }] }] });
    expect(messagesCheck(body)).toBeNull();
  });

  test.each([{ file_id: 'file-1' }, { file_data: 'data:image/tiff;base64,aGk=' }, { file_data: 'aGk=' }])(
    'tells of files that it cannot have: %j',
    (file) => {
      const content = [
        { type: 'text', text: 'Read' },
        { type: 'file', file },
      ];
      expect(ask({ messages: [{ role: 'user', content }] }).notes).toContain('- messages[0].content[1] (file)');
    },
  );

  test('has the same id for a call and its result', () => {
    expect(ask(called(functionCall('a:1/b', '{}'))).body).toMatchObject({
      messages: [{}, { content: [{ id: 'a_1_b' }] }, { content: [{ tool_use_id: 'a_1_b' }] }],
    });
  });
});

test.each([
  ['chat completions', completionsToConverse, { messages: [hi], reasoning_effort: 'low', tools: [weather] }],
  [
    'responses',
    responsesToConverse,
    { input: 'Hi', reasoning: { effort: 'low' }, tools: [{ type: 'function', name: 'weather', parameters }] },
  ],
])('a model at Bedrock that thinks is not made to call by a client of %s', (_name, translation, request) => {
  const notes = new KeptNotes();
  const { body } = begin(translation, { model: 'm', ...request, tool_choice: 'required' }, { notes });
  expect(body).toMatchObject({ toolConfig: { toolChoice: { auto: {} } } });
  expect(notes.lines).toContain('tool_choice → auto, since the model thinks');
  const calm = { ...request, reasoning_effort: 'none', reasoning: null };
  const forced = begin(translation, { model: 'm', ...calm, tool_choice: 'required' });
  expect(forced.body).toMatchObject({ toolConfig: { toolChoice: { any: {} } } });
});

test.each([
  ['chat completions', messagesToCompletions, completionsCheck, 'stop'],
  ['responses', messagesToResponses, responsesCheck, 'metadata'],
] as const)('what Anthropic takes of a client becomes what %s take', (_name, translation, check, field) => {
  const request = { model: 'm', max_tokens: 50, messages: [hi], stop_sequences: [], metadata: { user_id: null } };
  const { body } = begin(translation, request);
  expect(check(body)).toBeNull();
  expect(body[field] ?? {}).toEqual({});
});

describe.each([
  ['chat completions', messagesToCompletions, completionsCheck],
  ['Converse', messagesToConverse, converseCheck],
] as const)('what a client of Anthropic has found, for %s,', (_name, translation, check) => {
  const found = {
    type: 'search_result',
    source: 'https://docs.test/a',
    title: 'A',
    content: [
      { type: 'text', text: 'first' },
      { type: 'text', text: 'second' },
    ],
  };
  const made = {
    type: 'document',
    title: 'B',
    source: { type: 'content', content: [{ type: 'text', text: 'third' }] },
  };
  const plain = { type: 'document', source: { type: 'content', content: 'fourth' } };
  const asked = { model: 'm', max_tokens: 50 };

  test('is a text', () => {
    const notes = new KeptNotes();
    const { body } = begin(
      translation,
      { ...asked, messages: [{ role: 'user', content: [found, made, plain, { type: 'text', text: 'Which?' }] }] },
      { notes },
    );
    expect(check(body)).toBeNull();
    const parts = ['A\nhttps://docs.test/a\nfirst\nsecond', 'B\nthird', 'fourth', 'Which?'];
    expect(body).toMatchObject({ messages: [{ content: parts.map((text) => ({ text })) }] });
    expect(notes.lines).toContain('messages[0].content[0] → text');
    expect(notes.lines.filter((line) => line.startsWith('-'))).toEqual([]);
  });

  test('is a text in the result of a tool', () => {
    const use = { type: 'tool_use', id: 't', name: 'search', input: {} };
    const result = { type: 'tool_result', tool_use_id: 't', content: [found] };
    const tools = [{ name: 'search', input_schema: { type: 'object' } }];
    const messages = [hi, { role: 'assistant', content: [use] }, { role: 'user', content: [result] }];
    const { body } = begin(translation, { ...asked, tools, messages });
    expect(check(body)).toBeNull();
    expect(JSON.stringify(body)).toContain('first\\nsecond');
  });

  test('is left out, and told, where it has no text', () => {
    const notes = new KeptNotes();
    const content = [
      { ...found, content: [] },
      { type: 'text', text: 'Which?' },
    ];
    const { body } = begin(translation, { ...asked, messages: [{ role: 'user', content }] }, { notes });
    expect(check(body)).toBeNull();
    expect(notes.lines).toContain('- messages[0].content[0] (search_result)');
  });
});
