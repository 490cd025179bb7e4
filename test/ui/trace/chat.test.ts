import { describe, expect, test } from '@jest/globals';
import type { TraceEvent, TraceMessage } from '../../../src/admin/protocol/trace-event.ts';
import { bodyPair, chatExcerpt, formatsText, spentText } from '../../../ui/trace/chat.ts';
import { costSummary, dollarsText, translationSummary } from '../../../ui/trace/llm-details.ts';
import { factsOf, noFacts, withEvent } from '../../../ui/trace/request.ts';
import { sideBySide } from '../../../ui/trace/side-by-side.ts';
import { recording } from '../recordings.ts';
import { press, viewerOf } from './viewer.ts';

function event(message: TraceMessage): TraceEvent {
  return { eventStart: null, eventEnd: 1, severity: 'info', message };
}

const route = event({ type: 'llmRouteResolved', provider: 'openai', routeType: 'Completions' });
const body = (stage: string, text: string): TraceEvent =>
  event({ type: 'bodySnapshot', stage, body: Buffer.from(text).toString('base64') });

describe('what a trace tells of a chat', () => {
  test('model, formats, prompt, answer, tokens and cost', () => {
    const { chat } = factsOf(recording('llm-failover'));
    if (chat === undefined) throw new Error('no chat was found');
    expect(chat).toMatchObject({ provider: 'anthropic', model: 'claude-demo', prompt: 'fail gpt-demo with 503' });
    expect(chat.answer?.text).toContain('This is claude-demo, a simulated model.');
    expect(formatsText(chat)).toBe('Completions → Messages, streamed');
    expect(spentText(chat)).toBe('10 tokens in, 53 out, $0.00082');
  });

  test('nothing of other requests, whatever their bodies look like', () => {
    const asked = body('final request', '{"messages":[{"role":"user","content":"hello"}]}');
    const facts = factsOf([asked]);
    expect(facts.chat).toBeUndefined();
    expect(chatExcerpt(facts.chat, asked.message)).toBe('');
  });

  test('each body says what it meant when it came, also where a later try said something else', () => {
    const events = recording('llm-failover');
    let facts = noFacts;
    const said = events.map((each, index) => {
      facts = withEvent(facts, each, index);
      return chatExcerpt(facts.chat, each.message);
    });
    expect(said.filter((text) => text !== '')).toEqual([
      'asks "fail gpt-demo with 503"',
      'fails: gpt-demo fails, as it was asked to',
      expect.stringMatching(/^says "This is claude-demo/),
      expect.stringMatching(/^says "This is claude-demo/),
    ]);
  });

  test('bodies that are no chats, cut or hostile are passed over', () => {
    for (const text of [
      '',
      'null',
      '[]',
      '{"choices":3}',
      '{"choices":[{"message":7}]}',
      'data: {"choices":[{}',
      '\u0000',
      '{"messages":{}}',
    ]) {
      const { chat } = factsOf([route, body('llm request before translation', text), body('llm raw response', text)]);
      expect(chat?.prompt).toBeUndefined();
      expect(chat?.answer).toBeUndefined();
    }
  });

  test('a body belongs to the one on the other side of the translation', () => {
    const events = recording('llm-tool-call');
    const { chat } = factsOf(events);
    const about = (wanted: (message: TraceMessage) => boolean) => {
      const found = events.find(({ message }) => wanted(message));
      return chat === undefined || found === undefined ? undefined : bodyPair(chat, found.message);
    };
    const stage = (name: string) => about((message) => message.type === 'bodySnapshot' && message.stage === name);
    expect(stage('final request')).toEqual(stage('llm request before translation'));
    expect(stage('response')).toMatchObject({ answers: true });
    expect(about(({ type }) => type === 'requestFinished')).toBeUndefined();
  });
});

describe('the viewer', () => {
  const onTranslation = ['/', ...'translation', 'enter', 'g'];

  test('shows both sides of a translation beside each other, one below the other where it is narrow', () => {
    const wide = press(viewerOf(recording('llm-tool-call'), { columns: 160 }), ...onTranslation, 'd');
    expect(wide.detail.title).toMatch(/^Client asked → service got, #\d+ → #\d+$/);
    expect(wide.detail.split).toBeGreaterThan(20);
    expect(wide.detail.lines.join('\n')).toMatch(/- user: ann +│/);
    const narrow = press(viewerOf(recording('llm-tool-call'), { columns: 80 }), ...onTranslation, 'd');
    expect(narrow.detail.split).toBeUndefined();
    expect(narrow.detail.marks).toContain('-');
  });

  test('puts the events of a stream together in front of the body', () => {
    const state = press(viewerOf(recording('llm-tool-call')), 'G', 'k', 'k');
    expect(state.detail.lines.slice(0, 4).join('\n')).toMatch(/# The message in \d+ events\nmodel: claude-demo/);
    expect(state.detail.lines.join('\n')).toContain('name: get_weather');
  });

  test('heads a request with what was asked and what it cost', () => {
    const text = press(viewerOf(recording('llm-tool-call')), 'g').detail.lines.join('\n');
    expect(text).toContain('model: claude-demo of anthropic');
    expect(text).toContain('asked: How is the weather in Ulm?');
    expect(text).toMatch(/cost: \$0\.0000\d+/);
  });
});

describe('texts beside each other', () => {
  test('what was replaced stands beside what replaces it, and long texts go on below', () => {
    const { lines, split } = sideBySide(
      [
        { mark: ' ', text: 'same' },
        { mark: '-', text: 'old' },
        { mark: '+', text: 'new and longer' },
      ],
      25,
    );
    expect(split).toBe(11);
    expect(lines).toEqual(['  same      │   same', '- old       │ + new and l', '            │ + onger']);
  });
});

describe('details of calls', () => {
  test('a translation in words', () => {
    expect(translationSummary({ from: 'a', to: 'b' })).toBe('a → b');
    expect(
      translationSummary({ from: 'a', to: 'b', dropped: ['x', 'y'], renamed: [{ from: 'c', to: 'd' }], added: ['e'] }),
    ).toBe('a → b: drops x, y; renames c → d; adds e');
    expect(translationSummary(null)).toBe('? → ?');
  });

  test('a cost in words', () => {
    expect(costSummary({ provider: 'openai', model: 'm', status: 'exact', cost: { total: '0.0012' } })).toBe(
      '$0.0012 for m of openai',
    );
    expect(costSummary({ provider: 'openai', model: 'm', status: 'missing', reason: 'not listed' })).toBe(
      'no price for m of openai: not listed',
    );
  });

  test.each([
    [0, '$0'],
    [0.00000123, '$0.0000012'],
    [0.0456, '$0.046'],
    [1.239, '$1.24'],
    [1200, '$1200.00'],
  ])('%p dollars are %s', (dollars, text) => {
    expect(dollarsText(dollars)).toBe(text);
  });
});
