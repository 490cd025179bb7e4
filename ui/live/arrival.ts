import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { append, emptyList } from '../trace/append-list.ts';
import { wellFormed } from '../trace/arrival.ts';
import { noFacts, withEvent, type RequestFacts } from '../trace/request.ts';
import { MAX_REQUESTS, type LiveRequest, type LiveState, type Totals } from './state.ts';

/** Rates are taken over this long. */
const RATE_SECONDS = 10;

/** The state after a batch of events of a follow stream. */
export function withLiveEvents(state: LiveState, events: readonly TraceEvent[], nowMs: number): LiveState {
  const requests = [...state.requests];
  const numberById = new Map(state.numberById);
  let { totals } = state;
  for (const received of events) {
    const event = wellFormed(received);
    /* On a follow stream every event names its request; one that does not is about the stream itself. */
    if (event.requestId === undefined) continue;
    const place = placeOf(event.requestId, { requests, numberById, forgotten: state.forgotten });
    const before = requests[place];
    if (before === undefined) continue;
    const after = withLiveEvent(before, event);
    requests[place] = after;
    if (after.facts.finished && !before.facts.finished) totals = counted(totals, after.facts, nowMs);
  }
  return trimmed({ ...state, requests, numberById, totals, nowMs });
}

/** Requests per second over the last seconds. */
export function rateOf(state: LiveState): number {
  const now = Math.floor(state.nowMs / 1000);
  const recent = state.totals.recent.filter(({ second }) => second > now - RATE_SECONDS);
  const seconds = Math.min(RATE_SECONDS, now - (recent[0]?.second ?? now) + 1);
  return recent.reduce((sum, { count }) => sum + count, 0) / seconds;
}

interface Table {
  readonly requests: LiveRequest[];
  readonly numberById: Map<string, number>;
  readonly forgotten: number;
}

function placeOf(id: string, { requests, numberById, forgotten }: Table): number {
  const known = numberById.get(id);
  if (known !== undefined) return known - forgotten;
  numberById.set(id, forgotten + requests.length);
  requests.push({ id, facts: noFacts, events: emptyList() });
  return requests.length - 1;
}

function withLiveEvent(request: LiveRequest, event: TraceEvent): LiveRequest {
  return {
    id: request.id,
    facts: withEvent(request.facts, event, request.events.length),
    events: append(request.events, event),
  };
}

function counted(totals: Totals, facts: RequestFacts, nowMs: number): Totals {
  const digit = String(Math.floor((facts.status ?? 0) / 100));
  const second = Math.floor(nowMs / 1000);
  const earlier = totals.recent.filter((bucket) => bucket.second > second - RATE_SECONDS && bucket.second !== second);
  const count = (totals.recent.find((bucket) => bucket.second === second)?.count ?? 0) + 1;
  return {
    finished: totals.finished + 1,
    byClass: { ...totals.byClass, [digit]: (totals.byClass[digit] ?? 0) + 1 },
    recent: [...earlier, { second, count }],
  };
}

function trimmed(state: LiveState): LiveState {
  const excess = state.requests.length - MAX_REQUESTS;
  if (excess <= 0) return state;
  const numberById = new Map(state.numberById);
  for (const gone of state.requests.slice(0, excess)) numberById.delete(gone.id);
  return { ...state, requests: state.requests.slice(excess), forgotten: state.forgotten + excess, numberById };
}
