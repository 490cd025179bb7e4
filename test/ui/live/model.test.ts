import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { TraceEvent } from '../../../src/admin/protocol/trace-event.ts';
import { rateOf } from '../../../ui/live/arrival.ts';
import { liveCommands, selectedIndex } from '../../../ui/live/commands.ts';
import { columnsOf } from '../../../ui/live/columns.ts';
import { liveHeader } from '../../../ui/live/draw.ts';
import { layoutOf, tableHeight } from '../../../ui/live/layout.ts';
import { stepLive, type LiveAction } from '../../../ui/live/model.ts';
import { width } from '../../../ui/terminal/text.ts';
import { initialLive, MAX_REQUESTS, type LiveState } from '../../../ui/live/state.ts';
import { recording } from '../recordings.ts';

const many = recording('many-requests');

function live(events: readonly TraceEvent[] = many): LiveState {
  const empty = initialLive({
    title: 'demo',
    addresses: ['http://127.0.0.1:8080'],
    curls: ['curl x'],
    columns: 120,
    rows: 30,
  });
  return act(empty, { kind: 'events', events, nowMs: 10_000 });
}

function act(state: LiveState, action: LiveAction): LiveState {
  return stepLive(state, action).state;
}

function key(name: string): LiveAction {
  return { kind: 'key', key: { name, text: name.length === 1 ? name : '' } };
}

function press(state: LiveState, ...keys: string[]): LiveState {
  return keys.reduce((now, name) => act(now, key(name)), state);
}

function finished(count: number): TraceEvent[] {
  return Array.from({ length: count }, (_, at) => ({
    eventStart: null,
    eventEnd: 9,
    severity: 'info' as const,
    requestId: `r${at}`,
    message: { type: 'requestFinished' as const, status: 200, error: null },
  }));
}

describe('the live table', () => {
  test('has one row per request and counts by status', () => {
    const state = live();
    expect(state.shown).toHaveLength(24);
    expect(state.totals).toMatchObject({ finished: 24, byClass: { 2: 20, 4: 2, 5: 2 } });
  });

  test('knows the rate of the last seconds and forgets it', () => {
    expect(rateOf(live())).toBe(24);
    expect(rateOf(act(live(), { kind: 'tick', nowMs: 60_000 }))).toBe(0);
  });

  test('keeps the newest requests only', () => {
    const state = live(finished(MAX_REQUESTS + 250));
    expect(state.requests).toHaveLength(MAX_REQUESTS);
    expect([state.requests[0]?.id, state.forgotten, state.numberById.size]).toEqual(['r250', 250, MAX_REQUESTS]);
    const more = act(state, {
      kind: 'events',
      events: finished(1).map((event) => ({ ...event, requestId: 'r600', severity: 'error' as const })),
      nowMs: 11_000,
    });
    expect(more.requests[350]?.facts.errors).toBe(1);
  });

  test('paused, it stands still while requests are still counted', () => {
    const paused = press(live(many.slice(0, 100)), 'p');
    const later = act(paused, { kind: 'events', events: many.slice(100), nowMs: 11_000 });
    expect(later.shown).toBe(paused.shown);
    expect(later.totals.finished).toBeGreaterThan(paused.totals.finished);
    expect(press(later, 'p').shown).toHaveLength(24);
  });

  test('filters and shows only problems', () => {
    expect(press(live(), '/', ...'orders', 'enter').shown).toHaveLength(2);
    expect(press(live(), '/', ...'get -cart', 'enter').shown.every((request) => request.facts.path !== '/cart')).toBe(
      true,
    );
    expect(press(live(), 'z').shown).toHaveLength(6);
    expect(press(live(), '/', ...'orders', 'esc').shown).toHaveLength(24);
  });

  test('enter opens the trace, escape returns, new events reach the open trace', () => {
    const cut = many.slice(0, 60);
    const started = live(cut);
    const running = started.requests.findIndex((request) => !request.facts.finished);
    const open = press(started, 'g', ...Array.from({ length: running }, () => 'j'), 'enter');
    const before = open.viewer?.state.entries.length ?? 0;
    const later = act(open, { kind: 'events', events: many.slice(60), nowMs: 11_000 });
    expect(later.viewer?.state.entries.length).toBeGreaterThan(before);
    expect(later.viewer?.state.stream.complete).toBe(true);
    expect(press(later, 'esc').viewer).toBeUndefined();
    expect(stepLive(later, key('ctrl-c')).effect).toEqual({ kind: 'interrupt' });
    expect(press(later, 'q').viewer).toBeUndefined();
  });

  test('whatever is pressed, the selection is in range and on the screen', () => {
    const keys = liveCommands.flatMap((command) => command.keys);
    const action: fc.Arbitrary<LiveAction> = fc.oneof(
      { weight: 10, arbitrary: fc.constantFrom(...keys, '1', 'tab').map(key) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.nat(400), fc.nat(60))
          .map(([from, count]) => ({ kind: 'events' as const, events: many.slice(from, from + count), nowMs: from })),
      },
      {
        weight: 1,
        arbitrary: fc
          .record({ columns: fc.integer({ min: 1, max: 250 }), rows: fc.integer({ min: 1, max: 60 }) })
          .map((size) => ({ kind: 'resized' as const, ...size })),
      },
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 50 }), (actions) => {
        let state = live([]);
        for (const one of actions) {
          state = act(state, one);
          const layout = layoutOf(state);
          expect(layout.header + layout.table + layout.footer).toBeLessThanOrEqual(Math.max(1, state.rows));
          if (state.shown.length === 0) continue;
          const index = selectedIndex(state);
          expect(index >= state.top && index < state.top + tableHeight(layout)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('the columns of the live table', () => {
  test('are as wide as what they hold when there is room', () => {
    const columns = columnsOf(198, live().shown);
    const hosts = live().shown.map(({ facts }) => width(facts.host ?? ''));
    expect(columns.host).toBe(Math.max(...hosts) + 1);
    expect(columns.backend).toBeGreaterThanOrEqual('10.1.2.3:8080'.length + 1);
  });

  test.each([38, 58, 78, 98, 118, 198, 248])('fill %i cells exactly', (available) => {
    const { hostInPath, ...cells } = columnsOf(available, live().shown);
    expect(Object.values(cells).reduce((sum, each) => sum + each, 1)).toBe(available);
    expect(hostInPath && cells.host > 0).toBe(false);
  });

  test('a narrow head line keeps the failures and cuts nothing in two', () => {
    const text = liveHeader({ ...live(), columns: 60 }, 1)[0]
      ?.segments.map((segment) => segment.text)
      .join('');
    expect(text?.trimEnd()).toMatch(/req\/s .*! 4xx 2  ✗ 5xx 2$/);
  });
});
