import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { step, type Action } from '../trace/model.ts';
import { initialState, type TraceState } from '../trace/state.ts';
import type { LiveRequest, LiveState } from './state.ts';

/** Opens the trace viewer on what is known of a request. */
export function openViewer(state: LiveState, id: string): LiveState {
  const request = find(state, id);
  if (request === undefined) return { ...state, status: { text: 'this request is no longer kept', tone: 'error' } };
  const { columns, rows, canResend, title } = state;
  const empty = {
    ...initialState({ title, columns, rows, canResend, nested: true }),
    attached: !request.facts.finished,
  };
  const filled = apply(empty, {
    kind: 'events',
    events: request.events.items.slice(0, request.events.length),
    source: 0,
  });
  return {
    ...state,
    viewer: { id, state: request.facts.finished ? apply(filled, { kind: 'ended', source: 0 }) : filled },
  };
}

/** Hands the open viewer the events of its request, and tells it when the request is over. */
export function withViewerEvents(state: LiveState, events: readonly TraceEvent[]): LiveState {
  const { viewer } = state;
  if (viewer === undefined) return state;
  const own = events.filter((event) => event?.requestId === viewer.id);
  if (own.length === 0) return state;
  const fed = apply(viewer.state, { kind: 'events', events: own, source: 0 });
  const finished = find(state, viewer.id)?.facts.finished === true;
  const next = finished && fed.stream.open > 0 ? apply(fed, { kind: 'ended', source: 0 }) : fed;
  return { ...state, viewer: { id: viewer.id, state: next } };
}

function find(state: LiveState, id: string): LiveRequest | undefined {
  const number = state.numberById.get(id);
  const kept = number === undefined ? undefined : state.requests[number - state.forgotten];
  return kept ?? state.shown.find((request) => request.id === id);
}

function apply(state: TraceState, action: Action): TraceState {
  return step(state, action).state;
}
