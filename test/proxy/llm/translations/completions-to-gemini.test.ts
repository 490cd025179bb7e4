import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { LlmFailure } from '../../../../proxy/llm/failure.ts';
import { completionsToGemini } from '../../../../proxy/llm/translations/completions-to-gemini/index.ts';
import { geminiSchema } from '../../../../proxy/llm/translations/google/schema.ts';
import { begin, deltas, NoteLines, streamed, unlessRefused } from './recorded.ts';

const PIXEL = 'data:image/jpg;base64,/9j/';

function gemini(fields: JsonObject, model = 'gemini-2.5-pro') {
  return begin(completionsToGemini, { model, messages: [], ...fields }, { model });
}

function user(content: JsonObject[string]): JsonObject {
  return { role: 'user', content };
}

function callOf(id: string, name: string, args = '{}'): JsonObject {
  return { id, type: 'function', function: { name, arguments: args } };
}

describe('a conversation', () => {
  test('becomes turns of the user and the model, with instructions apart', () => {
    const { body, dropped } = gemini({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
        user('Hello'),
        user([
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: PIXEL } },
        ]),
        { role: 'assistant', content: 'A dot.' },
      ],
    });
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.\nBe kind.' }] },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'Hello' },
            { text: 'What is this?' },
            { inlineData: { mimeType: 'image/jpeg', data: '/9j/' } },
          ],
        },
        { role: 'model', parts: [{ text: 'A dot.' }] },
      ],
    });
    expect(dropped).toEqual([]);
  });

  test('is never empty, and no turn of a user is without a text', () => {
    expect(gemini({}).body).toEqual({ contents: [{ role: 'user', parts: [{ text: ' ' }] }] });
    expect(gemini({ messages: [user([{ type: 'image_url', image_url: { url: PIXEL } }])] }).body['contents']).toEqual([
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/jpeg', data: '/9j/' } }, { text: ' ' }] },
    ]);
  });

  test('takes files from storage by their type or their name', () => {
    const part = (image_url: JsonObject) => gemini({ messages: [user([{ type: 'image_url', image_url }])] }).body;
    expect(part({ url: 'gs://b/a.pdf' })['contents']).toMatchObject([
      { parts: [{ fileData: { mimeType: 'application/pdf', fileUri: 'gs://b/a.pdf' } }, { text: ' ' }] },
    ]);
    expect(part({ url: 'gs://b/a', format: 'png' })['contents']).toMatchObject([
      { parts: [{ fileData: { mimeType: 'image/png' } }, {}] },
    ]);
    expect(() => part({ url: 'gs://b/a' })).toThrow(/media type/);
    expect(() => part({ url: 'https://example.com/a.png' })).toThrow(LlmFailure);
    expect(() => part({})).toThrow(/base64 data URLs/);
  });

  test('gives tools their answers in the order of the calls, apart from everything else', () => {
    const { body } = gemini({
      messages: [
        user('Weather?'),
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            callOf('call_a__thought__c2ln', 'weather', '{"city":"Paris"}'),
            callOf('call_b', 'clock', 'not json'),
          ],
        },
        { role: 'tool', tool_call_id: 'call_b', content: 'noon' },
        { role: 'tool', tool_call_id: 'call_a__thought__c2ln', content: [{ type: 'text', text: 'sunny' }] },
        user('Thanks'),
      ],
    });
    expect(body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'Weather?' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'weather', args: { city: 'Paris' } }, thoughtSignature: 'c2ln' },
          { functionCall: { name: 'clock', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'weather', response: { content: 'sunny' } } },
          { functionResponse: { name: 'clock', response: { content: 'noon' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'Thanks' }] },
    ]);
    expect(JSON.stringify(body)).not.toContain('call_');
  });
});

describe('settings', () => {
  test('are called as Gemini calls them; what it has no place for is reported', () => {
    const { body, dropped } = gemini({
      temperature: 0.5,
      top_p: 0.9,
      top_k: 7,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      max_tokens: 10,
      max_completion_tokens: 20,
      stop: 'END',
      n: 2,
      seed: 3,
      user: 'me',
      parallel_tool_calls: true,
      safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      labels: { team: 'a' },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: ['integer', 'null'] } } },
    });
    expect(body['generationConfig']).toEqual({
      temperature: 0.5,
      topP: 0.9,
      topK: 7,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      maxOutputTokens: 20,
      stopSequences: ['END'],
      candidateCount: 2,
      seed: 3,
      responseMimeType: 'application/json',
      responseSchema: { type: 'integer', nullable: true },
    });
    expect(body['safetySettings']).toHaveLength(1);
    expect(body['labels']).toEqual({ team: 'a' });
    expect(dropped).toEqual(['user', 'parallel_tool_calls', 'response_format.json_schema.name']);
  });

  test.each([
    ['gemini-2.5-pro', { reasoning_effort: 'medium' }, { thinkingBudget: 2048, includeThoughts: true }],
    ['gemini-3-pro', { reasoning_effort: 'xhigh' }, { thinkingLevel: 'high', includeThoughts: true }],
    ['gemini-3-pro', { reasoning_effort: 'none' }, undefined],
    ['gemini-3-pro', { reasoning_effort: 'low', thinking_config: { thinkingBudget: 5 } }, { thinkingBudget: 5 }],
  ])('of thinking of %s: %j', (model, fields, expected) => {
    const config = gemini(fields, model).body['generationConfig'];
    expect(config).toEqual(expected === undefined ? undefined : { thinkingConfig: expected });
  });

  test('cached content has its own instructions and tools', () => {
    const { body, dropped } = gemini({
      messages: [{ role: 'system', content: 'Be brief.' }, user('Hi')],
      cached_content: 'cachedContents/1',
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'auto',
    });
    expect(body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], cachedContent: 'cachedContents/1' });
    expect(dropped).toEqual(['messages (system)', 'tools', 'tool_choice']);
  });

  test.each([
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    ['auto', { mode: 'AUTO' }],
    [
      { type: 'function', function: { name: 'f' } },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
  ])('of calls: %j', (tool_choice, expected) => {
    const tools = [{ type: 'function', function: { name: 'f', description: 'd' } }, { type: 'web_search' }];
    const { body, dropped } = gemini({ tools, tool_choice });
    expect(body['tools']).toEqual([{ functionDeclarations: [{ name: 'f', description: 'd' }] }]);
    expect(body['toolConfig']).toEqual({ functionCallingConfig: expected });
    expect(dropped).toEqual(['tools[1]']);
  });
});

describe('schemas', () => {
  const schema = (source: JsonObject) => geminiSchema(source, 's', new NoteLines());

  test('lose references, unions and everything that Gemini does not know', () => {
    expect(
      schema({
        $schema: 'x',
        type: 'object',
        additionalProperties: false,
        $defs: { Point: { type: 'object', properties: { x: { type: 'number', format: 'double' } }, required: ['x'] } },
        properties: {
          at: { $ref: '#/$defs/Point', description: 'where' },
          both: { allOf: [{ $ref: '#/$defs/Point' }, { properties: { y: { type: 'integer' } }, required: ['y'] }] },
          maybe: { anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] },
          either: { type: ['string', 'integer', 'null'] },
          kind: { const: 'a' },
          level: { type: 'integer', enum: [1, 2] },
          word: { enum: ['x', 'y'] },
          list: { type: 'array', minItems: 1 },
          pick: { oneOf: [{ type: 'string' }, { type: 'number' }] },
          when: { type: 'string', format: 'date-time' },
          any: true,
        },
        required: ['at', 'ghost'],
      }),
    ).toEqual({
      type: 'object',
      properties: {
        at: { type: 'object', description: 'where', properties: { x: { type: 'number' } }, required: ['x'] },
        both: { type: 'object', properties: { x: { type: 'number' }, y: { type: 'integer' } }, required: ['x', 'y'] },
        maybe: { type: 'string', minLength: 1, nullable: true },
        either: { anyOf: [{ type: 'string' }, { type: 'integer' }], nullable: true },
        kind: { type: 'string', enum: ['a'] },
        level: { type: 'integer' },
        word: { type: 'string', enum: ['x', 'y'] },
        list: { type: 'array', items: { type: 'object' } },
        pick: { anyOf: [{ type: 'string' }, { type: 'number' }] },
        when: { type: 'string', format: 'date-time' },
        any: { type: 'object' },
      },
      required: ['at'],
    });
  });

  test('report what they lose', () => {
    const notes = new NoteLines();
    geminiSchema({ type: 'array', minItems: 2, items: { type: 'string', contentEncoding: 'x' } }, 's', notes);
    expect(notes.dropped_).toEqual(['s.minItems', 's.items.contentEncoding']);
  });

  test('that refer to themselves end', () => {
    const tree = { $ref: '#/$defs/T', $defs: { T: { type: 'object', properties: { next: { $ref: '#/$defs/T' } } } } };
    expect(schema(tree)).toEqual({ type: 'object', properties: { next: { type: 'object' } } });
  });

  test('that multiply without end are refused', () => {
    const $defs: Record<string, JsonObject> = {};
    for (let level = 0; level < 20; level += 1) {
      const next = { $ref: `#/$defs/L${level + 1}` };
      $defs[`L${level}`] = { type: 'object', properties: { a: next, b: next, c: next } };
    }
    expect(() => schema({ $ref: '#/$defs/L0', $defs })).toThrow(LlmFailure);
  });

  test('always have a known shape, whatever they were', () => {
    const known = new Set(
      'type format description title nullable enum items properties required anyOf default minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum propertyOrdering'.split(
        ' ',
      ),
    );
    const check = (value: JsonObject): void => {
      for (const name of Object.keys(value)) expect(known).toContain(name);
      expect(value['type'] ?? value['anyOf']).toBeDefined();
      for (const inner of Object.values((value['properties'] ?? {}) as Record<string, JsonObject>)) check(inner);
      for (const inner of (value['anyOf'] ?? []) as JsonObject[]) check(inner);
      if (value['items'] !== undefined) check(value['items'] as JsonObject);
    };
    const leaf = fc.record(
      {
        type: fc.oneof(
          fc.constantFrom('string', 'integer', 'null'),
          fc.array(fc.constantFrom('string', 'array', 'null')),
        ),
        enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null))),
        format: fc.string(),
        const: fc.oneof(fc.string(), fc.constant(null)),
        oneOf: fc.anything({ maxDepth: 1 }),
      },
      { requiredKeys: [] },
    );
    const { node } = fc.letrec<{ node: object }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.record({ anyOf: fc.array(tie('node'), { maxLength: 3 }) }),
        fc.record({ allOf: fc.array(tie('node'), { maxLength: 3 }) }),
        fc.record({
          properties: fc.dictionary(fc.string(), tie('node'), { maxKeys: 3 }),
          required: fc.array(fc.string()),
        }),
        fc.record({ type: fc.constant('array'), items: tie('node') }),
      ),
    }));
    fc.assert(
      fc.property(node, (source) => {
        const input = JSON.parse(JSON.stringify(source)) as JsonObject; // plain data, as it would arrive
        check(schema(input));
      }),
      { numRuns: 200 },
    );
  });
});

describe('an answer', () => {
  const answer = {
    responseId: 'r1',
    modelVersion: 'gemini-2.5-pro-001',
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'Hmm. ', thought: true },
            { text: 'It is ' },
            { text: 'sunny.' },
            { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'U2ln' },
            { functionCall: { name: 'g' } },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: {
      promptTokenCount: 10,
      candidatesTokenCount: 4,
      thoughtsTokenCount: 3,
      cachedContentTokenCount: 2,
      totalTokenCount: 17,
    },
  };

  test('is a chat completion, with signatures in the ids of calls', () => {
    const { created, ...completion } = gemini({}).call.response(answer) as { created: number };
    expect(created).toBeGreaterThan(1_700_000_000);
    expect(completion).toEqual({
      id: 'r1',
      object: 'chat.completion',
      model: 'gemini-2.5-pro-001',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'It is sunny.',
            reasoning_content: 'Hmm. ',
            tool_calls: [callOf('call_r1_0__thought__U2ln', 'f', '{"a":1}'), callOf('call_r1_1', 'g')],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 7,
        total_tokens: 17,
        prompt_tokens_details: { cached_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    });
  });

  test.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['IMAGE_RECITATION', 'content_filter'],
    ['MALFORMED_FUNCTION_CALL', 'stop'],
  ])('that ended by %s ended by %s', (finishReason, expected) => {
    const completion = gemini({}).call.response({ candidates: [{ finishReason }] });
    expect(completion).toMatchObject({ choices: [{ finish_reason: expected, message: { content: null } }] });
    expect(completion['id']).toMatch(/^vertex-gemini-\d+$/);
  });

  test('to a prompt that was refused is empty', () => {
    expect(gemini({}).call.response({ promptFeedback: { blockReason: 'SAFETY' } })).toMatchObject({
      choices: [{ finish_reason: 'content_filter' }],
    });
  });

  test('that is none is refused', () => {
    expect(() => gemini({}).call.response({ hello: 'world' })).toThrow(LlmFailure);
  });
});

describe('a stream', () => {
  const part = (...parts: JsonObject[]) => [null, { responseId: 'r', candidates: [{ content: { parts } }] }] as const;
  const usage = { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 };

  test('tells the role once, calls whole, and the usage with the end', () => {
    const written = streamed(gemini({}).call, [
      part({ text: 'Hm', thought: true }),
      part({ text: 'Hi' }, { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'c2' }),
      [null, { candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }], usageMetadata: usage }],
    ]);
    expect(deltas(written)).toEqual([
      { role: 'assistant', reasoning_content: 'Hm' },
      { content: 'Hi' },
      { tool_calls: [{ index: 0, ...callOf('call_r_0__thought__c2', 'f', '{"a":1}') }] },
      { finish: 'tool_calls', usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
      '[DONE]',
    ]);
  });

  test('may tell its usage late, and have other candidates', () => {
    const written = streamed(gemini({}).call, [
      [
        null,
        {
          candidates: [
            { index: 1, content: { parts: [{ text: 'no' }] } },
            { index: 0, finishReason: 'STOP' },
          ],
        },
      ],
      [null, { usageMetadata: usage }],
    ]);
    expect(deltas(written)).toEqual([
      { role: 'assistant', finish: 'stop' },
      { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
      '[DONE]',
    ]);
  });

  test('that fails says so, and is not done', () => {
    const error = { code: 503, message: 'overloaded', status: 'UNAVAILABLE' };
    expect(deltas(streamed(gemini({}).call, [part({ text: 'Hi' }), [null, { error }]]))).toEqual([
      { role: 'assistant', content: 'Hi' },
      { error: { message: 'overloaded', type: 'api_error', param: null, code: 'UNAVAILABLE' } },
    ]);
    expect(deltas(streamed(gemini({}).call, []))).toMatchObject([{ error: { type: 'server_error' } }]);
  });

  test('to a prompt that was refused ends by its filter', () => {
    const blocked = streamed(gemini({}).call, [[null, { promptFeedback: { blockReason: 'SAFETY' } }]]);
    expect(deltas(blocked)).toEqual([{ role: 'assistant', finish: 'content_filter' }, '[DONE]']);
  });
});

describe('an error', () => {
  const error = (status: number, body: unknown) =>
    gemini({}).call.error(status, typeof body === 'string' ? body : JSON.stringify(body));

  test.each([
    [429, 'RESOURCE_EXHAUSTED', 'rate_limit_error'],
    [400, 'INVALID_ARGUMENT', 'invalid_request_error'],
    [404, 'NOT_FOUND', 'not_found_error'],
    [403, 'PERMISSION_DENIED', 'authentication_error'],
    [500, 'INTERNAL', 'api_error'],
  ])('%i %s is of the type %s, in a list too', (code, status, type) => {
    const google = { error: { code, message: 'because', status, details: [{ secret: 1 }] } };
    const expected = { error: { message: 'because', type, param: null, code: status } };
    expect(error(code, google)).toEqual(expected);
    expect(error(code, [google])).toEqual(expected);
  });

  test('without a status has that of HTTP', () => {
    expect(error(429, { error: { message: 'x' } })).toMatchObject({ error: { code: 'RESOURCE_EXHAUSTED' } });
    expect(error(401, { error: 'invalid_grant' })).toMatchObject({ error: { message: 'invalid_grant' } });
  });

  test.each([
    ['<html>Bad gateway</html>'],
    [''],
    ['[]'],
    ['null'],
    ['{}'],
    ['[1]'],
    ['{"error":{}}'],
    ['{"error":[]}'],
  ])('that is none is not understood: %s', (body) => expect(error(502, body)).toBeUndefined());
});

test('whatever a client sends, either a request or a failure comes of it', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const message = fc.record({
    role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'function', 'developer', 'x'),
    content: value,
    tool_calls: value,
    tool_call_id: value,
  });
  const body = fc.record({
    messages: fc.array(message, { maxLength: 5 }),
    tools: value,
    tool_choice: value,
    stop: value,
  });
  fc.assert(
    fc.property(body, (fields) => {
      const sent = JSON.parse(JSON.stringify(fields)) as JsonObject; // plain data, as it would arrive
      const made = unlessRefused(() => gemini(sent).body);
      expect(made === undefined || Array.isArray(made['contents'])).toBe(true);
    }),
    { numRuns: 150 },
  );
});
