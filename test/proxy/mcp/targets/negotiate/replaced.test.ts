/** Servers of the public SDKs that take each other's place behind one address. */
import { createServer } from 'node:http';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import type { Target, TargetConnection } from '../../../../../proxy/mcp/targets/contract.ts';
import { negotiating } from '../../../../../proxy/mcp/targets/negotiate/target.ts';
import { streamableTarget } from '../../../../../proxy/mcp/targets/streamable/target.ts';
import { Rig } from '../../../backends/rig.ts';
import { ManualClock } from '../../../exchange/build.ts';
import { asked, callOf, initializeParams, modernParams, poolsCaller, requestOf, textOf } from '../caller.ts';
import { LegacyPeer, ModernPeer } from '../servers.ts';

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';

let rig: Rig;
beforeEach(() => {
  rig = new Rig();
});
afterEach(() => rig.end());

const legacy = new LegacyPeer();
const modern = new ModernPeer();

async function replaceable(first: LegacyPeer | ModernPeer): Promise<{ at: Target; become(next: typeof first): void }> {
  let now = first;
  const front = createServer((request, response) => void now.server.emit('request', request, response));
  const port = await rig.listen(front);
  const clock = new ManualClock();
  const caller = poolsCaller(rig.pools(), () => port);
  const inner = streamableTarget({ name: 'one', path: '/mcp', caller, limitBytes: 1_000_000, clock });
  const at = negotiating(inner, { identity: { name: 'gw', version: '9' }, answers: true, clock });
  return { at, become: (next) => void (now = next) };
}

async function echoed(connection: TargetConnection, version: string): Promise<string> {
  const call = { name: 'echo', arguments: { text: 'hello' } };
  const params = version === MODERN ? modernParams(call) : call;
  const { result, error, failure } = await asked(connection, requestOf(3, 'tools/call', params), callOf(version));
  return result === null ? JSON.stringify(error ?? failure) : textOf(result);
}

test.each([
  ['a legacy', [legacy, modern, legacy, modern]],
  ['a modern', [modern, legacy, modern, legacy]],
])('clients of both generations go on when they begin at %s one', async (_name, [first, ...others]) => {
  if (first === undefined) throw new Error('there is a first one');
  const { at, become } = await replaceable(first);
  const session = at.connect(null);
  await asked(session, requestOf(0, 'initialize', initializeParams), callOf(null));
  await session.post({ kind: 'notification', method: 'notifications/initialized', params: undefined }, callOf(LEGACY));
  expect(await echoed(session, LEGACY)).toBe('hello');
  expect(await echoed(at.connect(null), MODERN)).toBe('hello');
  for (const next of others) {
    become(next);
    expect(await echoed(session, LEGACY)).toBe('hello');
    expect(await echoed(at.connect(null), MODERN)).toBe('hello');
    const another = at.connect(null);
    await asked(another, requestOf(0, 'initialize', initializeParams), callOf(null));
    expect(await echoed(another, LEGACY)).toBe('hello');
  }
});
