import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RpcMessage } from '../../../../proxy/mcp/message/message.ts';
import type { JsonObject } from '../../../../src/shared/json.ts';
import { ask, ScriptedTarget, session, type Seen } from './scripted.ts';

/** What a target does next. */
const step = fc.record({
  target: fc.nat(3),
  does: fc.constantFrom(
    'notify',
    'request',
    'answer',
    'error',
    'break',
    'end',
    'nonsense',
    'acknowledge',
    'pause',
    'resume',
  ),
});
type Step = { readonly target: number; readonly does: string };

const requests: readonly (readonly [string, JsonObject])[] = [
  ['tools/list', {}],
  ['initialize', { protocolVersion: '2025-11-25' }],
  ['ping', {}],
  ['server/discover', {}],
  ['tools/call', { name: 'b_x' }],
  ['subscriptions/listen', { notifications: { toolsListChanged: true } }],
];
const results: Readonly<Record<string, JsonObject>> = {
  'tools/list': { tools: [{ name: 'x' }] },
  initialize: { protocolVersion: '2025-11-25', capabilities: {} },
  'server/discover': { supportedVersions: ['2026-07-28'], capabilities: {} },
  'tools/call': { content: [] },
};

function does(seen: Seen, { does: what }: Step, count: number): void {
  const { sink, message } = seen;
  switch (what) {
    case 'notify':
      return seen.notify('notifications/message', { data: count });
    case 'request':
      return sink.onMessage({ kind: 'request', id: count, method: 'roots/list', params: undefined });
    case 'acknowledge':
      return seen.notify('notifications/subscriptions/acknowledged', { notifications: { toolsListChanged: true } });
    case 'answer':
      return sink.onMessage({ kind: 'result', id: message.id, result: results[message.method] ?? {} });
    case 'error':
      return sink.onMessage({ kind: 'error', id: null, error: { code: -1, message: 'no' } });
    case 'break':
      return seen.fail({ kind: 'broken', message: 'gone' });
    case 'end':
      return sink.onEnd(null);
    case 'nonsense':
      return sink.onMessage({ kind: 'result', id: message.id, result: { odd: true } });
    default:
  }
}

function data(message: RpcMessage): unknown {
  return message.kind === 'notification' ? message.params?.['data'] : undefined;
}

/** Lets promises that have settled be heard of. */
async function heard(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

describe('whatever targets do, and in whatever order', () => {
  test('the client hears each message once, in order, then one end, and nobody is left waiting', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...requests),
        fc.array(step, { maxLength: 25 }),
        fc.boolean(),
        fc.nat(30),
        async ([method, params], steps, failOpen, cancelAt) => {
          const targets = ['a', 'b', 'c', 'd'].map((name) => new ScriptedTarget(name));
          const on = session(targets, { failureMode: failOpen ? 'failOpen' : 'failClosed' });
          const { client, calling } = ask(on, method, params);
          for (const [count, next] of steps.entries()) {
            if (count === cancelAt) calling.cancel();
            if (next.does === 'pause') calling.pause();
            if (next.does === 'resume') calling.resume();
            const seen = targets[next.target]?.seen[0];
            if (seen !== undefined) does(seen, next, count);
            await heard();
          }
          if (cancelAt >= steps.length)
            for (const { seen } of targets) for (const each of seen) each.fail({ kind: 'broken', message: 'gone' });
          await heard();
          // `Client` throws for messages after the end, and for a second end.
          expect(cancelAt < steps.length || client.failure !== undefined).toBe(true);
          const notes = client.messages.flatMap((m) => (typeof data(m) === 'number' ? [data(m)] : []));
          expect(notes).toEqual(notes.toSorted((x, y) => Number(x) - Number(y)));
          const answers = client.messages.filter((m) => m.kind === 'result' || m.kind === 'error');
          expect(answers.length).toBeLessThanOrEqual(1);
          expect(answers[0] ?? client.last).toBe(client.last);
          // Nobody works on for a client that has its answer.
          expect(client.failure === undefined ? [] : stillAsked(targets)).toEqual([]);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

/** Calls that have neither ended nor been cancelled are told apart by what the target has seen. */
function stillAsked(targets: readonly ScriptedTarget[]): string[] {
  return targets.flatMap(({ name, seen }) =>
    seen.filter(({ ended, cancelled }) => !ended && !cancelled).map(() => name),
  );
}
