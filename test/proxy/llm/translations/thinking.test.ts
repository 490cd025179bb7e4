import { describe, expect, test } from '@jest/globals';

import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { completionsToConverse } from '../../../../proxy/llm/translations/completions-to-converse/index.ts';
import { completionsToMessages } from '../../../../proxy/llm/translations/completions-to-messages/index.ts';
import { responsesToConverse } from '../../../../proxy/llm/translations/responses-to-converse/index.ts';
import { begin, KeptNotes } from './notes.ts';

const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
const tools = [{ type: 'function', function: { name: 'f' } }];

function chat(called: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    model: 'm',
    reasoning_effort: 'low',
    tools,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', tool_calls: [call], ...called },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
    ],
    ...more,
  };
}

const signed = { reasoning_content: 'Hm', reasoning_signature: 'sig' };
const missing = '- reasoning_effort (the thoughts before the last calls are missing)';

describe('a model that thinks, and goes on with results of calls', () => {
  test.each([
    ['messages', completionsToMessages],
    ['Converse', completionsToConverse],
  ])('thinks on by %s when its thoughts came back', (_name, translation) => {
    const notes = new KeptNotes();
    const { body } = begin(translation, chat(signed), { notes });
    expect(JSON.stringify(body)).toContain('"budget_tokens":1024');
    expect(JSON.stringify(body)).toContain('"signature":"sig"');
    expect(notes.lines).not.toContain(missing);
  });

  test.each([
    ['messages', completionsToMessages],
    ['Converse', completionsToConverse],
  ])('does not think by %s when they did not', (_name, translation) => {
    const notes = new KeptNotes();
    const { body } = begin(translation, chat({}), { notes });
    expect(JSON.stringify(body)).not.toContain('budget_tokens');
    expect(notes.lines).toContain(missing);
  });

  const input = (reasoning: JsonObject): JsonObject => ({
    model: 'm',
    reasoning: { effort: 'low' },
    tools: [{ type: 'function', name: 'f' }],
    input: [
      { role: 'user', content: 'Hi' },
      { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'Hm' }], ...reasoning },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
    ],
  });

  test('thinks on for a client of responses that sends back what it got', () => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'Hm', signature: 'sig' } } },
      { toolUse: { toolUseId: 'c1', name: 'f', input: {} } },
    ];
    const answer = { output: { message: { role: 'assistant', content } }, stopReason: 'tool_use', usage: {} };
    const { output } = begin(responsesToConverse, input({})).response(answer);
    const [item] = Array.isArray(output) ? output : [];
    expect(item).toMatchObject({ type: 'reasoning', encrypted_content: 'signature:sig' });
    const { body } = begin(responsesToConverse, input({ encrypted_content: 'signature:sig' }));
    expect(body['messages']).toMatchObject([{}, { content: [content[0], {}] }, {}]);
    expect(JSON.stringify(body)).toContain('budget_tokens');
  });

  test.each([{}, { encrypted_content: 'gAAAAAB' }])('does not take thoughts of others for its own: %j', (reasoning) => {
    const notes = new KeptNotes();
    const { body } = begin(responsesToConverse, input(reasoning), { notes });
    expect(JSON.stringify(body)).not.toMatch(/budget_tokens|gAAAAAB/);
    expect(notes.lines).toContain('- input[1] (not signed)');
  });
});

test('a model that thinks is left its sampling, and is not made to call', () => {
  const notes = new KeptNotes();
  const more = { temperature: 0.2, top_p: 0.5, tool_choice: { type: 'function', function: { name: 'f' } } };
  const { body } = begin(completionsToMessages, chat(signed, more), { notes });
  expect(body).toMatchObject({ thinking: {}, tool_choice: { type: 'auto' } });
  expect(body).not.toHaveProperty('temperature');
  expect(body).not.toHaveProperty('top_p');
  expect(body['tool_choice']).not.toHaveProperty('name');
  expect(notes.lines).toEqual(
    expect.arrayContaining([
      '- temperature (the model thinks)',
      '- top_p (the model thinks)',
      'tool_choice → auto, since the model thinks',
    ]),
  );
});

describe('a model that thinks without a limit of the client’s', () => {
  const messages = [{ role: 'user', content: 'Hi' }];

  test.each([
    ['low', 1024],
    ['high', 4096],
    ['max', 16_384],
  ])('has as much room for its answer as without thoughts: %s', (effort, budget) => {
    const asked = { model: 'm', reasoning_effort: effort, messages };
    const notes = new KeptNotes();
    expect(begin(completionsToMessages, asked, { notes }).body).toMatchObject({
      max_tokens: 4096 + budget,
      thinking: { budget_tokens: budget },
    });
    expect(notes.lines).toContain('+ max_tokens');
    const bedrock = new KeptNotes();
    const inferenceConfig = { maxTokens: 4096 + budget };
    const additionalModelRequestFields = { thinking: { budget_tokens: budget } };
    const converse = begin(completionsToConverse, asked, { notes: bedrock }).body;
    expect(converse).toMatchObject({ inferenceConfig, additionalModelRequestFields });
    expect(bedrock.lines).toContain('+ inferenceConfig.maxTokens');
    const { body } = begin(responsesToConverse, { model: 'm', reasoning: { effort }, input: 'Hi' });
    expect(body).toMatchObject({ inferenceConfig, additionalModelRequestFields });
  });

  test('has the usual limit when it does not think', () => {
    expect(begin(completionsToMessages, { model: 'm', messages }).body).toMatchObject({ max_tokens: 4096 });
    expect(begin(completionsToConverse, { model: 'm', messages }).body).not.toHaveProperty('inferenceConfig');
  });

  test.each([
    [2000, 1999],
    [1024, undefined],
    [100, undefined],
  ])('thinks as much as a limit of the client’s allows: %p', (limit, budget) => {
    const asked = { model: 'm', reasoning_effort: 'high', max_tokens: limit, messages };
    const thinking = budget === undefined ? undefined : { type: 'enabled', budget_tokens: budget };
    const notes = new KeptNotes();
    const message = begin(completionsToMessages, asked, { notes }).body;
    expect([message['max_tokens'], message['thinking']]).toEqual([limit, thinking]);
    const additional = thinking === undefined ? undefined : { thinking };
    for (const { body } of [
      begin(completionsToConverse, asked, { notes }),
      begin(responsesToConverse, { model: 'm', reasoning: { effort: 'high' }, max_output_tokens: limit, input: 'Hi' }),
    ]) {
      expect(body['inferenceConfig']).toEqual({ maxTokens: limit });
      expect(body['additionalModelRequestFields']).toEqual(additional);
    }
    const told = notes.lines.filter((line) => line === '- reasoning_effort (max_tokens leaves no room to think)');
    expect(told).toHaveLength(budget === undefined ? 2 : 0);
  });
});
