import type { CommandGroup, CommandInfo } from '../terminal/command.ts';
import { clampIndex } from '../terminal/list-window.ts';
import type { Effect as TraceEffect } from '../trace/commands.ts';
import { layoutOf } from './layout.ts';
import type { LiveState } from './state.ts';
import { openViewer } from './viewer.ts';

/** What the terminal or the gateway has to do; `viewer` effects are about the request whose trace is open. */
export type LiveEffect =
  | { readonly kind: 'leave' }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'suspend' }
  | { readonly kind: 'resend'; readonly id: string }
  | { readonly kind: 'viewer'; readonly effect: Extract<TraceEffect, { kind: 'copy' | 'export' }> };

export interface LiveStep {
  readonly state: LiveState;
  readonly effect?: LiveEffect;
}

export interface LiveCommand extends CommandInfo {
  readonly run: (state: LiveState) => LiveStep;
}

/** Every key of the live screen. */
export const liveCommands: readonly LiveCommand[] = [
  change('down', 'Next request', ['j', 'down'], 'Move', (state) => moveBy(state, 1)),
  change('up', 'Previous request', ['k', 'up'], 'Move', (state) => moveBy(state, -1)),
  change('page-down', 'One page down', ['pgdn', 'ctrl-f'], 'Move', (state) => moveBy(state, page(state))),
  change('page-up', 'One page up', ['pgup', 'ctrl-b'], 'Move', (state) => moveBy(state, -page(state))),
  change('first', 'First request', ['g', 'home'], 'Move', (state) => select(state, 0)),
  change('last', 'Last request', ['G', 'end'], 'Move', (state) => select(state, state.shown.length - 1)),
  { ...change('open', 'Open the trace of the request', ['enter', 'l', 'right'], 'Look', openSelected), short: 'trace' },
  { ...change('pause', 'Pause the table, or let it run', ['p'], 'Look', togglePause), short: 'pause' },
  change('attach', 'Follow the newest request, or stop following', ['a'], 'Look', (state) => ({
    ...state,
    attached: !state.attached,
  })),
  {
    ...change('filter', 'Filter: method, host, path, status, route, backend', ['/'], 'Find', askFilter),
    short: 'filter',
  },
  {
    ...change('problems', 'Only requests with problems', ['z'], 'Find', (state) => ({
      ...state,
      onlyProblems: !state.onlyProblems,
    })),
    short: 'problems',
  },
  change('clear-filter', 'Show all requests again', ['backspace'], 'Find', clearFilter),
  { id: 'resend', title: 'Send the request again', keys: ['r'], group: 'Share', short: 'resend', run: resend },
  {
    ...change('help', 'Keys of this screen', ['?'], 'Leave', (state) => ({
      ...state,
      overlay: { kind: 'help', top: 0 },
    })),
    short: 'help',
  },
  change('palette', 'All commands', [':'], 'Leave', (state) => ({
    ...state,
    overlay: { kind: 'palette', text: '', index: 0 },
  })),
  {
    id: 'back',
    title: 'Back: drop the filter',
    keys: ['esc', 'h', 'left'],
    group: 'Leave',
    short: 'back',
    run: (state) => ({ state: clearFilter(state) }),
  },
  {
    id: 'quit',
    title: 'Quit',
    keys: ['q'],
    group: 'Leave',
    short: 'quit',
    run: (state) => ({ state, effect: { kind: 'leave' } }),
  },
  {
    id: 'suspend',
    title: 'Suspend; fg continues',
    keys: ['ctrl-z'],
    group: 'Leave',
    short: 'suspend',
    run: (state) => ({ state, effect: { kind: 'suspend' } }),
  },
  {
    id: 'interrupt',
    title: 'Quit from anywhere',
    keys: ['ctrl-c'],
    group: 'Leave',
    short: 'quit',
    run: (state) => ({ state, effect: { kind: 'interrupt' } }),
  },
];

const FOOTER = ['open', 'pause', 'filter', 'problems', 'help', 'quit'];

export function liveFooter(): LiveCommand[] {
  return FOOTER.flatMap((id) => liveCommands.filter((command) => command.id === id));
}

export function selectedIndex(state: LiveState): number {
  return state.shown.findIndex((request) => request.id === state.selectedId);
}

function change(
  id: string,
  title: string,
  keys: readonly string[],
  group: CommandGroup,
  apply: (state: LiveState) => LiveState,
): LiveCommand {
  return { id, title, keys, group, short: title.toLowerCase(), run: (state) => ({ state: apply(state) }) };
}

function page(state: LiveState): number {
  return Math.max(1, layoutOf(state).table - 2);
}

function moveBy(state: LiveState, rows: number): LiveState {
  const from = selectedIndex(state);
  return select(state, (from < 0 ? 0 : from) + rows, rows > 0 && state.attached);
}

function select(state: LiveState, index: number, attached = false): LiveState {
  const chosen = state.shown[clampIndex(index, state.shown.length)];
  if (chosen === undefined) return state;
  return { ...state, selectedId: chosen.id, attached: attached && index >= state.shown.length - 1 };
}

function openSelected(state: LiveState): LiveState {
  const request = state.shown[selectedIndex(state)];
  return request === undefined ? state : openViewer(state, request.id);
}

function togglePause(state: LiveState): LiveState {
  if (state.frozen !== undefined) return { ...state, frozen: undefined };
  return { ...state, frozen: { requests: state.requests, seen: state.forgotten + state.requests.length } };
}

function askFilter(state: LiveState): LiveState {
  return { ...state, overlay: { kind: 'prompt', text: state.filter, before: state.filter } };
}

function clearFilter(state: LiveState): LiveState {
  return { ...state, filter: '', onlyProblems: false };
}

function resend(state: LiveState): LiveStep {
  const id = state.selectedId;
  if (!state.canResend || id === undefined)
    return { state: { ...state, status: { text: 'there is nothing to send again here', tone: 'error' } } };
  return { state, effect: { kind: 'resend', id } };
}
