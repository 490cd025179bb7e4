import type { TraceEvent } from '../../../src/admin/protocol/trace-event.ts';
import { step, type Action } from '../../../ui/trace/model.ts';
import { initialState, type TraceState, type ViewerOptions } from '../../../ui/trace/state.ts';

/** A viewer of the given size that has seen the events, with its stream at its end. */
export function viewerOf(events: readonly TraceEvent[], options: Partial<ViewerOptions> = {}): TraceState {
  const empty = initialState({ title: 'gateway/web', columns: 120, rows: 40, ...options });
  return act(act(empty, { kind: 'events', events, source: 0 }), { kind: 'ended', source: 0 });
}

export function act(state: TraceState, action: Action): TraceState {
  return step(state, action).state;
}

/** The state after keys, named as in the command table; a word of several letters that is no key is typed. */
export function press(state: TraceState, ...keys: string[]): TraceState {
  return keys.reduce((now, name) => act(now, keyAction(name)), state);
}

export function type(state: TraceState, text: string): TraceState {
  return press(state, ...text);
}

export function keyAction(name: string): Action {
  return { kind: 'key', key: { name: name === ' ' ? 'space' : name, text: [...name].length === 1 ? name : '' } };
}
