import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { TraceEvent } from '../../../src/admin/protocol/trace-event.ts';
import { commands } from '../../../ui/trace/commands.ts';
import { contentSize, layoutOf } from '../../../ui/trace/layout.ts';
import { step, type Action } from '../../../ui/trace/model.ts';
import { initialState, type TraceState } from '../../../ui/trace/state.ts';
import { rowCount, rowOf, selectionAt, windowOf } from '../../../ui/trace/visible-rows.ts';
import { recording } from '../recordings.ts';
import { act, keyAction, press, type, viewerOf } from './viewer.ts';

function selectedNumber(state: TraceState): number | undefined {
  return state.entries.items[state.selection?.event ?? -1]?.number;
}

function labels(state: TraceState): string[] {
  return windowOf(state, 0, 10_000).flatMap((row) => (row.kind === 'event' ? [row.entry.label] : []));
}

describe('moving', () => {
  test.each<[string[], number]>([
    [['g'], 1],
    [['G'], 19],
    [['g', 'j', 'j', 'k'], 2],
    [['g', 'k'], 1],
    [['G', 'j'], 19],
    [['g', 'pgdn'], 19],
    [['g', 'end', 'home'], 1],
  ])('%s selects event %d', (keys, number) => {
    expect(selectedNumber(press(viewerOf(recording('plain-200')), ...keys))).toBe(number);
  });

  test('scrolling up lets go of the newest event, a takes hold again', () => {
    const [first, ...rest] = recording('plain-200');
    const early = act(initialState({ title: 't', columns: 80, rows: 24 }), {
      kind: 'events',
      events: [first as TraceEvent, rest[0] as TraceEvent],
      source: 0,
    });
    expect(early.attached).toBe(true);
    const detached = act(press(early, 'k'), { kind: 'events', events: rest.slice(1), source: 0 });
    expect(selectedNumber(detached)).toBe(1);
    expect(selectedNumber(press(detached, 'a'))).toBe(19);
  });

  test('the selection stays on its event while rows appear above it', () => {
    const many = recording('many-requests');
    const half = press(
      act(initialState({ title: 't', columns: 80, rows: 24 }), {
        kind: 'events',
        events: many.slice(0, 200),
        source: 0,
      }),
      'k',
    );
    const before = half.selection;
    const after = act(half, { kind: 'events', events: many.slice(200), source: 0 });
    expect(after.selection).toEqual(before);
    expect(rowOf(after, after.selection ?? { request: 0, event: 0 })).toBeGreaterThanOrEqual(0);
  });
});

describe('requests', () => {
  test('events of several requests are grouped under headings', () => {
    const state = viewerOf(recording('many-requests'));
    expect(state.groups).toHaveLength(24);
    expect(windowOf(state, 0, 1)[0]?.kind).toBe('request');
    expect(rowCount(state)).toBe(436 + 24);
  });

  test('[ and ] go from request to request, enter folds one', () => {
    const state = press(viewerOf(recording('many-requests')), 'g', ']', ']');
    expect(state.selection).toEqual({ request: 2, event: undefined });
    const folded = press(state, 'enter');
    expect(rowCount(folded)).toBeLessThan(rowCount(state));
    expect(rowCount(press(folded, 'enter'))).toBe(rowCount(state));
  });

  test('events without a request id belong to the request that their stream tells about', () => {
    const bare = recording('plain-200').map(
      (event) => JSON.parse(JSON.stringify({ ...event, requestId: undefined })) as TraceEvent,
    );
    expect(viewerOf(bare).groups).toHaveLength(1);
    expect(viewerOf([...bare, ...bare]).groups).toHaveLength(2);
  });

  test('a resent request is a further group and the stream is complete only when both are', () => {
    const first = viewerOf(recording('plain-200'), { canResend: true });
    const sent = step(first, keyAction('r'));
    expect(sent.effect).toEqual({ kind: 'resend' });
    const open = act(act(sent.state, { kind: 'opened' }), {
      kind: 'events',
      events: recording('no-route-404'),
      source: 1,
    });
    expect([open.groups.length, open.stream.complete]).toEqual([2, false]);
    expect(act(open, { kind: 'ended', source: 1 }).stream.complete).toBe(true);
  });
});

describe('finding', () => {
  test('typing after / narrows the list at once, escape restores it', () => {
    const typing = type(press(viewerOf(recording('plain-200')), '/'), 'snap');
    expect(new Set(labels(typing))).toEqual(new Set(['Snapshot', 'Body Snapshot']));
    expect(labels(press(typing, 'esc'))).toHaveLength(19);
    expect(labels(press(typing, 'enter', 'q'))).toHaveLength(19);
  });

  test.each<[string, number]>([
    ['type:snapshot -body', 7],
    ['sev:error', 0],
    ['all:tea bowl', 0],
    ['all:x-forwarded-for', 1],
    ['nothing-like-this', 0],
  ])('the query "%s" leaves %d events', (query, count) => {
    expect(labels(type(press(viewerOf(recording('plain-200')), '/'), query))).toHaveLength(count);
  });

  test('marking keeps all rows and n goes from match to match', () => {
    const marked = press(type(press(viewerOf(recording('plain-200')), 'g', '/', 'tab'), 'backend'), 'enter');
    expect(labels(marked)).toHaveLength(19);
    const numbers = [marked, press(marked, 'n'), press(marked, 'n', 'n'), press(marked, 'N')].map(selectedNumber);
    expect(new Set(numbers).size).toBe(4);
    expect(marked.entries.items[marked.selection?.event ?? -1]?.searchable).toContain('backend');
  });

  test('z shows only warnings and errors', () => {
    const state = press(viewerOf(recording('retry')), 'z');
    expect(labels(state)).toEqual(['Backend Result', 'Policy Event', 'Backend Result', 'Policy Event']);
    expect(labels(press(state, 'z'))).toHaveLength(26);
  });

  test('a search in the details goes to the line', () => {
    const state = press(
      type(press(viewerOf(recording('plain-200'), { columns: 100, rows: 16 }), 's', 'tab', '/'), 'code'),
      'enter',
    );
    expect(state.detail.lines[state.detailTop + 0]).toBeDefined();
    expect(state.status.text).toContain('line');
  });
});

describe('details', () => {
  test('the event, its snapshot and the difference to the one before', () => {
    const at = press(viewerOf(recording('plain-200')), 'g', ...Array.from({ length: 11 }, () => 'j'));
    expect(at.detail.lines[0]).toBe('eventEnd: 168');
    expect(press(at, 's').detail.title).toBe('Snapshot of #12');
    const diff = press(at, 'd').detail;
    expect(diff.title).toBe('Difference #10 → #12');
    expect(diff.lines.filter((_, line) => diff.marks?.[line] === '+')).toContain('    x-forwarded-for: 10.0.0.9');
  });

  test('bodies are decoded, JSON as a value', () => {
    const body = press(viewerOf(recording('plain-200')), 'G', 'k');
    expect(body.detail.lines.join('\n')).toContain('name: 茶碗 (tea bowl)');
    expect(press(body, 'f').detail.lines.join('\n')).toContain('"name": "茶碗 (tea bowl)"');
  });

  test('p pins and D compares', () => {
    const state = press(viewerOf(recording('plain-200')), 'g', 'j', 'p', 'j', 'j', 'j', 'j', 'D');
    expect(state.detail.title).toBe('Pinned #2 → #6, events');
    expect(press(state, 's', 'D').detail.title).toBe('Pinned #2 → #6, snapshots');
    expect(press(viewerOf(recording('plain-200')), 'D').status.tone).toBe('error');
  });

  test('wrapped lines fit the pane', () => {
    const state = press(viewerOf(recording('timeout-504'), { columns: 80, rows: 24 }), 's', 'w');
    const { width } = contentSize(layoutOf(state), 'detail');
    expect(Math.max(...state.detail.lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  });
});

describe('leaving and faults', () => {
  test('q goes back step by step, then quits', () => {
    const deep = press(type(press(viewerOf(recording('retry')), '/'), 'retry'), 'enter', 'tab');
    const once = press(deep, 'q');
    expect([once.focus, once.filter.text]).toEqual(['events', 'retry']);
    const twice = step(once, keyAction('q'));
    expect([twice.state.filter.text, twice.effect]).toEqual(['', undefined]);
    expect(step(twice.state, keyAction('q')).effect).toEqual({ kind: 'leave', exitCode: 0 });
  });

  test.each(['/', ':', '?', 'x'])('ctrl-c interrupts from the overlay of %s', (key) => {
    expect(step(press(viewerOf([]), key), keyAction('ctrl-c')).effect).toEqual({ kind: 'interrupt' });
  });

  test('a broken stream becomes a row', () => {
    const open = act(initialState({ title: 't', columns: 80, rows: 24 }), {
      kind: 'events',
      events: recording('plain-200').slice(0, 5),
      source: 0,
    });
    const broken = act(open, { kind: 'ended', source: 0, error: 'socket hang up' });
    expect(broken.entries.items[5]).toMatchObject({
      label: 'Message',
      summary: 'socket hang up',
      event: { severity: 'error' },
    });
  });

  test('what is not an event is shown, not thrown', () => {
    const odd = [
      null,
      7,
      'x',
      {},
      { type: 'serialization_error', error: 'e' },
      { message: null },
      { eventEnd: 'soon', severity: 'bad', message: { type: 5 } },
      { eventStart: null, eventEnd: 1, severity: 'info', scope: [1], message: { type: 'cel' } },
    ];
    const state = viewerOf(odd as unknown as TraceEvent[]);
    expect(state.entries.length).toBe(odd.length);
    expect(press(state, 'g', 's', 'd', 'e', 'j', 'j', 'j', 'j').entries.items[4]?.summary).toContain(
      'serialization_error',
    );
  });

  test('the palette runs what it finds', () => {
    expect(press(type(press(viewerOf(recording('retry')), ':'), 'waterf'), 'enter').waterfall).toBe(true);
  });
});

describe('every command', () => {
  test('has a key of its own in its pane and a title of its own', () => {
    for (const pane of ['events', 'detail'] as const) {
      const keys = commands.filter((command) => command.pane === pane).flatMap((command) => command.keys);
      expect(new Set(keys).size).toBe(keys.length);
    }
    expect(new Set(commands.map((command) => command.id)).size).toBe(commands.length);
  });

  test('whatever is pressed, the selection is in range and no more rows are drawn than fit', () => {
    const keys = [...commands.flatMap((command) => command.keys), 'x', 'a', '1', 'tab'];
    const anyAction: fc.Arbitrary<Action> = fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...keys).map(keyAction) },
      {
        weight: 2,
        arbitrary: fc
          .record({ columns: fc.integer({ min: 1, max: 260 }), rows: fc.integer({ min: 1, max: 70 }) })
          .map((size) => ({ kind: 'resized' as const, ...size })),
      },
      {
        weight: 2,
        arbitrary: fc.tuple(fc.nat(400), fc.nat(40), fc.nat(2)).map(([from, count, source]) => ({
          kind: 'events' as const,
          events: many.slice(from, from + count),
          source,
        })),
      },
      { weight: 1, arbitrary: fc.constant({ kind: 'ended' as const, source: 0, error: 'cut' }) },
    );
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 60 }), (actions) => {
        let state = initialState({ title: 't', columns: 80, rows: 24, canResend: true });
        for (const action of actions) {
          state = step(state, action).state;
          checkInvariants(state);
        }
      }),
      { numRuns: 150 },
    );
  });
});

const many = recording('many-requests');

function checkInvariants(state: TraceState): void {
  const layout = layoutOf(state);
  const { height } = contentSize(layout, 'events');
  expect(layout.header + layout.footer + layout.body.height).toBeLessThanOrEqual(Math.max(state.rows, 1));
  expect(windowOf(state, state.top, height).length).toBeLessThanOrEqual(height);
  expect(state.selection === undefined).toBe(rowCount(state) === 0);
  if (state.selection === undefined) return;
  const row = rowOf(state, state.selection);
  expect(selectionAt(state, row)).toEqual(state.selection);
  expect(row >= state.top && row < state.top + height).toBe(true);
  expect(state.detailTop).toBeLessThanOrEqual(Math.max(0, state.detail.lines.length - 1));
}
