import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { LlmFailure } from '../../../../proxy/llm/failure.ts';
import { completionsToMessages } from '../../../../proxy/llm/translations/completions-to-messages/index.ts';
import type { Translation } from '../../../../proxy/llm/translations/contract.ts';
import { messagesToCompletions } from '../../../../proxy/llm/translations/messages-to-completions/index.ts';
import { messagesToResponses } from '../../../../proxy/llm/translations/messages-to-responses/index.ts';
import { responsesToCompletions } from '../../../../proxy/llm/translations/responses-to-completions/index.ts';
import { asCompletions, asMessages, asResponses, conversations, marksIn, type Turn } from './conversations.ts';
import { datas, translated } from './events.ts';
import { begin } from './notes.ts';
import { chatStream, chatUsage, chunk, messageStream, responseStream, usageChunk } from './upstream-streams.ts';

const pairs: readonly {
  readonly name: string;
  readonly translation: Translation;
  readonly written: (turns: readonly Turn[]) => JsonObject;
  readonly stream: readonly JsonObject[];
}[] = [
  {
    name: 'completions to messages',
    translation: completionsToMessages,
    written: asCompletions,
    stream: messageStream,
  },
  { name: 'messages to completions', translation: messagesToCompletions, written: asMessages, stream: chatStream },
  { name: 'messages to responses', translation: messagesToResponses, written: asMessages, stream: responseStream },
  { name: 'responses to completions', translation: responsesToCompletions, written: asResponses, stream: chatStream },
];

describe.each(pairs)('$name', ({ translation, written, stream }) => {
  test('keeps all texts, calls and results of any conversation in their order', () => {
    fc.assert(
      fc.property(conversations, (turns) => {
        const body = written(turns);
        const marks = marksIn(body);
        const made = begin(translation, body).body;
        // Calls stand before their results in every format, whatever message they are in.
        expect(marksIn(made)).toEqual(marks);
        const ids = turns.flatMap((turn) => (turn.kind === 'assistant' ? turn.calls.map(({ id }) => id) : []));
        for (const id of ids) expect(JSON.stringify(made).split(`"${id}"`)).toHaveLength(3);
      }),
    );
  });

  test('takes any object as a request, or refuses it as one that is wrong', () => {
    fc.assert(
      fc.property(strangeBodies(['messages', 'input', 'tools', 'system', 'tool_choice']), (body) => {
        guarded(() => JSON.stringify(begin(translation, body).body));
      }),
    );
  });

  test('takes any object as an answer, or refuses it as one that is wrong', () => {
    const call = begin(translation, { model: 'm' });
    fc.assert(
      fc.property(strangeBodies(['choices', 'content', 'output', 'usage']), (body) => {
        guarded(() => JSON.stringify(call.response(body)));
      }),
    );
  });

  test('takes any text as an error', () => {
    const call = begin(translation, { model: 'm' });
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.integer({ min: 300, max: 599 }), (body, status) => {
        const error = call.error(status, body);
        if (error !== undefined) JSON.stringify(error);
      }),
    );
  });

  test('takes any events, in any order, without a fault', () => {
    const known = fc.constantFrom(...stream);
    const strange = fc.oneof(
      strangeBodies(['choices', 'delta', 'message', 'item', 'response', 'part', 'content_block']),
      known.chain((event) => fc.constantFrom(...Object.keys(event)).map((field) => ({ ...event, [field]: null }))),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(known, strange), { maxLength: 25 }), fc.boolean(), (events, done) => {
        const out = translated(begin(translation, { model: 'm' }).stream(), events, done ? 'done' : 'eof');
        JSON.stringify(out);
      }),
    );
  });
});

describe('streams for Anthropic clients', () => {
  test('open and close blocks one after the other, without gaps, and end once', () => {
    fc.assert(
      fc.property(chatDeltas(), ({ events }) => {
        const out = datas(translated(begin(messagesToCompletions, { model: 'm' }).stream(), events, 'done'));
        expect(blockFaults(out as readonly JsonObject[])).toEqual([]);
        expect(out.map((data) => (data as JsonObject)['type']).slice(-2)).toEqual(['message_delta', 'message_stop']);
      }),
    );
  });

  test('have all that was said and called', () => {
    fc.assert(
      fc.property(chatDeltas(), ({ events, said, calls }) => {
        const out = datas(translated(begin(messagesToCompletions, { model: 'm' }).stream(), events, 'done'));
        const deltas = (out as readonly JsonObject[]).map((data) => data['delta'] as JsonObject | undefined);
        expect(deltas.map((delta) => delta?.['text'] ?? '').join('')).toBe(said);
        expect(argumentsByBlock(out as readonly JsonObject[])).toEqual(calls);
      }),
    );
  });
});

describe('streams for clients of responses', () => {
  test('number their events, and end with all that was said and called', () => {
    fc.assert(
      fc.property(chatDeltas(), ({ events, said, calls }) => {
        const out = datas(translated(begin(responsesToCompletions, { model: 'm' }).stream(), events, 'done'));
        const numbers = (out as readonly JsonObject[]).map((data) => data['sequence_number']);
        expect(numbers).toEqual(numbers.map((_, index) => index + 1));
        const last = (out as readonly JsonObject[]).at(-1)?.['response'] as { output: readonly JsonObject[] };
        const texts = last.output.flatMap((item) => (item['content'] as JsonObject[] | undefined) ?? []);
        expect(texts.map((part) => part['text']).join('')).toBe(said);
        const made = last.output.filter(({ type }) => type === 'function_call');
        expect(made.map((item) => item['arguments'])).toEqual(calls.map((source) => (source === '' ? '{}' : source)));
      }),
    );
  });
});

/** An object whose usual fields have something strange in them. */
function strangeBodies(fields: readonly string[]): fc.Arbitrary<JsonObject> {
  const part = fc.record(
    {
      type: fc.constantFrom(
        'text',
        'tool_use',
        'tool_result',
        'function_call',
        'message',
        'image',
        'thinking',
        'x',
        null,
      ),
      role: fc.constantFrom('user', 'assistant', 'system', 'tool', 'developer', 7),
      content: fc.jsonValue(),
      text: fc.jsonValue(),
      source: fc.jsonValue(),
      delta: fc.jsonValue(),
      message: fc.jsonValue(),
      tool_calls: fc.jsonValue(),
      function: fc.jsonValue(),
      output: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  const value = fc.oneof(fc.jsonValue(), part, fc.array(part, { maxLength: 4 }));
  return fc
    .record(
      { type: fc.jsonValue(), ...Object.fromEntries(fields.map((field) => [field, value])) },
      { requiredKeys: [] },
    )
    .map((body) => JSON.parse(JSON.stringify(body)) as JsonObject);
}

/** Runs a step that may fail, but only in the way that becomes an answer. */
function guarded(step: () => unknown): void {
  try {
    step();
  } catch (error) {
    if (!(error instanceof LlmFailure)) throw error;
  }
}

/** What is wrong with the order of a message's blocks. A call whose arguments go on after a text keeps its index. */
function blockFaults(out: readonly JsonObject[]): readonly string[] {
  const faults: string[] = [];
  const open = new Set<unknown>();
  let next = 0;
  for (const { type, index } of out) {
    if (type === 'content_block_start') {
      if (index !== next) faults.push(`${String(index)} is opened in place of ${next}`);
      next += 1;
      open.add(index);
    }
    if (type === 'content_block_delta' && Number(index) >= next) faults.push(`${String(index)} is not opened`);
    if (type === 'content_block_stop' && !open.delete(index)) faults.push(`${String(index)} is not open`);
  }
  return open.size === 0 ? faults : [...faults, 'some are still open'];
}

interface ChatDeltas {
  readonly events: readonly JsonObject[];
  readonly said: string;
  /** Arguments of each call. */
  readonly calls: readonly string[];
}

/** A stream of a chat completion: texts and fragments of up to three calls, in any order. */
function chatDeltas(): fc.Arbitrary<ChatDeltas> {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('text' as const), text: fc.string(), call: fc.constant(0) }),
    fc.record({ kind: fc.constant('call' as const), text: fc.string(), call: fc.nat({ max: 2 }) }),
  );
  return fc.array(step, { maxLength: 20 }).map((steps) => {
    const calls: string[] = [];
    const indexes = new Map<number, number>();
    let said = '';
    const events = steps.map(({ kind, text, call }) => {
      if (kind === 'text') {
        said += text;
        return chunk({ content: text });
      }
      const known = indexes.get(call);
      const index = known ?? indexes.size;
      indexes.set(call, index);
      calls[index] = (calls[index] ?? '') + text;
      const first = known === undefined ? { id: `call_${index}`, type: 'function' } : {};
      const name = known === undefined ? { name: 'tool' } : {};
      return chunk({ tool_calls: [{ index, ...first, function: { ...name, arguments: text } }] });
    });
    const finish = calls.length > 0 ? 'tool_calls' : 'stop';
    return { events: [...events, chunk({}, finish), usageChunk(chatUsage)], said, calls };
  });
}

function argumentsByBlock(out: readonly JsonObject[]): readonly string[] {
  const blocks = new Map<unknown, string>();
  for (const data of out) {
    const block = data['content_block'] as JsonObject | undefined;
    if (block?.['type'] === 'tool_use') blocks.set(data['index'], '');
    const delta = data['delta'] as JsonObject | undefined;
    if (delta?.['type'] !== 'input_json_delta') continue;
    blocks.set(data['index'], `${blocks.get(data['index']) ?? ''}${String(delta['partial_json'])}`);
  }
  return [...blocks.values()];
}
