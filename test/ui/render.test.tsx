import { describe, expect, test } from '@jest/globals';
import { renderToString } from 'ink';
import type { ReactElement } from 'react';
import stringWidth from 'string-width';
import { LiveView } from '../../ui/live/App.tsx';
import { stepLive } from '../../ui/live/model.ts';
import { initialLive, type LiveState } from '../../ui/live/state.ts';
import { FormView } from '../../ui/form/App.tsx';
import { colourTheme, plainTheme } from '../../ui/theme.ts';
import { TraceView } from '../../ui/trace/App.tsx';
import { formOf, press as pressForm } from './form/form.ts';
import { golden } from './golden.ts';
import { recording } from './recordings.ts';
import { press, type, viewerOf } from './trace/viewer.ts';

const sizes = [
  [40, 10],
  [80, 24],
  [120, 40],
  [200, 50],
] as const;

function frame(element: ReactElement, columns: number, rows: number): string {
  const lines = renderToString(element, { columns }).split('\n');
  expect(lines.length).toBeLessThanOrEqual(rows);
  expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
  return lines.map(withoutAttributes).join('\n');
}

function withoutAttributes(line: string): string {
  // oxlint-disable-next-line no-control-regex -- the attributes of the plain theme
  return line.replaceAll(/\u001b\[\d+m/g, '').trimEnd();
}

function live(columns: number, rows: number): LiveState {
  const empty = initialLive({
    title: 'gwctl demo',
    addresses: ['http://127.0.0.1:8080'],
    curls: ['curl http://127.0.0.1:8080/echo', 'curl http://127.0.0.1:8080/slow'],
    columns,
    rows,
  });
  return stepLive(empty, { kind: 'events', events: recording('many-requests'), nowMs: 1000 }).state;
}

describe.each(sizes)('at %d x %d', (columns, rows) => {
  const name = `${columns}x${rows}`;
  const view = (events: string, ...keys: string[]): string =>
    frame(
      <TraceView state={press(viewerOf(recording(events), { columns, rows }), ...keys)} theme={plainTheme} />,
      columns,
      rows,
    );

  test.each([
    ['trace-long-path', 'timeout-504', ['k', 'k', 'k', 'k']],
    ['trace-cjk-body', 'plain-200', ['k', 'tab']],
    ['trace-difference', 'retry', ['g', 'j', 'j', 'j', 'j', 'j', 'j', 'j', 'j', 'j', 'j', 'd']],
    ['trace-waterfall', 'retry', ['t']],
    ['trace-many', 'many-requests', ['g']],
    ['trace-problems', 'policies-403', ['z', 'g']],
    ['trace-help', 'plain-200', ['?']],
    ['trace-palette', 'plain-200', [':', 'c', 'o']],
    ['trace-translation', 'llm-tool-call', ['/', ...'translation', 'enter', 'g', 'd', 'tab', 'o']],
    ['trace-model', 'llm-failover', ['g']],
    ['trace-mcp', 'mcp-fan-out', ['g']],
    ['trace-mcp-error', 'mcp-tool-error', ['/', ...'type:mcp', 'enter', 'G', 'd', 'tab']],
    ['trace-a2a', 'a2a-stream', ['g']],
    ['trace-filter', 'plain-200', ['/', ...'snap']],
  ])('%s', (scene, events, keys) => {
    const shown = view(events, ...keys);
    expect(shown).toBe(golden(`${scene}-${name}`, shown));
  });

  test.each([
    ['form', {}, []],
    ['form-problems', {}, ['tab', 'ctrl-u', 'x', 'down', 'down', 'down', 'down', '{"for": "Ada"}', 'enter']],
    [
      'form-question',
      { title: 'The server asks', message: 'Order 20 of cup for €98.00?', declinable: true },
      ['c', 'tab', 'tab', 'tab', '長い'.repeat(60)],
    ],
  ])('%s', (scene, options, keys) => {
    const state = pressForm(formOf(options, [columns, rows]), ...keys).state;
    const shown = frame(<FormView state={state} theme={plainTheme} />, columns, rows);
    expect(shown).toBe(golden(`${scene}-${name}`, shown));
  });

  test('live', () => {
    const shown = frame(<LiveView state={live(columns, rows)} theme={plainTheme} />, columns, rows);
    expect(shown).toBe(golden(`live-${name}`, shown));
  });
});

describe('any terminal', () => {
  test.each([
    [1, 1],
    [5, 3],
    [20, 5],
    [39, 9],
    [59, 15],
    [79, 40],
    [250, 60],
  ])('%d x %d is never overdrawn', (columns, rows) => {
    for (const keys of [[], ['tab'], ['?'], [':'], ['x'], ['t', 'd']]) {
      frame(
        <TraceView
          state={press(viewerOf(recording('many-requests'), { columns, rows }), ...keys)}
          theme={plainTheme}
        />,
        columns,
        rows,
      );
    }
    frame(<LiveView state={live(columns, rows)} theme={plainTheme} />, columns, rows);
    frame(<FormView state={formOf({}, [columns, rows])} theme={plainTheme} />, columns, rows);
  });

  test('colour is never the only sign: without it the same characters are shown', () => {
    const state = type(press(viewerOf(recording('retry')), '/'), 'retry');
    const coloured = frame(<TraceView state={state} theme={colourTheme} />, 120, 40);
    expect(coloured).toBe(frame(<TraceView state={state} theme={plainTheme} />, 120, 40));
    expect(coloured).toMatch(/▸\d+ [✓·!✗]/);
  });
});
