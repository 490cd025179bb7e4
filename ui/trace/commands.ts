import type { CommandGroup, CommandInfo } from '../terminal/command.ts';
import { hasHeadings } from './visible-rows.ts';
import {
  moveBy,
  moveToEdge,
  moveToMatch,
  moveToRequest,
  pageSize,
  pin,
  scrollSideways,
  setFilter,
  setFocus,
  setMode,
  toggleAttached,
  toggleCollapsed,
  toggleComparison,
  toggleProblems,
  withStatus,
} from './moves.ts';
import type { ExportFormat, Pane, TraceState } from './state.ts';

/** What only the terminal, the disk or the gateway can do. */
export type Effect =
  | { readonly kind: 'leave'; readonly exitCode: number }
  /** Ctrl-C: out of every screen. */
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'suspend' }
  | { readonly kind: 'copy' }
  | { readonly kind: 'resend' }
  | { readonly kind: 'export'; readonly format: ExportFormat };

export interface Step {
  readonly state: TraceState;
  readonly effect?: Effect;
}

/** A named command: its keys, its line in help and palette, and what it does. */
export interface Command extends CommandInfo {
  /** Only with the focus in this pane. */
  readonly pane?: Pane;
  readonly run: (state: TraceState) => Step;
}

type Change = (state: TraceState) => TraceState;

/** Every key of the viewer; help, palette and footer are made from this table. */
export const commands: readonly Command[] = [
  change('down', 'Next row', ['j', 'down'], 'Move', (state) => moveBy(state, 1)),
  change('up', 'Previous row', ['k', 'up'], 'Move', (state) => moveBy(state, -1)),
  change('page-down', 'One page down', ['pgdn', 'ctrl-f'], 'Move', (state) => moveBy(state, pageSize(state))),
  change('page-up', 'One page up', ['pgup', 'ctrl-b'], 'Move', (state) => moveBy(state, -pageSize(state))),
  change('half-down', 'Half a page down', ['ctrl-d'], 'Move', (state) => moveBy(state, Math.ceil(pageSize(state) / 2))),
  change('half-up', 'Half a page up', ['ctrl-u'], 'Move', (state) => moveBy(state, -Math.ceil(pageSize(state) / 2))),
  change('first', 'First row', ['g', 'home'], 'Move', (state) => moveToEdge(state, 'first')),
  change('last', 'Last row', ['G', 'end'], 'Move', (state) => moveToEdge(state, 'last')),
  change('next-request', 'Next request', [']'], 'Move', (state) => moveToRequest(state, 1)),
  change('previous-request', 'Previous request', ['['], 'Move', (state) => moveToRequest(state, -1)),
  {
    ...change('open', 'Open: read the details, fold or unfold a request', ['enter', 'l', 'right'], 'Move', open),
    short: 'open',
    pane: 'events',
  },
  {
    ...change('scroll-right', 'Scroll right', ['right', 'l'], 'Move', (state) => scrollSideways(state, 8)),
    pane: 'detail',
  },
  { ...change('scroll-left', 'Scroll left', ['left'], 'Move', (state) => scrollSideways(state, -8)), pane: 'detail' },
  { ...change('fold', 'Fold or unfold the request', ['space'], 'Move', toggleCollapsed), pane: 'events' },
  { ...change('switch-pane', 'Switch pane', ['tab', 'shift-tab'], 'Move', switchPane), short: 'pane' },
  { ...change('attach', 'Follow the newest event, or stop following', ['a'], 'Move', toggleAttached), short: 'follow' },

  { ...change('event', 'Details: the event', ['e'], 'Look', (state) => setMode(state, 'event')), short: 'event' },
  {
    ...change('snapshot', 'Details: the latest snapshot', ['s'], 'Look', (state) => setMode(state, 'snapshot')),
    short: 'snapshot',
  },
  {
    ...change('difference', 'Details: difference to the snapshot before, or of a translation', ['d'], 'Look', (state) =>
      setMode(state, 'diff'),
    ),
    short: 'diff',
  },
  { ...change('format', 'YAML or JSON', ['f'], 'Look', toggleFormat), short: 'yaml/json' },
  {
    ...change('wrap', 'Wrap long lines in the details', ['w'], 'Look', (state) => ({
      ...state,
      wrap: !state.wrap,
      detailLeft: 0,
    })),
    short: 'wrap',
  },
  {
    ...change('waterfall', 'List or waterfall', ['t'], 'Look', (state) => ({ ...state, waterfall: !state.waterfall })),
    short: 'waterfall',
  },
  change('pin', 'Pin the event, or remove the pin', ['p'], 'Look', pin),
  change('compare', 'Compare with the pinned event', ['D'], 'Look', toggleComparison),
  change('zoom', 'Only this pane, or both', ['o'], 'Look', (state) => ({ ...state, zoomed: !state.zoomed })),

  { ...change('filter', 'Filter the events; in the details: search', ['/'], 'Find', askFilter), short: 'find' },
  change('next-match', 'Next match', ['n'], 'Find', (state) => moveToMatch(state, 1)),
  change('previous-match', 'Previous match', ['N'], 'Find', (state) => moveToMatch(state, -1)),
  { ...change('problems', 'Only warnings and errors', ['z'], 'Find', toggleProblems), short: 'problems' },
  change('clear-filter', 'Show all events again', ['backspace'], 'Find', clearFilter),

  { ...effect('copy', 'Copy the details', ['c'], 'Share', { kind: 'copy' }), short: 'copy' },
  {
    ...change('export', 'Export: JSON Lines, HAR, curl', ['x'], 'Share', (state) => ({
      ...state,
      overlay: { kind: 'export', index: 0 },
    })),
    short: 'export',
  },
  { id: 'resend', title: 'Send the request again', keys: ['r'], group: 'Share', short: 'resend', run: resend },

  {
    ...change('help', 'Keys of this screen', ['?'], 'Leave', (state) => ({
      ...state,
      overlay: { kind: 'help', top: 0 },
    })),
    short: 'help',
  },
  {
    ...change('palette', 'All commands', [':'], 'Leave', (state) => ({
      ...state,
      overlay: { kind: 'palette', text: '', index: 0 },
    })),
    short: 'commands',
  },
  { id: 'back', title: 'Back', keys: ['esc', 'h', 'left'], group: 'Leave', short: 'back', run: back },
  { id: 'quit', title: 'Back, at the top: quit', keys: ['q'], group: 'Leave', short: 'quit', run: quit },
  effect('suspend', 'Suspend; fg continues', ['ctrl-z'], 'Leave', { kind: 'suspend' }),
  effect('interrupt', 'Quit from anywhere', ['ctrl-c'], 'Leave', { kind: 'interrupt' }),
];

/** The command of a key with the focus where it is; a command of the focused pane goes before one of both. */
export function commandFor(key: string, focus: Pane): Command | undefined {
  const fitting = commands.filter((command) => command.keys.includes(key));
  return fitting.find((command) => command.pane === focus) ?? fitting.find((command) => command.pane === undefined);
}

const FOOTER: Readonly<Record<Pane, readonly string[]>> = {
  events: ['open', 'filter', 'difference', 'waterfall', 'help', 'quit'],
  detail: ['event', 'snapshot', 'difference', 'format', 'filter', 'back'],
};

/** The six commands that the footer names for the focused pane. */
export function footerCommands(focus: Pane): Command[] {
  return FOOTER[focus].flatMap((id) => commands.filter((command) => command.id === id));
}

function change(id: string, title: string, keys: readonly string[], group: CommandGroup, apply: Change): Command {
  return { id, title, keys, group, short: title.toLowerCase(), run: (state) => ({ state: apply(state) }) };
}

function effect(id: string, title: string, keys: readonly string[], group: CommandGroup, wanted: Effect): Command {
  return { id, title, keys, group, short: title.toLowerCase(), run: (state) => ({ state, effect: wanted }) };
}

function open(state: TraceState): TraceState {
  const isHeading = state.selection !== undefined && state.selection.event === undefined;
  return isHeading && hasHeadings(state) ? toggleCollapsed(state) : setFocus(state, 'detail');
}

function switchPane(state: TraceState): TraceState {
  return setFocus(state, state.focus === 'events' ? 'detail' : 'events');
}

function toggleFormat(state: TraceState): TraceState {
  return { ...state, format: state.format === 'yaml' ? 'json' : 'yaml' };
}

function askFilter(state: TraceState): TraceState {
  const pane = state.focus;
  const text = pane === 'events' ? state.filter.text : state.search;
  const before = pane === 'events' ? state.filter : { text: state.search, hides: false };
  return { ...state, overlay: { kind: 'prompt', pane, text, before } };
}

function clearFilter(state: TraceState): TraceState {
  return setFilter({ ...state, onlyProblems: false, search: '' }, { text: '', hides: true });
}

function resend(state: TraceState): Step {
  if (!state.canResend)
    return { state: withStatus(state, 'this trace was not started here, so there is nothing to send again', 'error') };
  return { state: withStatus(state, 'sending the request again'), effect: { kind: 'resend' } };
}

/** Undoes the last thing that hides something; undefined when nothing is left to undo. */
function undone(state: TraceState): TraceState | undefined {
  if (state.focus === 'detail') return setFocus(state, 'events');
  if (state.comparing) return { ...state, comparing: false };
  if (state.filter.text !== '' || state.onlyProblems) return clearFilter(state);
  return state.zoomed ? { ...state, zoomed: false } : undefined;
}

function back(state: TraceState): Step {
  const earlier = undone(state);
  if (earlier !== undefined) return { state: earlier };
  return state.nested ? { state, effect: { kind: 'leave', exitCode: 0 } } : { state: withStatus(state, 'q quits') };
}

function quit(state: TraceState): Step {
  const earlier = undone(state);
  return earlier === undefined ? { state, effect: { kind: 'leave', exitCode: 0 } } : { state: earlier };
}
