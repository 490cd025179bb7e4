/** Programs of the older versions that do not bear what only modern ones know. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import type { RpcMessage } from '../../../../../proxy/mcp/message/message.ts';
import type { Target, TargetConnection, TargetFailure } from '../../../../../proxy/mcp/targets/contract.ts';
import { negotiating } from '../../../../../proxy/mcp/targets/negotiate/target.ts';
import { eventually } from '../../../../e2e/clients.ts';
import { ManualClock } from '../../../exchange/build.ts';
import { begun, callOf, modernParams, requestOf, type Waiting } from '../caller.ts';

const MODERN = '2026-07-28';
const ended: TargetFailure = { kind: 'broken', message: 'it has ended' };

let clock: ManualClock;
let heard: string[];
beforeEach(() => {
  clock = new ManualClock();
  heard = [];
});
afterEach(() => clock.advance(60_000));

/** What comes for a method: the members of a result, a failure, or nothing at all. */
type Script = Readonly<Record<string, object | TargetFailure | null>>;

function program(script: Script, transport = 'stdio'): Target {
  const calling = { cancel: () => void heard.push('cancelled'), pause() {}, resume() {} };
  const connect = (): TargetConnection => ({
    state: null,
    request: (message, _call, sink) => {
      heard.push(message.method);
      const answer = script[message.method] ?? null;
      queueMicrotask(() => {
        if (answer === ended) return sink.onEnd(ended);
        if (answer === null) return undefined;
        // `as`: results of tests are JSON.
        sink.onMessage({ kind: 'result', id: message.id, result: answer } as RpcMessage);
        return sink.onEnd(null);
      });
      return calling;
    },
    post: (message) => {
      if (message.kind === 'notification') heard.push(message.method);
      return Promise.resolve(null);
    },
    listen: () => calling,
    close: () => Promise.resolve(null),
    leave() {},
  });
  const target = { name: 'one', transport, connect };
  return negotiating(target, { identity: { name: 'gw', version: '9' }, answers: true, clock });
}

const older = {
  initialize: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'one', version: '1' } },
  'tools/list': { tools: [] },
};

function listed(target: Target): Waiting {
  return begun(target.connect(null), requestOf(1, 'tools/list', modernParams()), callOf(MODERN)).waiting;
}

async function over(waiting: Waiting): Promise<RpcMessage | undefined> {
  await eventually('the call is over', () => (clock.advance(500), waiting.ends > 0));
  return waiting.messages.at(-1);
}

test.each([
  ['keeps silent', null],
  ['ends', ended],
])(
  'a program that %s over the question is asked in the older way, and not again in the newer one',
  async (_what, answer) => {
    const target = program({ ...older, 'server/discover': answer });
    expect(await over(listed(target))).toMatchObject({ kind: 'result', result: { tools: [] } });
    heard.splice(0);
    expect(await over(listed(target))).toMatchObject({ kind: 'result' });
    expect(heard).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
  },
);

test('a program that always ends is told of as what it is', async () => {
  const waiting = listed(program({ 'server/discover': ended, initialize: ended }));
  expect(await over(waiting)).toBeUndefined();
  expect(await waiting.ended).toEqual(ended);
});

test('a server elsewhere that breaks is not asked in another way, and one that keeps silent is waited for', async () => {
  const broken = listed(program({ ...older, 'server/discover': ended }, 'streamable'));
  await over(broken);
  expect(await broken.ended).toEqual(ended);
  const silent = listed(program(older, 'streamable'));
  clock.advance(60_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(silent.ends).toBe(0);
  expect(heard).toEqual(['server/discover', 'server/discover']);
});

test('a client that leaves does not have the program asked any further', async () => {
  const { calling } = begun(
    program({ ...older, 'server/discover': ended }).connect(null),
    requestOf(1, 'tools/list', modernParams()),
    callOf(MODERN),
  );
  await new Promise((resolve) => setImmediate(resolve));
  calling.cancel();
  clock.advance(1000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual(['server/discover']);
});
