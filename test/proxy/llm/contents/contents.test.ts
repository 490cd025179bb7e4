import { describe, expect, test } from '@jest/globals';

import { contentsOf } from '../../../../proxy/llm/contents/answer.ts';
import { GatheredContents } from '../../../../proxy/llm/contents/gathered.ts';
import { promptOf } from '../../../../proxy/llm/contents/prompt.ts';
import type { JsonObject } from '../../../../src/shared/json.ts';

const said = { completion: ['one two'], toolCalls: [{ id: 't1', name: 'f', arguments: '{"a":1}' }] };

describe('what a model answered', () => {
  const whole: Readonly<Record<Parameters<typeof contentsOf>[0], JsonObject>> = {
    completions: {
      choices: [
        { message: { content: 'one two', tool_calls: [{ id: 't1', function: { name: 'f', arguments: '{"a":1}' } }] } },
      ],
    },
    messages: {
      content: [
        { type: 'text', text: 'one two' },
        { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
      ],
    },
    responses: {
      output: [
        { type: 'message', content: [{ type: 'output_text', text: 'one two' }] },
        { type: 'function_call', call_id: 't1', name: 'f', arguments: '{"a":1}' },
      ],
    },
    generateContent: {
      candidates: [
        {
          content: {
            parts: [
              { text: 'hm', thought: true },
              { text: 'one two' },
              { functionCall: { id: 't1', name: 'f', args: { a: 1 } } },
            ],
          },
        },
      ],
    },
    converse: {
      output: {
        message: { content: [{ text: 'one two' }, { toolUse: { toolUseId: 't1', name: 'f', input: { a: 1 } } }] },
      },
    },
  };

  test.each(Object.keys(whole) as (keyof typeof whole)[])('is read from %s', (format) => {
    expect(contentsOf(format, whole[format])).toEqual(said);
    expect(contentsOf(format, {})).toMatchObject({ toolCalls: [] });
  });

  const streams: Readonly<Record<keyof typeof whole, readonly (readonly [name: string | null, data: JsonObject])[]>> = {
    completions: [
      [null, { choices: [{ index: 0, delta: { content: 'one ' } }] }],
      [null, { choices: [{ index: 0, delta: { content: 'two' } }] }],
      [null, { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 't1', function: { name: 'f' } }] } }] }],
      [null, { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] } }] }],
      [null, { choices: [], usage: {} }],
    ],
    messages: [
      [null, { index: 0, content_block: { type: 'text', text: '' } }],
      [null, { index: 0, delta: { type: 'text_delta', text: 'one ' } }],
      [null, { index: 0, delta: { type: 'text_delta', text: 'two' } }],
      [null, { index: 1, content_block: { type: 'tool_use', id: 't1', name: 'f', input: {} } }],
      [null, { index: 1, delta: { type: 'input_json_delta', partial_json: '{"a"' } }],
      [null, { index: 1, delta: { type: 'input_json_delta', partial_json: ':1}' } }],
    ],
    responses: [
      [null, { type: 'response.output_text.delta', delta: 'one ' }],
      [null, { type: 'response.output_text.delta', delta: 'two' }],
      [
        null,
        {
          type: 'response.output_item.done',
          item: { type: 'function_call', call_id: 't1', name: 'f', arguments: '{"a":1}' },
        },
      ],
    ],
    generateContent: [
      [null, { candidates: [{ content: { parts: [{ text: 'one ' }] } }] }],
      [null, { candidates: [{ content: { parts: [{ text: 'two' }] } }] }],
      [null, { candidates: [{ content: { parts: [{ functionCall: { id: 't1', name: 'f', args: { a: 1 } } }] } }] }],
    ],
    converse: [
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'one ' } }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'two' } }],
      ['contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 't1', name: 'f' } } }],
      ['contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{"a":1}' } } }],
    ],
  };

  test.each(Object.keys(streams) as (keyof typeof streams)[])('is put together from a stream of %s', (format) => {
    const gathered = new GatheredContents(format);
    for (const [name, data] of streams[format]) gathered.event(name, data);
    const { completion, toolCalls } = gathered;
    expect({ completion, toolCalls }).toEqual(said);
  });

  test('is taken from the end of a stream that repeats it whole', () => {
    const gathered = new GatheredContents('responses');
    gathered.event(null, { type: 'response.completed', response: whole.responses });
    expect({ completion: gathered.completion, toolCalls: gathered.toolCalls }).toEqual(said);
  });

  test('is not kept without end', () => {
    const gathered = new GatheredContents('completions');
    const piece = 'x'.repeat(1024 * 1024 - 1);
    for (let n = 0; n < 3; n++) gathered.event(null, { choices: [{ index: 0, delta: { content: piece } }] });
    expect(gathered.completion[0]).toHaveLength(1024 * 1024);
  });
});

test.each([
  [
    'completions',
    {
      messages: [
        { role: 'system', content: 'a' },
        { role: 'user', content: [{ type: 'text', text: 'b' }, { type: 'image_url' }] },
      ],
    },
  ],
  ['messages', { system: [{ type: 'text', text: 'a' }], messages: [{ role: 'user', content: 'b' }] }],
  [
    'responses',
    {
      instructions: 'a',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'b' }] }, { type: 'reasoning' }],
    },
  ],
  [
    'generateContent',
    { systemInstruction: { parts: [{ text: 'a' }] }, contents: [{ role: 'user', parts: [{ text: 'b' }] }] },
  ],
] as const)('the prompt of %s is who said what', (type, body) => {
  expect(promptOf(type, body)).toEqual([
    { role: 'system', content: 'a' },
    { role: 'user', content: 'b' },
  ]);
});

test('neither prompts nor answers have what models think; refusals are what they say', () => {
  const thought = { text: 'hm', thought: true };
  const contents = [{ role: 'model', parts: [thought, { text: 'b' }] }];
  expect(promptOf('generateContent', { system_instruction: { parts: [{ text: 'a' }] }, contents })).toEqual([
    { role: 'system', content: 'a' },
    { role: 'model', content: 'b' },
  ]);
  const output = [
    { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
  ];
  expect(contentsOf('responses', { output }).completion).toEqual(['no']);
  const gathered = new GatheredContents('responses');
  gathered.event(null, { type: 'response.refusal.delta', delta: 'no' });
  expect(gathered.completion).toEqual(['no']);
});
