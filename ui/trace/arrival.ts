import type { Severity, TraceEvent, TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import { append, emptyList } from './append-list.ts';
import { stateOf } from './detail.ts';
import { isProblemEvent, matches, parseQuery } from './filter.ts';
import { excerptOf } from './excerpt.ts';
import { noFacts, withEvent, type RequestFacts } from './request.ts';
import type { Entry, Group, TraceState } from './state.ts';
import { labelOf, summaryOf } from './summary.ts';

const SEVERITIES: ReadonlySet<unknown> = new Set<Severity>(['success', 'info', 'warn', 'error']);

/** The state after a batch of events of one stream; `source` tells streams apart. */
export function withEvents(state: TraceState, events: readonly TraceEvent[], source: number): TraceState {
  const groups = [...state.groups];
  const groupById = new Map(state.groupById);
  const current = new Map(state.current);
  const isVisible = visibility(state);
  let entries = state.entries;
  for (const received of events) {
    const event = wellFormed(received);
    const request = groupFor(event, source, { groups, groupById, current });
    const group = groups[request];
    if (group === undefined) continue;
    const index = entries.length;
    const facts = withEvent(group.facts, event, index);
    const entry = entryOf(event, request, { before: group, facts });
    entries = append(entries, entry);
    groups[request] = withEntry({ ...group, facts }, entry, index, isVisible(entry));
  }
  return { ...state, entries, groups, groupById, current };
}

/** The state with every group's visible events worked out anew, after the filter has changed. */
export function refiltered(state: TraceState): TraceState {
  const isVisible = visibility(state);
  const groups = state.groups.map((group) => {
    let visible = emptyList<number>();
    for (let at = 0; at < group.events.length; at += 1) {
      const index = group.events.items[at] ?? 0;
      const entry = state.entries.items[index];
      if (entry !== undefined && isVisible(entry)) visible = append(visible, index);
    }
    return { ...group, visible };
  });
  return { ...state, groups };
}

function visibility(state: TraceState): (entry: Entry) => boolean {
  const terms = state.filter.hides ? parseQuery(state.filter.text) : [];
  return (entry) => (!state.onlyProblems || isProblemEvent(entry)) && matches(entry, terms);
}

interface Index {
  readonly groups: Group[];
  readonly groupById: Map<string, number>;
  readonly current: Map<number, number>;
}

/** Which request an event belongs to: the one it names, else the one that its stream is telling about. */
function groupFor(event: TraceEvent, source: number, index: Index): number {
  const known = event.requestId === undefined ? index.current.get(source) : index.groupById.get(event.requestId);
  const restarts = event.requestId === undefined && event.message.type === 'requestStarted';
  const usable = known !== undefined && !(restarts && (index.groups[known]?.events.length ?? 0) > 0);
  const group = usable ? known : newGroup(event, source, index);
  index.current.set(source, group);
  return group;
}

function newGroup(event: TraceEvent, source: number, { groups, groupById }: Index): number {
  const id = event.requestId ?? `#${source}.${groups.length + 1}`;
  groups.push({ id, facts: noFacts, events: emptyList(), visible: emptyList(), states: emptyList(), collapsed: false });
  groupById.set(id, groups.length - 1);
  return groups.length - 1;
}

function entryOf(
  event: TraceEvent,
  request: number,
  { before, facts }: { readonly before: Group; readonly facts: RequestFacts },
): Entry {
  const label = labelOf(event);
  const summary = summaryOf(event, excerptOf(facts, event.message));
  return {
    event,
    request,
    number: before.events.length + 1,
    sinceUs: before.facts.steps.coveredUs,
    label,
    summary,
    searchable: `${label} ${summary}`.toLowerCase(),
  };
}

function withEntry(group: Group, entry: Entry, index: number, isVisible: boolean): Group {
  return {
    ...group,
    events: append(group.events, index),
    visible: isVisible ? append(group.visible, index) : group.visible,
    states: stateOf(entry.event) === undefined ? group.states : append(group.states, index),
  };
}

/** The event with its envelope made good, whatever a server of another version or a damaged file brought. */
export function wellFormed(received: TraceEvent): TraceEvent {
  if (isWellFormed(received)) return received;
  const raw: Partial<TraceEvent> & { readonly type?: unknown } =
    typeof received === 'object' && received !== null ? received : {};
  const end = typeof raw.eventEnd === 'number' && Number.isFinite(raw.eventEnd) ? raw.eventEnd : 0;
  return {
    ...(typeof raw.requestId === 'string' ? { requestId: raw.requestId } : {}),
    ...(typeof raw.startTime === 'string' ? { startTime: raw.startTime } : {}),
    ...(Array.isArray(raw.scope) ? { scope: raw.scope.map(String) } : {}),
    eventStart: typeof raw.eventStart === 'number' && Number.isFinite(raw.eventStart) ? raw.eventStart : null,
    eventEnd: end,
    severity: SEVERITIES.has(raw.severity) && raw.severity !== undefined ? raw.severity : 'info',
    message: messageOf(received, raw),
  };
}

function isWellFormed(event: TraceEvent): boolean {
  if (typeof event !== 'object' || event === null) return false;
  const timed = event.eventStart === null || Number.isFinite(event.eventStart);
  const typed = typeof event.message === 'object' && event.message !== null && typeof event.message.type === 'string';
  const scoped =
    event.scope === undefined || (Array.isArray(event.scope) && event.scope.every((part) => typeof part === 'string'));
  const named = event.requestId === undefined || typeof event.requestId === 'string';
  return timed && typed && scoped && named && Number.isFinite(event.eventEnd) && SEVERITIES.has(event.severity);
}

function messageOf(received: unknown, raw: Partial<TraceEvent> & { readonly type?: unknown }): TraceMessage {
  const message: unknown = raw.message;
  if (typeof message === 'object' && message !== null && 'type' in message && typeof message.type === 'string') {
    return raw.message ?? { type: 'message', text: '' };
  }
  const kind = typeof raw.type === 'string' ? raw.type : 'not an event';
  return { type: 'message', text: `${kind}: ${(JSON.stringify(received) ?? 'nothing').slice(0, 500)}` };
}
