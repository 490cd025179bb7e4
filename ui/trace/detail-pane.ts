import { clean, fit, width, wrapHard } from '../terminal/text.ts';
import { countUpTo } from './append-list.ts';
import { differenceLines, eventText, snapshotText, stateOf, valueText } from './detail.ts';
import type { DiffLine } from './diff.ts';
import { contentSize, layoutOf } from './layout.ts';
import { lostRoutes } from './lost-routes.ts';
import { a2aOverview } from './a2a.ts';
import { askedAndAnswered, callList, callTree, mcpOverview } from './mcp-detail.ts';
import { bothSides, chatOverview, messagePreface } from './chat-detail.ts';
import { requestLine, statusText } from './request.ts';
import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import type { DetailText, Entry, Group, Selection, TraceState } from './state.ts';
import { blockLines } from './syntax.ts';
import { summaryOf } from './summary.ts';
import { durationUs, formatMicros } from './timing.ts';
import { slowestName } from './waterfall.ts';

interface Content {
  readonly title: string;
  /** Column of the bar, for texts that stand beside each other and are as wide as the pane already. */
  readonly split?: number;
  readonly text: string | readonly DiffLine[];
}

/** The state with the detail text of its selection; the text is worked out only when something it depends on has changed. */
export function withDetail(state: TraceState): TraceState {
  const key = keyOf(state);
  if (key === state.detail.key) return state;
  const subjectChanged = subjectOf(key) !== subjectOf(state.detail.key);
  const detail = state.selection === undefined ? nothing(key) : laidOut(contentOf(state, state.selection), state, key);
  return {
    ...state,
    detail,
    detailTop: subjectChanged ? 0 : state.detailTop,
    detailLeft: subjectChanged ? 0 : state.detailLeft,
  };
}

function keyOf(state: TraceState): string {
  const { selection } = state;
  const drawn = showsOverview(state) && state.groups[selection?.request ?? -1]?.facts.mcp !== undefined;
  const size = state.wrap || state.mode === 'diff' || drawn ? contentSize(layoutOf(state), 'detail').width : 0;
  const facts = showsOverview(state) ? state.groups[selection?.request ?? -1]?.facts.events : 0;
  const compared = state.comparing ? state.pinned : '';
  return [`${selection?.request}/${selection?.event}/${state.mode}/${compared}`, state.format, size, facts].join('|');
}

function subjectOf(key: string): string {
  return key.split('|')[0] ?? '';
}

function contentOf(state: TraceState, selection: Selection): Content {
  const group = state.groups[selection.request];
  if (group === undefined) return { title: '', text: '' };
  if (selection.event === undefined) return overview(state, group);
  if (state.comparing && state.pinned !== undefined) return comparison(state, state.pinned, selection.event);
  if (state.mode === 'event') return wholeEvent(state, selection.event);
  const bodies = state.mode === 'diff' ? bothBodies(state, group, selection.event) : undefined;
  if (bodies !== undefined) return bodies;
  return snapshot(state, group, selection.event);
}

/** The first event says nothing of its own, so the request as a whole stands above it. */
function showsOverview({ selection, entries }: TraceState): boolean {
  if (selection === undefined) return false;
  if (selection.event === undefined) return true;
  return entries.items[selection.event]?.event.message.type === 'requestStarted';
}

function wholeEvent(state: TraceState, index: number): Content {
  const entry = state.entries.items[index];
  if (entry === undefined) return { title: '', text: '' };
  const took = durationUs(entry.event);
  return {
    title: `Event ${entry.number}${took === undefined ? '' : ` ${formatMicros(took)}`}`,
    text: [...(state.format === 'yaml' ? preface(state, entry) : []), eventText(entry.event, state.format)].join('\n'),
  };
}

/** What a reader wants to know first, as YAML that may stand in front of the event. */
function preface(state: TraceState, entry: Entry): string[] {
  const group = state.groups[entry.request];
  if (group === undefined) return [];
  if (group.facts.chat !== undefined && entry.event.message.type === 'bodySnapshot')
    return messagePreface(entry.event.message.body, entry.number);
  if (entry.event.message.type !== 'requestStarted') return routeComment(entry.event);
  return ['# The request', valueText(overviewOf(state, group), 'yaml'), ...treeOf(state, group), '', '# Event 1'];
}

/** Why each route lost, in front of the event as a comment: the answer that somebody who opens this event looks for. */
function routeComment(event: TraceEvent): string[] {
  const lost = lostRoutes(event);
  if (lost.length === 0) return [];
  const widest = Math.max(...lost.map(({ route }) => width(route)));
  const lines = lost.map(({ route, reason }) => `#   ${fit(route, widest)}  ${clean(reason)}`);
  return ['# Why not:', ...lines, ''];
}

function snapshot(state: TraceState, group: Group, index: number): Content {
  const count = countUpTo(group.states, index);
  if (count === 0) return { title: 'Snapshot', text: 'No snapshot available yet.' };
  const now = group.states.items[count - 1] ?? 0;
  const text = stateText(state, now);
  const from = numberOf(state, now);
  if (state.mode === 'snapshot') return { title: `Snapshot of ${from}`, text };
  if (count === 1) return { title: `First snapshot, of ${from}`, text };
  const before = group.states.items[count - 2] ?? 0;
  const earlier = stateText(state, before);
  const title = `Difference ${numberOf(state, before)} → ${from}`;
  return earlier === text ? { title: `${title}: none`, text } : { title, text: differenceLines(earlier, text) };
}

/** What the client wrote or got, beside what the model's service got or wrote. */
function bothBodies(state: TraceState, { facts }: Group, index: number): Content | undefined {
  const message = state.entries.items[index]?.event.message;
  const sides = {
    selected: index,
    eventAt: (at: number) => state.entries.items[at]?.event,
    numberOf: (at: number) => numberOf(state, at),
    columns: contentSize(layoutOf(state), 'detail').width,
    format: state.format,
  };
  if (facts.mcp !== undefined) return askedAndAnswered(facts.mcp, sides);
  return facts.chat === undefined || message === undefined ? undefined : bothSides(facts.chat, message, sides);
}

function comparison(state: TraceState, pinned: number, index: number): Content {
  const usesStates =
    state.mode !== 'event' && latestState(state, pinned) !== undefined && latestState(state, index) !== undefined;
  const textOf = (at: number): string =>
    usesStates ? stateText(state, latestState(state, at) ?? at) : wholeText(state, at);
  const title = `Pinned ${numberOf(state, pinned)} → ${numberOf(state, index)}, ${usesStates ? 'snapshots' : 'events'}`;
  const [before, after] = [textOf(pinned), textOf(index)];
  return before === after ? { title: `${title}: equal`, text: after } : { title, text: differenceLines(before, after) };
}

function wholeText(state: TraceState, index: number): string {
  const event = state.entries.items[index]?.event;
  return event === undefined ? '' : eventText(event, state.format);
}

function latestState(state: TraceState, index: number): number | undefined {
  const group = state.groups[state.entries.items[index]?.request ?? -1];
  const count = group === undefined ? 0 : countUpTo(group.states, index);
  return count === 0 ? undefined : group?.states.items[count - 1];
}

function stateText(state: TraceState, index: number): string {
  const event = state.entries.items[index]?.event;
  const found = event === undefined ? undefined : stateOf(event);
  return found === undefined ? '' : snapshotText(found, state.format);
}

function numberOf(state: TraceState, index: number): string {
  return `#${state.entries.items[index]?.number ?? '?'}`;
}

function overview(state: TraceState, group: Group): Content {
  const tree = state.format === 'json' ? [] : treeOf(state, group);
  return { title: 'Request', text: [valueText(overviewOf(state, group), state.format), ...tree].join('\n') };
}

/** Calls of MCP servers below the overview. */
function treeOf(state: TraceState, { facts }: Group): readonly string[] {
  if (facts.mcp === undefined || facts.mcp.calls.length === 0) return [];
  const columns = contentSize(layoutOf(state), 'detail').width;
  return ['', ...callTree(facts.mcp, { totalUs: facts.totalUs, columns })];
}

/** The request in a few words, what matters most first. */
function overviewOf(state: TraceState, group: Group): object {
  const { facts } = group;
  const slowest = facts.steps.slowest;
  const slowestEvent = slowest === undefined ? undefined : state.entries.items[slowest.index]?.event;
  const problems = problemsOf(state, group);
  return {
    request: requestLine(facts),
    status: facts.status ?? statusText(facts),
    ...(facts.error !== undefined && { error: facts.error }),
    ...(facts.route !== undefined && { route: facts.route ?? 'none matched' }),
    ...(facts.backend !== undefined && { backend: facts.backend, backendCalls: facts.backendCalls }),
    ...(facts.chat !== undefined && chatOverview(facts.chat)),
    ...(facts.a2a !== undefined && a2aOverview(facts.a2a)),
    ...(facts.mcp !== undefined && mcpOverview(facts.mcp)),
    ...(facts.mcp !== undefined && state.format === 'json' && { calls: callList(facts.mcp) }),
    total: formatMicros(facts.totalUs),
    ...(slowest !== undefined &&
      slowestEvent !== undefined && {
        slowest: `${slowestName(slowest, slowestEvent)}, ${formatMicros(slowest.us)}`,
      }),
    ...(problems.length > 0 && { problems }),
    events: facts.events,
    ...(facts.startTime !== undefined && { startTime: facts.startTime }),
    requestId: group.id,
  };
}

function problemsOf(state: TraceState, group: Group): string[] {
  const problems: string[] = [];
  for (let at = 0; at < group.events.length && problems.length < 50; at += 1) {
    const entry = state.entries.items[group.events.items[at] ?? -1];
    const severity = entry?.event.severity;
    if (entry !== undefined && (severity === 'warn' || severity === 'error')) {
      problems.push(`${entry.number}: ${entry.label}: ${summaryOf(entry.event)}`);
    }
  }
  return problems;
}

function laidOut(content: Content, state: TraceState, key: string): DetailText {
  const lines: DiffLine[] =
    typeof content.text === 'string'
      ? content.text.split('\n').map((text) => ({ mark: ' ', text }))
      : [...content.text];
  const isDiff = typeof content.text !== 'string';
  const wraps = state.wrap && content.split === undefined;
  const columns = wraps ? contentSize(layoutOf(state), 'detail').width - (isDiff ? 2 : 0) : 0;
  const rows =
    columns > 0 ? lines.flatMap((line) => wrapHard(line.text, columns).map((text) => ({ ...line, text }))) : lines;
  return {
    key,
    title: content.title,
    lines: rows.map((line) => line.text),
    marks: isDiff ? rows.map((line) => line.mark) : undefined,
    blocks: isDiff || state.format === 'json' ? [] : blockLines(rows.map((line) => line.text)),
    highlighted: !isDiff,
    split: content.split,
  };
}

function nothing(key: string): DetailText {
  return { key, title: 'Event', lines: [], marks: undefined, blocks: [], highlighted: false };
}
