import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { completionsToConverse } from '../../../../proxy/llm/translations/completions-to-converse/index.ts';
import { completionsToGemini } from '../../../../proxy/llm/translations/completions-to-gemini/index.ts';
import type { Translation } from '../../../../proxy/llm/translations/contract.ts';
import { messagesToConverse } from '../../../../proxy/llm/translations/messages-to-converse/index.ts';
import { responsesToConverse } from '../../../../proxy/llm/translations/responses-to-converse/index.ts';
import { asCompletions, asMessages, asResponses, conversations, marksIn, type Turn } from './conversations.ts';
import { begin, streamed, type Written } from './recorded.ts';

const pairs: readonly (readonly [string, Translation, (turns: readonly Turn[]) => JsonObject])[] = [
  ['completions to Gemini', completionsToGemini, asCompletions],
  ['completions to Converse', completionsToConverse, asCompletions],
  ['messages to Converse', messagesToConverse, asMessages],
  ['responses to Converse', responsesToConverse, asResponses],
];

describe.each(pairs)('%s', (_name, translation, written) => {
  test('keeps all texts, calls and results of any conversation in their order, and the body of the client', () => {
    fc.assert(
      fc.property(conversations, (turns) => {
        const body = written(turns);
        const before = JSON.stringify(body);
        const { body: made, dropped } = begin(translation, body);
        expect(marksIn(made)).toEqual(marksIn(body));
        expect(dropped).toEqual([]);
        expect(JSON.stringify(body)).toBe(before);
      }),
      { numRuns: 60 },
    );
  });

  test('refuses what is no answer, and drops what is no event, whatever it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (data, name) => {
        const sent = JSON.parse(JSON.stringify(data)) as JsonObject; // plain data, as it would arrive
        const { call } = begin(translation, { messages: [], input: [] });
        streamed(call, [[name, sent]]);
        const error = call.error(500, JSON.stringify(sent));
        expect(error === undefined || typeof error === 'object').toBe(true);
      }),
    );
  });
});

// ── answers ──

const block = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), text: fc.string({ minLength: 1 }) }),
  fc.record({ kind: fc.constant('tool' as const), input: fc.dictionary(fc.string(), fc.jsonValue()) }),
);
const answers = fc.array(block, { maxLength: 6 });
type Block = typeof block extends fc.Arbitrary<infer T> ? T : never;

const USAGE = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };

function whole(blocks: readonly Block[]): JsonObject {
  const content = blocks.map((one, index) =>
    one.kind === 'text'
      ? { text: one.text }
      : { toolUse: { toolUseId: `t${index}`, name: 'f', input: JSON.parse(JSON.stringify(one.input)) } },
  );
  return { output: { message: { content } }, stopReason: 'end_turn', usage: USAGE } as JsonObject; // plain data
}

/** The same in events, two characters at a time. */
function events(blocks: readonly Block[]): readonly (readonly [string, JsonObject])[] {
  const pieces = (text: string) => text.match(/[\s\S]{1,2}/g) ?? [];
  const delta = (index: number, said: JsonObject) =>
    ['contentBlockDelta', { contentBlockIndex: index, delta: said }] as const;
  return [
    ['messageStart', { role: 'assistant' }],
    ...blocks.flatMap((one, index) => [
      ...(one.kind === 'tool'
        ? [
            [
              'contentBlockStart',
              { contentBlockIndex: index, start: { toolUse: { toolUseId: `t${index}`, name: 'f' } } },
            ] as const,
          ]
        : []),
      ...(one.kind === 'text'
        ? pieces(one.text).map((text) => delta(index, { text }))
        : pieces(JSON.stringify(one.input)).map((input) => delta(index, { toolUse: { input } }))),
      ['contentBlockStop', { contentBlockIndex: index }] as const,
    ]),
    ['messageStop', { stopReason: 'end_turn' }],
    ['metadata', { usage: USAGE }],
  ];
}

describe('a stream of Bedrock', () => {
  test('is the same message as the whole answer', () => {
    fc.assert(
      fc.property(answers, (blocks) => {
        const { call } = begin(messagesToConverse, { messages: [] });
        expect(joinedMessage(streamed(call, events(blocks)))).toEqual(call.response(whole(blocks))['content']);
      }),
    );
  });

  test('is the same response as the whole answer', () => {
    fc.assert(
      fc.property(answers, (blocks) => {
        const { call } = begin(responsesToConverse, { input: [] });
        const last = streamed(call, events(blocks)).at(-1)?.data['response'] as JsonObject; // of the last event
        const { output } = call.response(whole(blocks));
        expect(parts(last['output'])).toEqual(parts(output));
      }),
    );
  });
});

/** Items by what they say: one kind after the other, since those of calls may stand between texts in a stream. */
function parts(output: unknown): unknown {
  const items = output as readonly JsonObject[]; // of a response
  return {
    texts: items.filter(({ type }) => type === 'message').map(({ content }) => content),
    calls: items
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id, arguments: source }) => [call_id, source]),
  };
}

function joinedMessage(written: readonly Written[]): readonly JsonObject[] {
  const blocks: Record<string, string>[] = [];
  const opened: JsonObject[] = [];
  for (const { name, data } of written) {
    if (name === 'content_block_start') {
      opened.push(data['content_block'] as JsonObject); // of such an event
      blocks.push({ said: '' });
    } else if (name === 'content_block_delta') {
      const { text, partial_json: json } = data['delta'] as Record<string, string>; // of such an event
      const one = blocks[Number(data['index'])];
      if (one !== undefined) one['said'] += text ?? json ?? '';
    }
  }
  return opened.map((start, index) => {
    const said = blocks[index]?.['said'] ?? '';
    return start['type'] === 'text' ? { ...start, text: said } : { ...start, input: JSON.parse(said || '{}') };
  });
}
