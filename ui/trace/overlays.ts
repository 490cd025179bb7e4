import { paletteMatches } from '../terminal/command.ts';
import { clampIndex } from '../terminal/list-window.ts';
import type { KeyPress } from '../terminal/keys.ts';
import { editText } from '../terminal/prompt.ts';
import { commands, type Step } from './commands.ts';
import { moveToMatch, setFilter } from './moves.ts';
import type { ExportFormat, Overlay, TraceState } from './state.ts';

export const exportChoices: readonly { readonly format: ExportFormat; readonly key: string; readonly title: string }[] =
  [
    { format: 'jsonl', key: 'j', title: 'JSON Lines: every event, for gwctl proxy trace --file' },
    { format: 'har', key: 'h', title: 'HAR: the requests, for browsers and other tools' },
    { format: 'curl', key: 'c', title: 'curl: the selected request as a command' },
  ];

/** A key while something lies over the panes. */
export function overlayKey(state: TraceState, key: KeyPress): Step {
  const { overlay } = state;
  switch (overlay.kind) {
    case 'prompt':
      return { state: promptKey(state, overlay, key) };
    case 'palette':
      return paletteKey(state, overlay, key);
    case 'help':
      return { state: helpKey(state, overlay, key) };
    case 'export':
      return exportKey(state, overlay, key);
    case 'none':
      return { state };
  }
}

type Of<K extends Overlay['kind']> = Extract<Overlay, { kind: K }>;

function closed(state: TraceState): TraceState {
  return { ...state, overlay: { kind: 'none' } };
}

function promptKey(state: TraceState, overlay: Of<'prompt'>, key: KeyPress): TraceState {
  if (key.name === 'esc') return closed(sought(state, overlay, overlay.before.text));
  if (key.name === 'enter') return accepted(state, overlay);
  if (key.name === 'tab' && overlay.pane === 'events')
    return setFilter(state, { text: overlay.text, hides: !state.filter.hides });
  const text = editText(overlay.text, key);
  return text === undefined ? state : sought({ ...state, overlay: { ...overlay, text } }, overlay, text);
}

/** Typing narrows the list at once; in the details it only marks until enter goes to the first match. */
function sought(state: TraceState, overlay: Of<'prompt'>, text: string): TraceState {
  return overlay.pane === 'events' ? setFilter(state, { ...state.filter, text }) : { ...state, search: text };
}

function accepted(state: TraceState, overlay: Of<'prompt'>): TraceState {
  const shut = closed(state);
  const jumps = overlay.text !== '' && (overlay.pane === 'detail' || !state.filter.hides);
  return jumps ? moveToMatch(shut, 1) : shut;
}

function paletteKey(state: TraceState, overlay: Of<'palette'>, key: KeyPress): Step {
  const found = paletteMatches(commands, overlay.text);
  if (key.name === 'esc') return { state: closed(state) };
  if (key.name === 'enter') return found[overlay.index]?.run(closed(state)) ?? { state };
  if (key.name === 'down' || key.name === 'tab')
    return { state: withIndex(state, overlay, overlay.index + 1, found.length) };
  if (key.name === 'up' || key.name === 'shift-tab')
    return { state: withIndex(state, overlay, overlay.index - 1, found.length) };
  const text = editText(overlay.text, key);
  return { state: text === undefined ? state : { ...state, overlay: { kind: 'palette', text, index: 0 } } };
}

function exportKey(state: TraceState, overlay: Of<'export'>, key: KeyPress): Step {
  const chosen =
    key.name === 'enter' ? exportChoices[overlay.index] : exportChoices.find((choice) => choice.key === key.name);
  if (chosen !== undefined) return { state: closed(state), effect: { kind: 'export', format: chosen.format } };
  if (key.name === 'down') return { state: withIndex(state, overlay, overlay.index + 1, exportChoices.length) };
  if (key.name === 'up') return { state: withIndex(state, overlay, overlay.index - 1, exportChoices.length) };
  return { state: key.name === 'esc' || key.name === 'q' || key.name === 'x' ? closed(state) : state };
}

function helpKey(state: TraceState, overlay: Of<'help'>, key: KeyPress): TraceState {
  const step = {
    j: 1,
    down: 1,
    k: -1,
    up: -1,
    pgdn: 10,
    pgup: -10,
    space: 10,
    g: -1000,
    G: 1000,
    home: -1000,
    end: 1000,
  }[key.name];
  if (step !== undefined) return { ...state, overlay: { kind: 'help', top: Math.max(0, overlay.top + step) } };
  return ['esc', 'q', 'h', '?', 'enter'].includes(key.name) ? closed(state) : state;
}

function withIndex(state: TraceState, overlay: Of<'palette'> | Of<'export'>, index: number, count: number): TraceState {
  return { ...state, overlay: { ...overlay, index: clampIndex(index, count) } };
}
