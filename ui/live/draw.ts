import { keyLine, paletteMatches, paletteRows } from '../terminal/command.ts';
import { drawPane, innerSize } from '../terminal/pane.ts';
import { fitSegments, highlight, row, rowWidth, seg, type Row, type Segment } from '../terminal/row.ts';
import { clipMiddle, fit, fitRight } from '../terminal/text.ts';
import { statusSegment } from '../trace/draw/header.ts';
import { operationOf } from '../trace/request.ts';
import { formatMicros } from '../trace/timing.ts';
import { rateOf } from './arrival.ts';
import { columnsOf, routeText, type Columns } from './columns.ts';
import { liveCommands, liveFooter, selectedIndex } from './commands.ts';
import { liveHelp } from './help.ts';
import { tableHeight, type LiveLayout } from './layout.ts';
import type { LiveRequest, LiveState } from './state.ts';

/** The lines at the top: rates and counts, addresses, commands to try. */
export function liveHeader(state: LiveState, height: number): Row[] {
  const addresses: Segment[] = [seg(' listening on ', 'dim'), seg(state.addresses.join('  '))];
  const tries = state.curls.map((curl): Segment[] => [seg(' $ ', 'dim'), seg(curl, 'key')]);
  const lines = [countsLine(state), addresses, ...tries];
  return lines.slice(0, height).map((segments) => ({ segments: fitSegments(segments, state.columns) }));
}

export function liveFooterRows(state: LiveState, height: number): Row[] {
  const status = { segments: fitSegments(statusSegments(state), state.columns) };
  const keys = keyLine(liveFooter(), state.columns);
  if (height >= 2) return [status, keys];
  return height === 0 ? [] : [state.overlay.kind === 'prompt' || state.status.text !== '' ? status : keys];
}

/** The table, or what lies over it. */
export function liveTable(state: LiveState, layout: LiveLayout): Row[] {
  const frame = { width: state.columns, height: layout.table, focused: true, framed: layout.framed };
  const size = innerSize(frame, layout.framed);
  if (state.overlay.kind === 'help') {
    return drawPane(liveHelp().slice(state.overlay.top), {
      ...frame,
      title: 'Keys',
      note: 'esc closes',
      top: state.overlay.top,
      count: liveHelp().length,
    });
  }
  if (state.overlay.kind === 'palette') {
    return drawPane(paletteRows(paletteMatches(liveCommands, state.overlay.text), state.overlay, size), {
      ...frame,
      title: 'Commands',
      note: 'esc closes',
    });
  }
  const columns = columnsOf(size.width, state.shown);
  const rows = [headingRow(columns), ...requestRows(state, columns, tableHeight(layout))];
  return drawPane(rows, {
    ...frame,
    title: titleOf(state),
    note: noteOf(state),
    top: state.top,
    count: state.shown.length,
  });
}

/** In a narrow terminal what tells of trouble stays longest. */
function countsLine(state: LiveState): Segment[] {
  const { byClass, finished } = state.totals;
  const count = (digit: string): number => byClass[digit] ?? 0;
  const failed = count('5') + count('0');
  const parts: readonly (readonly [rank: number, segment: Segment])[] = [
    [0, seg(` ${state.title}`, 'title')],
    [1, seg(`  ${rateOf(state).toFixed(1)} req/s`, 'bold')],
    [5, seg(`  ${finished} requests`, 'dim')],
    [4, seg(`  ✓ 2xx ${count('2')}`, 'success')],
    [6, seg(`  3xx ${count('3')}`, 'dim')],
    [3, seg(`  ! 4xx ${count('4')}`, count('4') > 0 ? 'warn' : 'dim')],
    [2, seg(`  ✗ 5xx ${failed}`, failed > 0 ? 'error' : 'dim')],
    ...percentiles(state).map((segment) => [7, segment] as const),
  ];
  let room = state.columns;
  const shown = new Set<Segment>();
  for (const [, segment] of parts.toSorted(([a], [b]) => a - b)) {
    room -= rowWidth([segment]);
    if (room < 0) break;
    shown.add(segment);
  }
  return parts.map(([, segment]) => segment).filter((segment) => shown.has(segment));
}

function percentiles(state: LiveState): Segment[] {
  const took = state.requests
    .slice(-200)
    .filter((request) => request.facts.finished)
    .map((request) => request.facts.totalUs);
  if (took.length === 0) return [];
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    formatMicros(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return [seg(`  p50 ${at(0.5)}`, 'dim'), seg(`  p95 ${at(0.95)}`, 'dim')];
}

function headingRow(columns: Columns): Row {
  const cell = (text: string, cells: number): string => (cells > 0 ? fit(text, cells) : '');
  const right = (text: string, cells: number): string => (cells > 0 ? `${fitRight(text, cells - 1)} ` : '');
  const where = columns.host > 0 ? cell('HOST', columns.host) + cell('PATH', columns.path) : cell('PATH', columns.path);
  const text = ` ${cell('TIME', columns.time)}${cell('METHOD', columns.method)}${where}${cell('STATUS', columns.status)}${cell('ROUTE', columns.route)}${cell('BACKEND', columns.backend)}${right('TOOK', columns.took)}`;
  return row(text, 'dim');
}

function requestRows(state: LiveState, columns: Columns, height: number): Row[] {
  if (state.shown.length === 0)
    return [
      row(state.requests.length > 0 ? ' no request matches; backspace shows all' : ' waiting for requests', 'dim'),
    ];
  const selected = selectedIndex(state);
  const needles = state.filter.toLowerCase().split(/\s+/);
  return state.shown
    .slice(state.top, state.top + height)
    .map((request, at) => requestRow(request, { columns, needles, selected: state.top + at === selected }));
}

function requestRow(
  request: LiveRequest,
  context: { columns: Columns; needles: readonly string[]; selected: boolean },
): Row {
  const { facts } = request;
  const { columns } = context;
  const clock = /T(\d\d:\d\d:\d\d)/.exec(facts.startTime ?? '')?.[1] ?? '';
  const about = facts.chat?.model ?? operationOf(facts);
  const path = `${columns.hostInPath ? (facts.host ?? '') : ''}${facts.path ?? ''}${about === '' ? '' : ` ${about}`}`;
  const text = [
    ...(columns.time > 0 ? [seg(fit(clock, columns.time), 'dim')] : []),
    seg(fit(facts.method ?? '…', columns.method), 'bold'),
    ...(columns.host > 0 ? [middle(facts.host ?? '', columns.host)] : []),
    middle(path, columns.path),
  ];
  const status = fitSegments([statusSegment(facts)], columns.status);
  const tail = [middle(routeText(request), columns.route, 'dim'), middle(facts.backend ?? '', columns.backend, 'dim')];
  const took = columns.took > 0 ? [seg(`${fitRight(formatMicros(facts.totalUs), columns.took - 1)} `)] : [];
  const segments = [
    seg(context.selected ? '▸' : ' ', 'bold'),
    ...highlight(text, context.needles),
    ...status,
    ...tail,
    ...took,
    ...durationBar(facts.totalUs, columns.bar),
  ];
  return context.selected ? { segments, base: 'selected' } : { segments };
}

/** A bar on a logarithmic scale, from 100 µs (one cell) to 10 s (all cells): what differs tenfold looks different. */
function durationBar(us: number, cells: number): Segment[] {
  if (cells <= 1) return [];
  const share = Math.log10(Math.max(us, 100) / 100) / 5;
  const filled = Math.max(1, Math.min(cells - 1, Math.round(share * (cells - 1))));
  return [seg('━'.repeat(filled), us >= 1_000_000 ? 'warn' : 'bar'), seg(' '.repeat(cells - filled))];
}

function middle(text: string, cells: number, style: 'plain' | 'dim' = 'plain'): Segment {
  return seg(cells <= 0 ? '' : fit(clipMiddle(text, cells - 1), cells), style);
}

function titleOf(state: LiveState): string {
  const { length } = state.shown;
  return length === 0 ? 'Requests' : `Requests ${selectedIndex(state) + 1}/${length}`;
}

function noteOf(state: LiveState): string {
  const paused =
    state.frozen === undefined ? '' : `‖ paused, ${state.forgotten + state.requests.length - state.frozen.seen} new`;
  const follows = state.attached && state.frozen === undefined && !state.ended;
  const parts = [
    paused,
    state.onlyProblems ? 'problems only' : '',
    state.filter === '' ? '' : `filter: ${state.filter}`,
    follows ? '● following' : '',
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

function statusSegments(state: LiveState): Segment[] {
  if (state.overlay.kind === 'prompt')
    return [seg(' filter/', 'bold'), seg(state.overlay.text), seg('█'), seg('   ⏎ keep   esc undo', 'dim')];
  const { text, tone } = state.status;
  if (text !== '') return [seg(` ${tone === 'error' ? '✗ ' : tone === 'success' ? '✓ ' : ''}${text}`, tone)];
  const kept = `${state.requests.length} requests kept`;
  const quiet = state.requests.length === 0 ? 'waiting for requests' : kept;
  const out = [seg(` ${quiet}`, 'dim')];
  return rowWidth(out) > state.columns ? [] : out;
}
