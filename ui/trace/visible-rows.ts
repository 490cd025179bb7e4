import { countUpTo } from './append-list.ts';
import type { Entry, Group, Selection, TraceState } from './state.ts';

/** A row of the events pane. */
export type EventRow =
  | { readonly kind: 'request'; readonly request: number; readonly group: Group }
  | { readonly kind: 'event'; readonly index: number; readonly entry: Entry };

/** Whether requests have headings: as soon as there is more than one. */
export function hasHeadings(state: Pick<TraceState, 'groups'>): boolean {
  return state.groups.length > 1;
}

/** The number of the first row of each group, and the number of all rows at the end. */
export function rowStartsOf(state: TraceState): number[] {
  const headings = hasHeadings(state);
  const starts: number[] = [];
  let row = 0;
  for (const group of state.groups) {
    starts.push(row);
    row += rowsOf(state, group, headings);
  }
  starts.push(row);
  return starts;
}

export function rowCount(state: TraceState): number {
  return state.rowStarts.at(-1) ?? 0;
}

/** The row at a position, or undefined outside the list. */
export function selectionAt(state: TraceState, row: number): Selection | undefined {
  if (row < 0 || row >= rowCount(state)) return undefined;
  const request = groupAt(state.rowStarts, row);
  const group = state.groups[request];
  if (group === undefined) return undefined;
  const offset = row - (state.rowStarts[request] ?? 0) - (hasHeadings(state) ? 1 : 0);
  return { request, event: offset < 0 ? undefined : group.visible.items[offset] };
}

/** The position of a selection, or of the row that is nearest to it when it is not visible; -1 in an empty list. */
export function rowOf(state: TraceState, selection: Selection): number {
  const start = state.rowStarts[selection.request] ?? 0;
  const end = state.rowStarts[selection.request + 1] ?? start;
  const last = rowCount(state) - 1;
  if (end === start) return Math.min(start, last);
  const heading = hasHeadings(state) ? 1 : 0;
  if (selection.event === undefined) return start;
  const visible = state.groups[selection.request]?.visible;
  const before = visible === undefined ? 0 : countUpTo(visible, selection.event);
  return Math.min(Math.max(start, start + heading + before - 1), end - 1);
}

/** The rows from `top`, at most `height`: all that a frame looks at. */
export function windowOf(state: TraceState, top: number, height: number): EventRow[] {
  const rows: EventRow[] = [];
  for (let row = top; row < Math.min(top + height, rowCount(state)); row += 1) {
    const at = selectionAt(state, row);
    const group = at === undefined ? undefined : state.groups[at.request];
    if (at === undefined || group === undefined) break;
    const entry = at.event === undefined ? undefined : state.entries.items[at.event];
    if (at.event === undefined) rows.push({ kind: 'request', request: at.request, group });
    else if (entry !== undefined) rows.push({ kind: 'event', index: at.event, entry });
  }
  return rows;
}

function rowsOf(state: TraceState, group: Group, headings: boolean): number {
  const isFiltered = state.onlyProblems || (state.filter.hides && state.filter.text !== '');
  if (!headings) return group.visible.length;
  if (isFiltered && group.visible.length === 0) return 0;
  return 1 + (group.collapsed ? 0 : group.visible.length);
}

/** The last group that starts at or before the row; groups without rows share their start with the next one. */
function groupAt(starts: readonly number[], row: number): number {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if ((starts[mid] ?? 0) <= row) low = mid;
    else high = mid - 1;
  }
  return low;
}
