import { expect, test } from '@jest/globals';
import type { TraceEvent } from '../../../src/admin/protocol/trace-event.ts';
import { Keeping, type SentTrace, UndecidedTrace } from '../../../proxy/telemetry/undecided-trace.ts';
import { finishedExchange } from './context.ts';

const finished: TraceEvent['message'] = { type: 'requestFinished', status: 200, error: null };
const event = (message: TraceEvent['message']): TraceEvent => ({
  eventStart: null,
  eventEnd: 0,
  severity: 'info',
  requestId: '1',
  message,
});

function sent() {
  const heard: string[] = [];
  const trace: SentTrace = {
    send: (json, finishes) => void heard.push(finishes ? `${json}!` : json),
    lost: (count) => void heard.push(`lost ${count}`),
    hold: () => void heard.push('hold'),
    release: () => void heard.push('release'),
  };
  return { heard, trace };
}

test('what is kept comes in order when it is wanted, and what follows comes as it happens', () => {
  const { heard, trace } = sent();
  const undecided = new UndecidedTrace({ now: null, decide: () => trace, keeping: new Keeping() });
  undecided.about(finishedExchange());
  undecided.emit(event({ type: 'requestStarted' }), 'a');
  undecided.hold();
  undecided.emit(event(finished), 'b');
  undecided.emit(event({ type: 'requestStarted' }), 'c');
  undecided.release();
  expect(heard).toEqual(['hold', 'a', 'b!', 'c', 'release']);
});

test('what nobody wants in the end is dropped, and gives its room back', () => {
  const keeping = new Keeping(10, 10);
  for (let n = 0; n < 3; n += 1) {
    const undecided = new UndecidedTrace({ now: null, decide: () => null, keeping });
    undecided.about(finishedExchange());
    undecided.emit(event({ type: 'requestStarted' }), '0123456789');
    undecided.emit(event(finished), 'b');
  }
  expect(keeping.take(10)).toBe(true);
});

test('what is beyond the room is counted, and the others who watch get it all', () => {
  const [now, later] = [sent(), sent()];
  const undecided = new UndecidedTrace({ now: now.trace, decide: () => later.trace, keeping: new Keeping(5, 100) });
  undecided.about(finishedExchange());
  for (const json of ['1234', '5678', '9']) undecided.emit(event({ type: 'requestStarted' }), json);
  undecided.emit(event(finished), 'end');
  expect(now.heard).toEqual(['1234', '5678', '9', 'end!']);
  expect(later.heard).toEqual(['1234', '9', 'lost 1', 'end!']);
});
