import { drawPane } from '../../terminal/pane.ts';
import { fitSegments, highlight, row, rowWidth, seg, type Row, type Segment } from '../../terminal/row.ts';
import { fit, fitRight } from '../../terminal/text.ts';
import { needlesOf } from '../filter.ts';
import { contentSize, type Layout } from '../layout.ts';
import { fittingLine } from '../request.ts';
import type { Group, TraceState } from '../state.ts';
import { fittingSummary } from '../short-summary.ts';
import { nameOf, severityGlyph } from '../summary.ts';
import { durationUs, formatMicros, startUs } from '../timing.ts';
import { hasHeadings, rowCount, rowOf, windowOf, type EventRow } from '../visible-rows.ts';
import { barSegments } from '../waterfall.ts';
import { statusSegment } from './header.ts';

const TYPE_WIDTH = 15;
/** Where no summary says which policy or stage an event is about, its type does. */
const NAME_WIDTH = 28;
/** Bars give way to names from here on. */
const ROOM_FOR_NAMES = 24;

/** The pane on the left: only the rows that can be seen are looked at. */
export function eventsPane(state: TraceState, layout: Layout): Row[] {
  const size = contentSize(layout, 'events');
  const count = rowCount(state);
  const selected = state.selection === undefined ? -1 : rowOf(state, state.selection);
  const columns = columnsOf(state, size.width);
  const needles = needlesOf(state.filter.text);
  const rows = windowOf(state, state.top, size.height).map((item, at) =>
    drawRow(item, { state, columns, needles, selected: state.top + at === selected }),
  );
  return drawPane(count === 0 ? [emptyLine(state)] : rows, {
    title: titleOf(state, count, selected),
    note: noteOf(state),
    ...layout.panes.events,
    focused: state.focus === 'events',
    framed: layout.framed,
    top: state.top,
    count,
  });
}

/** Widths of the columns; 0 leaves a column out. */
interface Columns {
  readonly number: number;
  readonly at: number;
  readonly type: number;
  readonly bar: number;
  readonly took: number;
  readonly summary: number;
}

interface DrawContext {
  readonly state: TraceState;
  readonly columns: Columns;
  readonly needles: readonly string[];
  readonly selected: boolean;
}

function columnsOf(state: TraceState, width: number): Columns {
  const number = Math.max(
    2,
    String(Math.max(0, ...state.groups.slice(-50).map((group) => group.events.length))).length,
  );
  const fixed = 1 + number + 3;
  const left = width - fixed;
  const at = left >= 38 ? 8 : 0;
  const type = left >= 22 ? TYPE_WIDTH : Math.min(9, Math.max(0, left - 8));
  const rest = Math.max(0, left - at - type);
  if (state.waterfall) {
    const summary = rest >= 72 ? Math.round(rest * 0.4) : 0;
    const took = rest >= 18 ? 9 : 0;
    const named = summary === 0 && rest - took >= ROOM_FOR_NAMES ? NAME_WIDTH : type;
    return { number, at, type: named, took, summary, bar: Math.max(0, rest + type - named - summary - took) };
  }
  const bar = rest >= 70 ? 20 : rest >= 46 ? 13 : rest >= 34 ? 10 : rest >= 26 ? 8 : 0;
  const took = rest >= 56 ? 9 : 0;
  return { number, at, type, bar, took, summary: Math.max(0, rest - bar - took) };
}

function drawRow(item: EventRow, context: DrawContext): Row {
  const segments = item.kind === 'request' ? headingSegments(item.group, context) : eventSegments(item, context);
  if (!context.selected) return { segments };
  return { segments, base: context.state.focus === 'events' ? 'selected' : 'selectedIdle' };
}

type EventItem = Extract<EventRow, { kind: 'event' }>;

function eventSegments(item: EventItem, context: DrawContext): Segment[] {
  const { state, columns } = context;
  const { entry } = item;
  const style = entry.event.severity;
  const marker = context.selected ? '▸' : state.pinned === item.index ? '*' : ' ';
  return [
    seg(marker, 'bold'),
    seg(fitRight(String(entry.number), columns.number), 'dim'),
    seg(` ${severityGlyph(style)} `, style),
    ...(columns.at > 0 ? [seg(`${fitRight(formatMicros(startUs(entry.event)), columns.at - 1)} `, 'dim')] : []),
    ...highlight([seg(fit(typeText(entry, columns), Math.max(0, columns.type - 1)), style)], context.needles),
    ...(columns.type > 0 ? [seg(' ')] : []),
    ...barColumns(item, state, columns),
    ...highlight([seg(fittingSummary(entry, columns.summary), style)], context.needles),
  ];
}

function typeText({ event, label }: EventItem['entry'], { summary, type }: Columns): string {
  return summary === 0 && type > TYPE_WIDTH ? nameOf(event) : label;
}

function barColumns({ entry, index }: EventItem, state: TraceState, columns: Columns): Segment[] {
  const facts = state.groups[entry.request]?.facts;
  const slowest = facts?.steps.slowest?.index === index ? facts.steps.slowest.kind : undefined;
  const cells = Math.max(0, columns.bar - 1);
  const axis = { totalUs: facts?.totalUs ?? 0, sinceUs: entry.sinceUs, cells, slowest };
  const took = durationUs(entry.event);
  return [
    ...(columns.bar > 0 ? [...barSegments(entry.event, axis), seg(' ')] : []),
    ...(columns.took > 0
      ? [
          seg(
            `${fitRight(took === undefined ? '' : formatMicros(took), columns.took - 1)} `,
            slowest === 'step' ? 'bold' : 'plain',
          ),
        ]
      : []),
  ];
}

function headingSegments(group: Group, context: DrawContext): Segment[] {
  const { facts } = group;
  const problems = facts.errors + facts.warnings;
  const tail: Segment[] = [
    seg(' → ', 'dim'),
    statusSegment(facts),
    seg(`  ${formatMicros(facts.totalUs)}`, 'bold'),
    seg(`  ${group.visible.length === facts.events ? '' : `${group.visible.length}/`}${facts.events}`, 'dim'),
    ...(problems === 0 ? [] : [seg(`  ${problems}!`, 'warn')]),
  ];
  const clock = /T(\d\d:\d\d:\d\d(?:\.\d{1,3})?)/.exec(facts.startTime ?? '')?.[1] ?? '';
  const { columns } = context;
  const total = 4 + columns.number + columns.at + columns.type + columns.bar + columns.took + columns.summary;
  const room = total - rowWidth(tail) - 2 - (total >= 70 ? clock.length + 1 : 0);
  return fitSegments(
    [
      seg(`${group.collapsed ? '▸' : '▾'} `, 'bold'),
      ...(total >= 70 && clock !== '' ? [seg(`${clock} `, 'dim')] : []),
      ...highlight([seg(fittingLine(facts, Math.max(6, room)), 'title')], context.needles),
      ...tail,
    ],
    Math.max(0, total),
  );
}

function titleOf(state: TraceState, count: number, selected: number): string {
  const what = hasHeadings(state) ? `${state.groups.length} requests` : state.waterfall ? 'Waterfall' : 'Events';
  return count === 0 ? what : `${what} ${selected + 1}/${count}`;
}

function noteOf(state: TraceState): string {
  const looking = state.filter.text === '' ? '' : `${state.filter.hides ? 'filter' : 'mark'}: ${state.filter.text}`;
  return [state.onlyProblems ? 'problems only' : '', looking].filter((part) => part !== '').join(' · ');
}

function emptyLine(state: TraceState): Row {
  if (state.entries.length > 0) return row(' no event matches; backspace shows all', 'dim');
  return row(state.stream.complete ? ' the stream ended without an event' : ' waiting for trace data', 'dim');
}
