import { describe, expect, test } from '@jest/globals';

import type { Exchange } from '../../../../proxy/exchange/exchange.ts';
import { promptChanges } from '../../../../proxy/llm/body/prompts.ts';

const system = { role: 'system', content: 'Be kind.' };
const user = { role: 'user', content: 'Thanks.' };
const assistant = { role: 'assistant', content: 'Yes?' };
// `as`: nobody watches, and nothing else of the exchange is read.
const exchange = { trace: null } as Exchange;

const change = promptChanges({ prepend: [system, assistant], append: [user] }, 'a test');

function changed(type: Parameters<NonNullable<typeof change>>[2], body: Parameters<NonNullable<typeof change>>[1]) {
  return change?.(exchange, body, type);
}

describe('messages added to prompts', () => {
  test('stand around those of chat completions as they are', () => {
    const there = { role: 'user', content: 'Hello' };
    expect(changed('completions', { model: 'm', messages: [there] })).toEqual({
      model: 'm',
      messages: [system, assistant, there, user],
    });
    expect(changed('completions', {})).toEqual({ messages: [system, assistant, user] });
  });

  test('go to the system field of messages, which becomes blocks, and to the turns', () => {
    const blocks = (...texts: string[]) => texts.map((text) => ({ type: 'text', text }));
    expect(changed('messages', { messages: [], system: 'Old.' })).toEqual({
      messages: [assistant, user],
      system: blocks('Be kind.', 'Old.'),
    });
    expect(changed('anthropicTokenCount', { messages: [] })).toEqual({
      messages: [assistant, user],
      system: blocks('Be kind.'),
    });
    const only = promptChanges({ prepend: [user], append: [] }, 'a test');
    expect(only?.(exchange, { messages: [], system: 'Old.' }, 'messages')).toEqual({
      messages: [user],
      system: 'Old.',
    });
    const last = promptChanges({ prepend: [], append: [system] }, 'a test');
    expect(last?.(exchange, { messages: [], system: blocks('Old.') }, 'messages')).toEqual({
      messages: [],
      system: blocks('Old.', 'Be kind.'),
    });
  });

  test('are items of responses, whose text becomes one', () => {
    const item = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] });
    expect(changed('responses', { input: 'Hello', instructions: 'i' })).toEqual({
      input: [item('system', 'Be kind.'), assistant, item('user', 'Hello'), item('user', 'Thanks.')],
      instructions: 'i',
    });
  });

  test('are turns of Gemini, and its system instruction', () => {
    const turn = (role: string, text: string) => ({ role, parts: [{ text }] });
    const contents = [turn('model', 'Yes?'), turn('user', 'Hello'), turn('user', 'Thanks.')];
    expect(changed('generateContent', { contents: [turn('user', 'Hello')] })).toEqual({
      contents,
      systemInstruction: { parts: [{ text: 'Be kind.' }] },
    });
    expect(
      changed('generateContent', { contents: [], system_instruction: { parts: [{ text: 'Old.' }] } }),
    ).toMatchObject({
      system_instruction: { parts: [{ text: 'Be kind.' }, { text: 'Old.' }] },
    });
    expect(changed('geminiCountTokens', { generateContentRequest: { contents: [turn('user', 'Hello')] } })).toEqual({
      generateContentRequest: { contents, systemInstruction: { parts: [{ text: 'Be kind.' }] } },
    });
    expect(changed('geminiCountTokens', { contents: [] })).toEqual({
      contents: [turn('user', 'Be kind.'), turn('model', 'Yes?'), turn('user', 'Thanks.')],
    });
  });

  test('leave bodies alone that have no prompt, or no list where one belongs', () => {
    const body = { input: ['a'] };
    expect(changed('embeddings', body)).toBe(body);
    for (const type of ['completions', 'messages', 'responses', 'generateContent', 'geminiCountTokens'] as const) {
      const broken = { messages: 5, input: 5, contents: 5 };
      expect(changed(type, broken)).toBe(broken);
    }
    const oddSystem = { messages: [], system: 5 };
    expect(changed('messages', oddSystem)).toBe(oddSystem);
    expect(promptChanges({ prepend: [], append: [] }, 'a test')).toBeNull();
  });
});
