import { clampIndex } from '../terminal/list-window.ts';
import { refiltered } from './arrival.ts';
import { matches, parseQuery } from './filter.ts';
import { contentSize, layoutOf } from './layout.ts';
import type { DetailMode, Pane, Query, TraceState } from './state.ts';
import { hasHeadings, rowCount, rowOf, selectionAt } from './visible-rows.ts';

/** Moves the selection, or scrolls the detail, by rows; moving up lets go of the newest event. */
export function moveBy(state: TraceState, rows: number): TraceState {
  if (state.focus === 'detail') return { ...state, detailTop: Math.max(0, state.detailTop + rows) };
  const from = state.selection === undefined ? 0 : rowOf(state, state.selection);
  return selectRow(state, from + rows, rows < 0 ? false : state.attached);
}

export function moveToEdge(state: TraceState, edge: 'first' | 'last'): TraceState {
  if (state.focus === 'detail')
    return { ...state, detailTop: edge === 'first' ? 0 : state.detail.lines.length, detailLeft: 0 };
  return selectRow(state, edge === 'first' ? 0 : rowCount(state) - 1, edge === 'first' ? false : state.attached);
}

/** The rows that a page key moves by. */
export function pageSize(state: TraceState): number {
  return Math.max(1, contentSize(layoutOf(state), state.focus).height - 1);
}

export function scrollSideways(state: TraceState, columns: number): TraceState {
  if (state.wrap) return withStatus(state, 'nothing to scroll to: lines are wrapped (w)');
  return { ...state, detailLeft: Math.max(0, state.detailLeft + columns) };
}

/** Selects the first row of the next or previous request. */
export function moveToRequest(state: TraceState, step: 1 | -1): TraceState {
  if (!hasHeadings(state)) return withStatus(state, 'there is only one request');
  const from = state.selection?.request ?? 0;
  for (let request = from + step; request >= 0 && request < state.groups.length; request += step) {
    const start = state.rowStarts[request] ?? 0;
    if ((state.rowStarts[request + 1] ?? start) > start)
      return { ...state, selection: { request, event: undefined }, attached: false };
  }
  return withStatus(state, step > 0 ? 'this is the last request' : 'this is the first request');
}

/** The next or previous match of what is looked for in the focused pane. */
export function moveToMatch(state: TraceState, step: 1 | -1): TraceState {
  return state.focus === 'detail' ? moveToDetailMatch(state, step) : moveToRowMatch(state, step);
}

function selectRow(state: TraceState, row: number, attached: boolean): TraceState {
  const selection = selectionAt(state, clampIndex(row, rowCount(state)));
  return selection === undefined ? state : { ...state, selection, attached: attached && row >= rowCount(state) - 1 };
}

export function toggleAttached(state: TraceState): TraceState {
  const attached = !state.attached;
  return withStatus({ ...state, attached }, attached ? 'following the newest event' : 'no longer following');
}

export function setFilter(state: TraceState, filter: Query): TraceState {
  return refiltered({ ...state, filter });
}

export function toggleProblems(state: TraceState): TraceState {
  return refiltered({ ...state, onlyProblems: !state.onlyProblems });
}

export function setFocus(state: TraceState, focus: Pane): TraceState {
  return { ...state, focus };
}

export function setMode(state: TraceState, mode: DetailMode): TraceState {
  return { ...state, mode, comparing: false };
}

export function pin(state: TraceState): TraceState {
  const event = state.selection?.event;
  if (event === undefined) return withStatus(state, 'select an event to pin it', 'error');
  if (state.pinned === event) return withStatus({ ...state, pinned: undefined, comparing: false }, 'pin removed');
  const number = state.entries.items[event]?.number ?? 0;
  return withStatus({ ...state, pinned: event }, `pinned event ${number}; D compares the selected event with it`);
}

export function toggleComparison(state: TraceState): TraceState {
  if (state.comparing) return { ...state, comparing: false };
  if (state.pinned === undefined) return withStatus(state, 'pin an event first (p)', 'error');
  return { ...state, comparing: true };
}

/** Folds or unfolds the request of the selection. */
export function toggleCollapsed(state: TraceState): TraceState {
  const request = state.selection?.request;
  if (request === undefined || !hasHeadings(state)) return state;
  const groups = state.groups.map((group, at) => (at === request ? { ...group, collapsed: !group.collapsed } : group));
  return { ...state, groups, selection: { request, event: undefined }, attached: false };
}

export function withStatus(state: TraceState, text: string, tone: TraceState['status']['tone'] = 'info'): TraceState {
  return { ...state, status: { text, tone } };
}

function moveToRowMatch(state: TraceState, step: 1 | -1): TraceState {
  if (state.filter.text === '') return withStatus(state, 'nothing to look for yet: / asks for it');
  const terms = parseQuery(state.filter.text);
  const from = state.selection === undefined ? 0 : rowOf(state, state.selection);
  const count = rowCount(state);
  for (let distance = 1; distance <= count; distance += 1) {
    const row = (from + step * distance + count * 2) % count;
    const index = selectionAt(state, row)?.event;
    const entry = index === undefined ? undefined : state.entries.items[index];
    if (entry !== undefined && matches(entry, terms)) return selectRow(state, row, false);
  }
  return withStatus(state, `no event matches "${state.filter.text}"`, 'error');
}

function moveToDetailMatch(state: TraceState, step: 1 | -1): TraceState {
  const wanted = state.search.toLowerCase();
  const { lines } = state.detail;
  if (wanted === '') return withStatus(state, 'nothing to look for yet: / asks for it');
  for (let distance = 1; distance <= lines.length; distance += 1) {
    const at = (state.detailTop + step * distance + lines.length * 2) % lines.length;
    const column = (lines[at] ?? '').toLowerCase().indexOf(wanted);
    if (column >= 0) return withStatus({ ...state, detailTop: at }, `line ${at + 1} of ${lines.length}`);
  }
  return withStatus(state, `"${state.search}" is not in this text`, 'error');
}
