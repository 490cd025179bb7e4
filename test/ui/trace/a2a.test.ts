import { describe, expect, test } from '@jest/globals';
import type { TraceMessage } from '../../../src/admin/protocol/trace-event.ts';
import { a2aExcerpt, a2aOverview, a2aSummary, withA2a } from '../../../ui/trace/a2a.ts';
import { factsOf, isProblem, requestLine, rpcProblem } from '../../../ui/trace/request.ts';
import { recording } from '../recordings.ts';

const asked: TraceMessage = { type: 'policyEvent', kind: 'a2a_request', details: { method: 'SendMessage' } };
const body = (stage: string, text: string): TraceMessage => ({
  type: 'bodySnapshot',
  stage,
  body: Buffer.from(text).toString('base64'),
});

function after(...messages: TraceMessage[]) {
  return messages.reduce<ReturnType<typeof withA2a>>((facts, message) => withA2a(facts, message), undefined);
}

describe('what a trace tells of a call of an agent', () => {
  test('method, parts, task and events of a stream', () => {
    const facts = factsOf(recording('a2a-stream'));
    expect(requestLine(facts)).toBe('POST 127.0.0.1/rpc SendStreamingMessage');
    expect(facts.a2a).toMatchObject({
      asked: 'I buy the dog',
      answer: '12 €',
      taskState: 'TASK_STATE_COMPLETED',
      problem: undefined,
    });
    expect(facts.a2a === undefined ? {} : a2aOverview(facts.a2a)).toMatchObject({ streamEvents: 4 });
  });

  test('kind, task and context in a line', () => {
    const details = { method: 'SendMessage', outcome: 'success', taskId: '1f2e', contextId: '3a4b', events: 3 };
    const task = { ...details, resultKind: 'task', taskState: 'TASK_STATE_WORKING' };
    expect(a2aSummary(task)).toBe('SendMessage: success, task TASK_STATE_WORKING 1f2e, context 3a4b, 3 events');
    const message = { ...details, resultKind: 'message', events: 1 };
    expect(a2aSummary(message)).toBe('SendMessage: success, message, task 1f2e, context 3a4b, 1 event');
    expect(a2aSummary({ method: 'CancelTask', taskState: 'canceled', taskId: '1f2e' })).toBe(
      'CancelTask: task canceled 1f2e',
    );
  });

  test('an error in an answer that HTTP calls a success is a problem', () => {
    const message: TraceMessage = {
      type: 'policyEvent',
      kind: 'a2a',
      details: { method: 'GetTask', outcome: 'error', errorCode: -32001 },
    };
    const facts = factsOf([{ eventStart: null, eventEnd: 1, severity: 'error', message }]);
    expect([rpcProblem(facts), isProblem(facts)]).toEqual(['error -32001', true]);
    expect(a2aSummary(message.details)).toBe('GetTask: error -32001');
  });

  test('parts of any kind, of both versions, without what was said before', () => {
    const parts = [
      { kind: 'text', text: 'a' },
      { data: { b: 1 } },
      { kind: 'file', file: { name: 'c.txt' } },
      { url: 'http://d' },
      { raw: 'xx' },
    ];
    const answer = { result: { task: { artifacts: [{ parts }], history: [{ parts: [{ text: 'old' }] }] } } };
    expect(after(asked, body('response', JSON.stringify(answer)))?.answer).toBe('a {"b":1} [c.txt] [http://d] [file]');
  });

  test('bodies that are none, cut or hostile say nothing', () => {
    let deep: unknown = { parts: [{ text: 'x' }] };
    for (let depth = 0; depth < 100; depth += 1) deep = { deep };
    for (const text of ['', 'null', '[]', '{"parts":3}', '{"result":', '\u0000', JSON.stringify(deep)])
      expect(after(asked, body('response', text))?.answer).toBeUndefined();
    expect(a2aSummary(null)).toBe('?');
  });

  test('nothing of other requests, whatever their bodies look like', () => {
    const said = body('final request', '{"message":{"parts":[{"text":"hello"}]}}');
    expect(after(said)).toBeUndefined();
    expect(a2aExcerpt(undefined, said)).toBe('');
  });
});
