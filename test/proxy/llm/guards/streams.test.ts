import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { ChatFormat } from '../../../../proxy/llm/formats.ts';
import type { Action, Check } from '../../../../proxy/llm/guards/contract.ts';
import { regexCheck } from '../../../../proxy/llm/guards/regex/check.ts';
import { maskWhole } from '../../../../proxy/llm/guards/regex/masking.ts';
import { compileRule } from '../../../../proxy/llm/guards/regex/rule.ts';
import { serviceCheck } from '../../../../proxy/llm/guards/services/check.ts';
import type { Answer } from '../../../../proxy/llm/guards/services/contract.ts';
import { GuardedStream } from '../../../../proxy/llm/guards/stream/guarded-stream.ts';
import { systemClock } from '../../../../proxy/exchange/wait.ts';
import type { RegexRule } from '../../../../src/config/ir/llm.ts';
import type { JsonObject } from '../../../../src/shared/json.ts';
import { untraced } from '../../exchange/build.ts';

const rejection = { status: 403, body: 'not this' };
const SSN: RegexRule = { kind: 'builtin', builtin: 'ssn' };
const EMAIL: RegexRule = { kind: 'builtin', builtin: 'email' };

function mask(...rules: RegexRule[]): Check {
  return regexCheck({ kind: 'regex', action: 'mask', rules }, rejection, ['messages']);
}

function reject(...rules: RegexRule[]): Check {
  return regexCheck({ kind: 'regex', action: 'reject', rules }, rejection, ['messages']);
}

/** A guard that asks `answer` about each window. */
function service(answer: (text: string) => Answer | Promise<Answer>): Check {
  const guard = { kind: 'bedrockGuardrails', identifier: 'i', version: '1', service: undefined } as const;
  return serviceCheck({
    // What the service is reached by is no part of this.
    guard: guard as unknown as Parameters<typeof serviceCheck>[0]['guard'],
    service: { name: 's', ask: async ({ texts }) => answer(texts()[0] ?? '') },
    rejection,
    scope: ['messages'],
    clock: systemClock,
  });
}

interface Sent {
  readonly name: string | null;
  readonly data: JsonObject | '[DONE]';
}

/** A stream of one format past the checks: what left, and what was done to the upstream. */
function guarded(type: ChatFormat, ...checks: Check[]) {
  const sent: Sent[] = [];
  const actions: Action[] = [];
  let held = 0;
  let stopped = false;
  const stream = new GuardedStream({
    checks,
    exchange: untraced(),
    type,
    headers: new Headers(),
    accounting: { record: (action: Action) => void actions.push(action), failed() {} } as never,
  }).to({
    write: (text) => {
      for (const event of text.split('\n\n').filter((each) => each !== '')) {
        const lines = event.split('\n');
        const data = lines.find((line) => line.startsWith('data: '))?.slice(6) ?? '';
        const name = lines.find((line) => line.startsWith('event: '))?.slice(7) ?? null;
        sent.push({ name, data: data === '[DONE]' ? '[DONE]' : (JSON.parse(data) as JsonObject) });
      }
    },
    hold: () => void held++,
    release: () => void held--,
    stop: () => (stopped = true),
  });
  return { stream, sent, actions, state: () => ({ held, stopped }) };
}

type Events = readonly (readonly [name: string | null, data: JsonObject])[];

interface Dialect {
  readonly type: ChatFormat;
  readonly begin: Events;
  text(piece: string): Events[number];
  readonly end: Events;
  /** What a client of the format puts together. */
  read(sent: readonly Sent[]): string;
}

const objectOf = (value: unknown): Record<string, unknown> => (value ?? {}) as Record<string, unknown>;

const dialects: readonly Dialect[] = [
  {
    type: 'completions',
    begin: [
      [null, { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] }],
    ],
    text: (content) => [null, { id: 'c', choices: [{ index: 0, delta: { content }, finish_reason: null }] }],
    end: [
      [null, { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
      [null, { id: 'c', choices: [], usage: { total_tokens: 3 } }],
    ],
    read: (sent) =>
      sent
        .map(({ data }) => objectOf(objectOf((objectOf(data)['choices'] as unknown[] | undefined)?.[0])['delta']))
        .map((delta) => delta['content'] ?? '')
        .join(''),
  },
  {
    type: 'messages',
    begin: [
      ['message_start', { type: 'message_start', message: { usage: {} } }],
      ['content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
    ],
    text: (text) => [
      'content_block_delta',
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    ],
    end: [
      ['content_block_stop', { type: 'content_block_stop', index: 0 }],
      ['message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} }],
      ['message_stop', { type: 'message_stop' }],
    ],
    read: (sent) => sent.map(({ data }) => objectOf(objectOf(data)['delta'])['text'] ?? '').join(''),
  },
  {
    type: 'responses',
    begin: [
      ['response.created', { type: 'response.created', sequence_number: 0, response: { output: [] } }],
      [
        'response.content_part.added',
        {
          type: 'response.content_part.added',
          sequence_number: 1,
          output_index: 0,
          content_index: 0,
          part: { type: 'output_text', text: '' },
        },
      ],
    ],
    text: (delta) => [
      'response.output_text.delta',
      {
        type: 'response.output_text.delta',
        sequence_number: 2,
        output_index: 0,
        content_index: 0,
        delta,
        logprobs: [],
      },
    ],
    end: [],
    read: (sent) =>
      sent
        .map(({ data }) => objectOf(data))
        .map((data) => (data['type'] === 'response.output_text.delta' ? data['delta'] : ''))
        .join(''),
  },
  {
    type: 'generateContent',
    begin: [],
    text: (text) => [null, { candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] } }] }],
    end: [
      [
        null,
        {
          candidates: [{ index: 0, content: { role: 'model', parts: [] }, finishReason: 'STOP' }],
          usageMetadata: { totalTokenCount: 3 },
        },
      ],
    ],
    read: (sent) =>
      sent
        .flatMap(
          ({ data }) =>
            objectOf(objectOf(objectOf((objectOf(data)['candidates'] as unknown[])?.[0])['content']))['parts'] ?? [],
        )
        .map((part) => objectOf(part)['text'] ?? '')
        .join(''),
  },
];

const parts = fc.array(
  fc.oneof(
    fc.constantFrom('123-45-6789', '123456789', 'a@b.com', 'me@example.org'),
    fc.constantFrom(' ', ', ', 'my ', 'x', '1', '-', '.', '@', '🙂', '\n'),
  ),
  { maxLength: 10 },
);
const cuts = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 20 });

function pieces(whole: string, lengths: readonly number[]): string[] {
  const out: string[] = [];
  for (let at = 0, i = 0; at < whole.length; i++) {
    const length = lengths[i % lengths.length] ?? 1;
    out.push(whole.slice(at, at + length));
    at += length;
  }
  return out;
}

function wholly(text: string, rules: readonly RegexRule[]): string {
  return rules.reduce((masked, rule) => maskWhole(compileRule(rule), masked) ?? masked, text);
}

describe.each(dialects.map((dialect) => [dialect.type, dialect] as const))('a stream of %s', (type, dialect) => {
  const feed = (stream: GuardedStream, events: Events): void => {
    for (const [name, data] of events) stream.event(name, data, JSON.stringify(data));
  };

  test('shows what becomes of the whole text, and never more on the way', () => {
    const rules = [SSN, EMAIL];
    fc.assert(
      fc.property(parts, cuts, (whole, lengths) => {
        const expected = wholly(whole.join(''), rules);
        const { stream, sent, state } = guarded(type, mask(SSN), mask(EMAIL));
        feed(stream, dialect.begin);
        for (const piece of pieces(whole.join(''), lengths)) {
          feed(stream, [dialect.text(piece)]);
          expect(expected.startsWith(dialect.read(sent))).toBe(true);
        }
        feed(stream, dialect.end);
        stream.finish();
        expect(dialect.read(sent)).toBe(expected);
        expect(state()).toEqual({ held: 0, stopped: false });
      }),
      { numRuns: 200 },
    );
  });

  test('is cut where a guard rejects, before anything of the match has left', () => {
    const { stream, sent, state, actions } = guarded(type, reject(SSN));
    feed(stream, dialect.begin);
    for (const piece of ['Mine is 1', '23-4', '5-67', '89', ' yes', ' more']) feed(stream, [dialect.text(piece)]);
    feed(stream, dialect.end);
    stream.finish();
    expect(dialect.read(sent.slice(0, -1))).toBe('Mine is ');
    expect(JSON.stringify(sent.at(-1)?.data)).toContain('guardrail_intervention');
    expect(JSON.stringify(sent.at(-1)?.data)).toContain('not this');
    expect(state().stopped).toBe(true);
    expect(actions).toEqual(['Reject']);
  });

  test('keeps what is no text, in its order', () => {
    const { stream, sent } = guarded(type, mask(SSN));
    feed(stream, [...dialect.begin, dialect.text('nothing '), dialect.text('here'), ...dialect.end]);
    stream.finish();
    const expected = [...dialect.begin, dialect.text('nothing '), dialect.text('here'), ...dialect.end];
    const data = (events: readonly (JsonObject | '[DONE]')[]) =>
      events.map((each) => ({ ...objectOf(each), sequence_number: null }));
    expect(data(sent.map((each) => each.data))).toEqual(data(expected.map(([, each]) => each)));
  });

  test('waits for a service with at most a window, and is judged to its end', async () => {
    const windows: string[] = [];
    const { stream, sent, state } = guarded(
      type,
      service((window) => {
        windows.push(window);
        return { kind: 'texts', texts: [window.replaceAll('bad', 'good')], what: 'words' };
      }),
    );
    feed(stream, dialect.begin);
    const whole = `${'fine words '.repeat(100)}b`;
    feed(
      stream,
      pieces(whole, [10]).map((piece) => dialect.text(piece)),
    );
    expect(state().held).toBe(1);
    feed(stream, [dialect.text('ad end')]);
    feed(stream, dialect.end);
    stream.finish();
    await stream.settled();
    expect(dialect.read(sent)).toBe(`${'fine words '.repeat(100)}good end`);
    expect(windows).toHaveLength(2);
    for (const window of windows) expect(window.length).toBeLessThan(1024 + 256 + 10);
    expect(state()).toEqual({ held: 0, stopped: false });
  });

  test('lets nothing leave that a service rejects only with what follows', async () => {
    const { stream, sent, state } = guarded(
      type,
      service((window) => (window.includes('plan to do harm') ? { kind: 'reject', what: 'harm' } : { kind: 'pass' })),
    );
    feed(stream, dialect.begin);
    // The first window ends in the middle of it.
    feed(stream, [dialect.text(`${'x'.repeat(1020)} plan to`)]);
    await stream.settled();
    feed(stream, [dialect.text(` do harm${'y'.repeat(1024)}`)]);
    await stream.settled();
    expect(dialect.read(sent)).not.toContain('plan');
    expect(state().stopped).toBe(true);
  });

  test('goes on where a service of a cloud cannot be asked', async () => {
    const { stream, sent, actions } = guarded(
      type,
      service(() => Promise.reject(new Error('down'))),
    );
    feed(stream, [...dialect.begin, dialect.text('hello'), ...dialect.end]);
    stream.finish();
    await stream.settled();
    expect(dialect.read(sent)).toBe('hello');
    expect(actions).toEqual(['FailOpen']);
  });
});

describe('texts of one stream', () => {
  test('of several choices are looked at by themselves', () => {
    const { stream, sent } = guarded('completions', mask(SSN));
    const event = (index: number, content: string, finish: string | null = null): void =>
      stream.event(null, { choices: [{ index, delta: { content }, finish_reason: finish }] });
    event(0, '123-');
    event(1, 'free ');
    event(0, '45-6789');
    event(1, '12');
    event(0, '', 'stop');
    event(1, 'x', 'stop');
    stream.done();
    const of = (wanted: number) =>
      sent
        .flatMap(({ data }) => (objectOf(data)['choices'] ?? []) as unknown[])
        .map(objectOf)
        .filter(({ index }) => index === wanted)
        .map(({ delta }) => objectOf(delta)['content'] ?? '')
        .join('');
    expect(of(0)).toBe('<SSN>');
    expect(of(1)).toBe('free 12x');
    expect(sent.at(-1)?.data).toBe('[DONE]');
  });

  test('let calls of tools pass while a text is held back', () => {
    const { stream, sent } = guarded('completions', mask(SSN));
    stream.event(null, { choices: [{ index: 0, delta: { content: 'no 12' }, finish_reason: null }] });
    const call = { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'c' }] }, finish_reason: null }] };
    stream.event(null, call);
    expect(sent.at(-1)?.data).toEqual(call);
    stream.event(null, { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] });
    expect(dialects[0]?.read(sent)).toBe('no 12');
  });

  test('lose the chances of their tokens where they are held back', () => {
    const { stream, sent } = guarded('completions', mask(SSN));
    const logprobs = { content: [{ token: '123-45-6789' }] };
    stream.event(null, { choices: [{ index: 0, delta: { content: 'a 123-45-6789' }, logprobs, finish_reason: null }] });
    stream.event(null, { choices: [{ index: 0, delta: { content: ' b' }, finish_reason: 'stop' }] });
    expect(JSON.stringify(sent)).not.toContain('123-45');
    expect(dialects[0]?.read(sent)).toBe('a <SSN> b');
  });

  test('are found in lists of parts, and in whole messages beside the deltas', () => {
    const { stream, sent } = guarded('completions', mask(SSN));
    const parts = [
      { type: 'text', text: 'a 123-45-' },
      { type: 'reference', reference_ids: [1] },
    ];
    const told = { role: 'assistant', content: 'a 123-45-6789' };
    stream.event(null, { choices: [{ index: 0, delta: { content: parts }, finish_reason: null }] });
    stream.event(null, { choices: [{ index: 0, delta: { content: '6789' }, message: told, finish_reason: 'stop' }] });
    stream.event(null, { choices: [{ index: 1, message: told, finish_reason: 'stop' }] });
    stream.finish();
    const text = JSON.stringify(sent);
    expect(text).not.toContain('6789');
    expect(text).not.toContain('message');
    expect(text.match(/<SSN>/g)).toHaveLength(2);
    expect(text).toContain('reference_ids');
  });

  test('of responses are told again as the client has got them, and events are numbered without gaps', () => {
    const { stream, sent } = guarded('responses', mask(SSN));
    const at = { output_index: 0, content_index: 0, item_id: 'i' };
    let sequence = 0;
    const event = (type: string, data: JsonObject): void =>
      stream.event(type, { type, sequence_number: sequence++, ...data });
    const part = (text: string) => ({ type: 'output_text', text, annotations: [] });
    const item = (text: string) => ({ type: 'message', id: 'i', role: 'assistant', content: [part(text)] });
    event('response.created', { response: { output: [] } });
    for (const delta of ['my 12', '3-45', '-6789']) event('response.output_text.delta', { ...at, delta });
    event('response.output_text.done', { ...at, text: 'my 123-45-6789', logprobs: [{ token: '123' }] });
    event('response.content_part.done', { ...at, part: part('my 123-45-6789') });
    event('response.output_item.done', { output_index: 0, item: item('my 123-45-6789') });
    event('response.completed', { response: { output: [item('my 123-45-6789')], usage: {} } });
    stream.finish();
    expect(JSON.stringify(sent)).not.toContain('6789');
    expect(JSON.stringify(sent).match(/my <SSN>/g)).toHaveLength(4);
    expect(dialects[2]?.read(sent)).toBe('my <SSN>');
    expect(sent.map(({ data }) => objectOf(data)['sequence_number'])).toEqual(sent.map((_, index) => index));
  });

  test('of responses that were never streamed are looked at when they are told', () => {
    const { stream, sent } = guarded('responses', mask(SSN));
    const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'it is 123-45-6789' }] };
    stream.event('response.output_item.done', { type: 'response.output_item.done', output_index: 0, item });
    stream.event('response.completed', { type: 'response.completed', response: { output: [item] } });
    stream.finish();
    expect(JSON.stringify(sent).match(/it is <SSN>/g)).toHaveLength(2);
    expect(JSON.stringify(sent)).not.toContain('6789');
  });

  test('do not leave when their stream is over', async () => {
    const answer = Promise.withResolvers<Answer>();
    const { stream, sent } = guarded(
      'completions',
      service(() => answer.promise),
    );
    stream.event(null, { choices: [{ index: 0, delta: { content: 'x'.repeat(2000) }, finish_reason: null }] });
    stream.over();
    answer.resolve({ kind: 'pass' });
    await stream.settled();
    expect(sent).toEqual([]);
  });
});
