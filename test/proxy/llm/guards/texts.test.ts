import { describe, expect, test } from '@jest/globals';

import type { ChatFormat } from '../../../../proxy/llm/formats.ts';
import { textFormats } from '../../../../proxy/llm/guards/text/formats.ts';
import type { JsonObject } from '../../../../src/shared/json.ts';

/** Every text that is looked at, as `scope: text`. */
function requestTexts(format: ChatFormat, body: JsonObject): string[] {
  const seen: string[] = [];
  const same = textFormats[format].mapRequest(body, (text, scope) => {
    seen.push(`${scope}: ${text}`);
    return text;
  });
  expect(same).toBe(body);
  return seen;
}

function responseTexts(format: ChatFormat, body: JsonObject): string[] {
  const seen: string[] = [];
  textFormats[format].mapResponse(body, (text, scope) => {
    seen.push(scope === 'messages' ? text : `${scope}: ${text}`);
    return text;
  });
  return seen;
}

const upper = (text: string): string => text.toUpperCase();

describe('chat completions', () => {
  const body: JsonObject = {
    model: 'm',
    messages: [
      { role: 'system', content: 'sys' },
      { role: 'developer', content: [{ type: 'text', text: 'dev' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
          { type: 'image_url', image_url: { url: 'data:x' } },
          { type: 'text', text: 'three' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: '1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { id: '2', type: 'custom', custom: { name: 'g', input: 'in' } },
        ],
      },
      { role: 'assistant', content: null, function_call: { name: 'old', arguments: 'args' } },
      { role: 'tool', tool_call_id: '1', content: 'out' },
      { role: 'function', name: 'old', content: 'legacy' },
    ],
  };

  test('are looked at by role, neighbouring texts as one', () => {
    expect(requestTexts('completions', body)).toEqual([
      'systemPrompt: sys',
      'systemPrompt: dev',
      'messages: one two',
      'messages: three',
      'toolInput: {"a":1}',
      'toolInput: in',
      'toolInput: args',
      'toolOutput: out',
      'toolOutput: legacy',
    ]);
  });

  test('have a changed run in its last part, and everything else as it was', () => {
    const mapped = textFormats.completions.mapRequest(body, (text) => (text === 'one two' ? 'ONE' : text));
    expect(mapped['messages']).toMatchObject([
      {},
      {},
      {
        content: [{ type: 'text', text: 'ONE' }, { type: 'image_url' }, { type: 'text', text: 'three' }],
      },
      {},
      {},
      {},
      {},
    ]);
    expect(body['messages']).toHaveLength(7);
  });

  test('have chances of tokens taken off a masked answer', () => {
    const choice = (content: string) => ({
      index: 0,
      message: { role: 'assistant', content },
      logprobs: { content: [] },
    });
    const mapped = textFormats.completions.mapResponse({ choices: [choice('a'), choice('B')] }, upper);
    expect(mapped).toEqual({
      choices: [{ ...choice('A'), logprobs: null }, choice('B')],
    });
  });
});

describe('messages', () => {
  test('are looked at by block', () => {
    expect(
      requestTexts('messages', {
        system: [
          { type: 'text', text: 's1' },
          { type: 'text', text: 's2' },
        ],
        messages: [
          { role: 'user', content: 'plain' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
              { type: 'image', source: { type: 'base64', data: 'x' } },
              { type: 'tool_result', tool_use_id: 't', content: 'result' },
              { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'part' }] },
              { type: 'code_execution_tool_result', content: { type: 'code', stdout: 'printed', file_id: 'f' } },
              { type: 'web_search_tool_result', content: [{ type: 'web_search_result', title: 'no' }] },
              { type: 'document', title: 't', context: 'c', source: { type: 'text', data: 'doc', media_type: 'm' } },
              { type: 'document', source: { type: 'base64', data: 'never' } },
              { type: 'search_result', title: 'found', source: 'u', content: [{ type: 'text', text: 'hit' }] },
              { type: 'compaction', content: 'short' },
              { type: 'mid_conv_system', content: 'mid' },
            ],
          },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'never', signature: 's' },
              { type: 'tool_use', id: 't', name: 'f', input: { q: 'deep', list: [{ x: 'deeper' }], n: 1 } },
              { type: 'mcp_tool_use', input: { q: 'mcp' } },
            ],
          },
        ],
      }),
    ).toEqual([
      'systemPrompt: s1\ns2',
      'messages: plain',
      'messages: a b',
      'toolOutput: result',
      'toolOutput: part',
      'toolOutput: printed',
      'messages: doc',
      'messages: t',
      'messages: c',
      'messages: found',
      'messages: hit',
      'messages: short',
      'systemPrompt: mid',
      'toolInput: deep',
      'toolInput: deeper',
      'toolInput: 1',
      'toolInput: mcp',
    ]);
  });

  test('flatten for services with the system prompt first, and take it back', () => {
    const { messages, withMessages } = textFormats.messages;
    const body: JsonObject = {
      system: [{ type: 'text', text: 's' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    };
    expect(messages(body)).toEqual([
      { role: 'system', content: 's' },
      { role: 'user', content: 'a b' },
    ]);
    expect(
      withMessages(body, [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'A' },
      ]),
    ).toEqual({
      system: 'S',
      messages: [{ role: 'user', content: 'A' }],
    });
  });
});

describe('responses', () => {
  test('are looked at by item', () => {
    expect(
      requestTexts('responses', {
        instructions: 'be nice',
        input: [
          { role: 'developer', content: 'dev' },
          {
            type: 'message',
            role: 'user',
            content: [
              { type: 'input_text', text: 'a' },
              { type: 'input_text', text: 'b' },
              { type: 'input_image', image_url: 'u' },
            ],
          },
          { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"x":"y"}' },
          { type: 'function_call_output', call_id: 'c', output: 'out' },
          { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'part' }] },
          { type: 'custom_tool_call', call_id: 'c', name: 'f', input: 'in' },
          { type: 'code_interpreter_call', code: 'print()', outputs: [{ type: 'logs', logs: 'printed' }] },
          { type: 'local_shell_call', action: { type: 'exec', command: ['ls'] } },
          { type: 'mcp_call', arguments: 'margs', output: 'mout' },
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'never' }] },
        ],
      }),
    ).toEqual([
      'systemPrompt: be nice',
      'systemPrompt: dev',
      'messages: a\nb',
      'messages: no',
      'toolInput: {"x":"y"}',
      'toolOutput: out',
      'toolOutput: part',
      'toolInput: in',
      'toolInput: print()',
      'toolOutput: printed',
      'toolInput: ls',
      'toolInput: margs',
      'toolOutput: mout',
    ]);
    expect(requestTexts('responses', { input: 'hi' })).toEqual(['messages: hi']);
  });

  test('take a system message back into the instructions only where there were some', () => {
    const { withMessages } = textFormats.responses;
    const messages = [
      { role: 'system', content: 'S' },
      { role: 'user', content: 'U' },
    ];
    const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'U' }] };
    expect(withMessages({ instructions: 'i', input: 'x' }, messages)).toEqual({ instructions: 'S', input: [user] });
    expect(withMessages({ input: 'x' }, messages)).toEqual({
      input: [{ type: 'message', role: 'system', content: [{ type: 'input_text', text: 'S' }] }, user],
    });
  });

  test('have texts of answers told apart from calls and thoughts', () => {
    expect(
      responseTexts('responses', {
        output: [
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'thought' }], encrypted_content: 'never' },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'said' }] },
          { type: 'function_call', arguments: 'called' },
        ],
      }),
    ).toEqual(['reasoning: thought', 'said', 'toolInput: called']);
  });
});

describe('generateContent', () => {
  const body: JsonObject = {
    systemInstruction: { parts: [{ text: 's' }, { text: 't' }] },
    contents: [
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }, { inlineData: { data: 'x' } }] },
      {
        role: 'model',
        parts: [
          { text: 'thinking', thought: true },
          { functionCall: { name: 'f', args: { q: 'deep' } } },
          { executableCode: { code: 'run' } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'f', response: { r: 'out' } } },
          { codeExecutionResult: { outcome: 'OK', output: 'ran' } },
        ],
      },
    ],
  };

  test('is looked at by part', () => {
    expect(requestTexts('generateContent', body)).toEqual([
      'systemPrompt: s\nt',
      'messages: a\nb',
      'toolInput: deep',
      'toolInput: run',
      'toolOutput: out',
      'toolOutput: ran',
    ]);
  });

  test('keeps what is no text where a service masks as many messages', () => {
    const { messages, withMessages } = textFormats.generateContent;
    const flat = messages(body);
    expect(flat.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    const mapped = withMessages(
      body,
      flat.map(({ role, content }) => ({ role, content: content === 'a\nb' ? 'M' : content })),
    );
    expect(mapped['contents']).toMatchObject([
      { role: 'user', parts: [{ text: 'M' }, { inlineData: { data: 'x' } }] },
      { role: 'model', parts: [{ thought: true }, {}, {}] },
      {},
    ]);
  });
});

test.each<[ChatFormat, JsonObject, JsonObject]>([
  [
    'completions',
    { choices: [{ message: { role: 'assistant', content: 'x' } }] },
    { choices: [{ message: { role: 'assistant', content: 'Y' } }] },
  ],
  [
    'messages',
    {
      content: [
        { type: 'thinking', thinking: 't' },
        { type: 'text', text: 'x' },
      ],
    },
    {
      content: [
        { type: 'thinking', thinking: 't' },
        { type: 'text', text: 'Y' },
      ],
    },
  ],
  [
    'responses',
    { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] }] },
    {
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Y', annotations: [] }] }],
    },
  ],
  [
    'generateContent',
    { candidates: [{ content: { role: 'model', parts: [{ text: 'x' }] }, logprobsResult: {} }] },
    { candidates: [{ content: { role: 'model', parts: [{ text: 'Y' }] } }] },
  ],
])('%s: an answer takes the texts of a service', (format, body, expected) => {
  const { choices, withChoices } = textFormats[format];
  expect(choices(body)).toEqual([{ role: format === 'generateContent' ? 'assistant' : 'assistant', content: 'x' }]);
  expect(withChoices(body, [{ role: 'assistant', content: 'Y' }])).toEqual(expected);
});

test.each<[ChatFormat]>([['completions'], ['messages'], ['responses'], ['generateContent']])(
  '%s: bodies that are something else are left alone',
  (format) => {
    for (const body of [
      {},
      { messages: 1, input: 2, contents: 3, choices: 4, content: 5, output: 6, candidates: 7, system: 8 },
      {
        messages: [1, null, {}],
        input: [1, null, {}],
        contents: [1, null, {}],
        choices: [null, {}],
        content: [null, {}],
      },
      { messages: [{ content: [1, null, { type: 'text' }] }], candidates: [{ content: { parts: [1, null] } }] },
    ] satisfies JsonObject[]) {
      expect(requestTexts(format, body)).toEqual([]);
      expect(responseTexts(format, body)).toEqual([]);
      expect(() => textFormats[format].messages(body)).not.toThrow();
      expect(() => textFormats[format].choices(body)).not.toThrow();
    }
  },
);

/** A call whose arguments have a text that many levels down. */
function nested(depth: number): JsonObject {
  let input: JsonObject = { found: 'x' };
  for (let level = 0; level < depth; level++) input = { in: [input] };
  return { messages: [{ role: 'assistant', content: [{ type: 'tool_use', input }] }] };
}

test('a text is found however deep it is, and what is too deep to be looked at does not pass', () => {
  expect(requestTexts('messages', nested(500))).toEqual(['toolInput: x']);
  expect(() => requestTexts('messages', nested(50_000))).toThrow(RangeError);
});
