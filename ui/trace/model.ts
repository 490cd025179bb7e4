import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { assertNever } from '../../src/shared/assert-never.ts';
import { clampTop, keepVisible } from '../terminal/list-window.ts';
import type { KeyPress } from '../terminal/keys.ts';
import { withEvents } from './arrival.ts';
import { commandFor, commands, type Step } from './commands.ts';
import { withDetail } from './detail-pane.ts';
import { traceHelp } from './help.ts';
import { contentSize, layoutOf } from './layout.ts';
import { withStatus } from './moves.ts';
import { overlayKey } from './overlays.ts';
import type { Selection, Tone, TraceState } from './state.ts';
import { rowCount, rowOf, rowStartsOf, selectionAt } from './visible-rows.ts';

/** Everything that can happen to the viewer. */
export type Action =
  | { readonly kind: 'events'; readonly events: readonly TraceEvent[]; readonly source: number }
  | { readonly kind: 'opened' }
  /** A stream is over; `error` says why when it broke. */
  | { readonly kind: 'ended'; readonly source: number; readonly error?: string }
  | { readonly kind: 'resized'; readonly columns: number; readonly rows: number }
  | { readonly kind: 'key'; readonly key: KeyPress }
  | { readonly kind: 'command'; readonly id: string }
  | { readonly kind: 'status'; readonly text: string; readonly tone: Tone };

/** The viewer after an action, and what the terminal has to do about it. Pure: same state and action, same answer. */
export function step(state: TraceState, action: Action): Step {
  const next = react(state, action);
  return { ...next, state: settled(next.state) };
}

function react(state: TraceState, action: Action): Step {
  switch (action.kind) {
    case 'events':
      return { state: withEvents(state, action.events, action.source) };
    case 'opened':
      return { state: { ...state, stream: { open: state.stream.open + 1, complete: false } } };
    case 'ended':
      return { state: ended(state, action.source, action.error) };
    case 'resized':
      return { state: { ...state, columns: Math.max(1, action.columns), rows: Math.max(1, action.rows) } };
    case 'key':
      return pressed(state, action.key);
    case 'command':
      return commands.find((command) => command.id === action.id)?.run(withStatus(state, '')) ?? { state };
    case 'status':
      return { state: withStatus(state, action.text, action.tone) };
    default:
      return assertNever(action);
  }
}

function pressed(state: TraceState, key: KeyPress): Step {
  if (key.name === 'ctrl-c') return { state, effect: { kind: 'interrupt' } };
  if (state.overlay.kind !== 'none') return overlayKey(state, key);
  return commandFor(key.name, state.focus)?.run(withStatus(state, '')) ?? { state };
}

function ended(state: TraceState, source: number, error: string | undefined): TraceState {
  const open = Math.max(0, state.stream.open - 1);
  const closed = { ...state, stream: { open, complete: open === 0 } };
  if (error === undefined) return closed;
  const group = state.groups[state.current.get(source) ?? -1];
  const at = group?.facts.totalUs ?? 0;
  const row: TraceEvent = {
    eventStart: null,
    eventEnd: at,
    severity: 'error',
    message: { type: 'message', text: error },
  };
  return withStatus(withEvents(closed, [row], source), error, 'error');
}

/** Makes everything that hangs on something else fit again: rows, selection, scroll offsets, detail text. */
function settled(state: TraceState): TraceState {
  const counted = { ...state, rowStarts: rowStartsOf(state) };
  const selected = { ...counted, selection: selectionOf(counted) };
  const layout = layoutOf(selected);
  const row = selected.selection === undefined ? 0 : rowOf(selected, selected.selection);
  const top = keepVisible(selected.top, row, contentSize(layout, 'events').height, rowCount(selected));
  const shown = withDetail({ ...selected, top });
  const detailTop = clampTop(shown.detailTop, contentSize(layout, 'detail').height, shown.detail.lines.length);
  return { ...shown, detailTop, overlay: settledOverlay(shown) };
}

function selectionOf(state: TraceState): Selection | undefined {
  if (rowCount(state) === 0) return undefined;
  if (state.attached) return newest(state) ?? selectionAt(state, rowCount(state) - 1);
  return selectionAt(state, state.selection === undefined ? 0 : rowOf(state, state.selection));
}

/** The newest event that is visible. Streams interleave, so it need not be in the last row. */
function newest(state: TraceState): Selection | undefined {
  let best: Selection | undefined;
  for (const [request, group] of state.groups.entries()) {
    const event = group.collapsed ? undefined : group.visible.items[group.visible.length - 1];
    if (event !== undefined && event > (best?.event ?? -1)) best = { request, event };
  }
  return best;
}

function settledOverlay(state: TraceState): TraceState['overlay'] {
  if (state.overlay.kind !== 'help') return state.overlay;
  return {
    kind: 'help',
    top: clampTop(state.overlay.top, Math.max(1, layoutOf(state).body.height - 2), traceHelp().length),
  };
}
