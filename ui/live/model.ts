import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { assertNever } from '../../src/shared/assert-never.ts';
import { paletteMatches } from '../terminal/command.ts';
import type { KeyPress } from '../terminal/keys.ts';
import { clampIndex, clampTop, keepVisible } from '../terminal/list-window.ts';
import { editText } from '../terminal/prompt.ts';
import { step as stepTrace } from '../trace/model.ts';
import { isProblem, operationOf, rpcProblem, statusText } from '../trace/request.ts';
import type { Tone } from '../trace/state.ts';
import { withLiveEvents } from './arrival.ts';
import { liveCommands, selectedIndex, type LiveStep } from './commands.ts';
import { liveHelp } from './help.ts';
import { layoutOf, tableHeight } from './layout.ts';
import type { LiveOverlay, LiveRequest, LiveState } from './state.ts';
import { withViewerEvents } from './viewer.ts';

/** Everything that can happen to the live screen. */
export type LiveAction =
  | { readonly kind: 'events'; readonly events: readonly TraceEvent[]; readonly nowMs: number }
  | { readonly kind: 'ended'; readonly error?: string }
  | { readonly kind: 'tick'; readonly nowMs: number }
  | { readonly kind: 'resized'; readonly columns: number; readonly rows: number }
  | { readonly kind: 'key'; readonly key: KeyPress }
  | { readonly kind: 'status'; readonly text: string; readonly tone: Tone };

/** The screen after an action, and what the terminal has to do about it. Pure. */
export function stepLive(state: LiveState, action: LiveAction): LiveStep {
  const next = react(state, action);
  return { ...next, state: settled(next.state) };
}

function react(state: LiveState, action: LiveAction): LiveStep {
  switch (action.kind) {
    case 'events':
      return { state: withViewerEvents(withLiveEvents(state, action.events, action.nowMs), action.events) };
    case 'ended':
      return { state: { ...state, ended: true, status: endStatus(action.error) } };
    case 'tick':
      return { state: { ...state, nowMs: action.nowMs } };
    case 'resized':
      return { state: resized(state, Math.max(1, action.columns), Math.max(1, action.rows)) };
    case 'key':
      return pressed(state, action.key);
    case 'status':
      return { state: said(state, action.text, action.tone) };
    default:
      return assertNever(action);
  }
}

function pressed(state: LiveState, key: KeyPress): LiveStep {
  if (key.name === 'ctrl-c') return { state, effect: { kind: 'interrupt' } };
  if (state.viewer !== undefined) return viewerKey(state, state.viewer, key);
  if (state.overlay.kind !== 'none') return overlayKey(state, key);
  const quiet: LiveState = { ...state, status: { text: '', tone: 'info' } };
  return liveCommands.find((command) => command.keys.includes(key.name))?.run(quiet) ?? { state };
}

function viewerKey(state: LiveState, viewer: NonNullable<LiveState['viewer']>, key: KeyPress): LiveStep {
  const { state: inner, effect } = stepTrace(viewer.state, { kind: 'key', key });
  const next: LiveState = { ...state, viewer: { id: viewer.id, state: inner } };
  if (effect === undefined) return { state: next };
  switch (effect.kind) {
    case 'leave':
      return { state: { ...state, viewer: undefined } };
    case 'interrupt':
    case 'suspend':
      return { state: next, effect: { kind: effect.kind } };
    case 'resend':
      return { state: next, effect: { kind: 'resend', id: viewer.id } };
    default:
      return { state: next, effect: { kind: 'viewer', effect } };
  }
}

function overlayKey(state: LiveState, key: KeyPress): LiveStep {
  const { overlay } = state;
  const closed: LiveState = { ...state, overlay: { kind: 'none' } };
  switch (overlay.kind) {
    case 'none':
      return { state };
    case 'prompt':
      return { state: promptKey(state, overlay, key) };
    case 'palette':
      return paletteKey(state, overlay, key);
    case 'help': {
      const by = { j: 1, down: 1, k: -1, up: -1, pgdn: 10, pgup: -10, space: 10 }[key.name];
      if (by !== undefined)
        return { state: { ...state, overlay: { kind: 'help', top: Math.max(0, overlay.top + by) } } };
      return { state: ['esc', 'q', 'h', '?', 'enter'].includes(key.name) ? closed : state };
    }
  }
}

function promptKey(state: LiveState, overlay: Extract<LiveOverlay, { kind: 'prompt' }>, key: KeyPress): LiveState {
  if (key.name === 'esc') return { ...state, filter: overlay.before, overlay: { kind: 'none' } };
  if (key.name === 'enter') return { ...state, overlay: { kind: 'none' } };
  const text = editText(overlay.text, key);
  return text === undefined ? state : { ...state, filter: text, overlay: { ...overlay, text } };
}

function paletteKey(state: LiveState, overlay: Extract<LiveOverlay, { kind: 'palette' }>, key: KeyPress): LiveStep {
  const found = paletteMatches(liveCommands, overlay.text);
  const closed: LiveState = { ...state, overlay: { kind: 'none' } };
  if (key.name === 'esc') return { state: closed };
  if (key.name === 'enter') return found[overlay.index]?.run(closed) ?? { state };
  const by = { down: 1, tab: 1, up: -1, 'shift-tab': -1 }[key.name];
  if (by !== undefined)
    return { state: { ...state, overlay: { ...overlay, index: clampIndex(overlay.index + by, found.length) } } };
  const text = editText(overlay.text, key);
  return { state: text === undefined ? state : { ...state, overlay: { kind: 'palette', text, index: 0 } } };
}

function resized(state: LiveState, columns: number, rows: number): LiveState {
  const viewer = state.viewer && {
    id: state.viewer.id,
    state: stepTrace(state.viewer.state, { kind: 'resized', columns, rows }).state,
  };
  return { ...state, columns, rows, viewer };
}

function said(state: LiveState, text: string, tone: Tone): LiveState {
  const viewer = state.viewer && {
    id: state.viewer.id,
    state: stepTrace(state.viewer.state, { kind: 'status', text, tone }).state,
  };
  return { ...state, viewer, status: { text, tone } };
}

function endStatus(error: string | undefined): LiveState['status'] {
  return error === undefined
    ? { text: 'the stream has ended, no more requests will come', tone: 'info' }
    : { text: error, tone: 'error' };
}

function settled(state: LiveState): LiveState {
  const shown = shownOf(state);
  const counted = { ...state, shown };
  const last = shown.length - 1;
  const found = selectedIndex(counted);
  const previous = state.shown.findIndex((request) => request.id === state.selectedId);
  const follows = state.attached && state.frozen === undefined;
  const index = follows ? last : found >= 0 ? found : Math.max(0, Math.min(previous, last));
  const layout = layoutOf(state);
  const height = tableHeight(layout);
  const top = clampTop(keepVisible(state.top, index, height, shown.length), height, shown.length);
  return { ...counted, selectedId: shown[index]?.id, top, overlay: settledOverlay(state, layout.table) };
}

function settledOverlay(state: LiveState, height: number): LiveOverlay {
  if (state.overlay.kind !== 'help') return state.overlay;
  return { kind: 'help', top: clampTop(state.overlay.top, Math.max(1, height - 2), liveHelp().length) };
}

function shownOf(state: LiveState): readonly LiveRequest[] {
  const all = state.frozen?.requests ?? state.requests;
  const words = state.filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0 && !state.onlyProblems) return all;
  return all.filter((request) => (!state.onlyProblems || isProblem(request.facts)) && matches(request, words));
}

function matches({ facts, id }: LiveRequest, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = [
    facts.method,
    facts.host,
    facts.path,
    statusText(facts),
    facts.route,
    facts.backend,
    facts.error,
    operationOf(facts),
    rpcProblem(facts),
    id,
  ]
    .join(' ')
    .toLowerCase();
  return words.every((word) =>
    word.startsWith('-') && word.length > 1 ? !text.includes(word.slice(1)) : text.includes(word),
  );
}
