import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { systemClock } from '../../../../../proxy/exchange/wait.ts';
import type { RpcRequest } from '../../../../../proxy/mcp/message/message.ts';
import type { Target } from '../../../../../proxy/mcp/targets/contract.ts';
import { negotiating } from '../../../../../proxy/mcp/targets/negotiate/target.ts';
import { sseTarget } from '../../../../../proxy/mcp/targets/sse/target.ts';
import { streamableTarget } from '../../../../../proxy/mcp/targets/streamable/target.ts';
import { eventually } from '../../../../e2e/clients.ts';
import { Rig } from '../../../backends/rig.ts';
import {
  asked,
  begun,
  callOf,
  initializeParams,
  modernParams,
  names,
  poolsCaller,
  requestOf,
  textOf,
  Waiting,
} from '../caller.ts';
import { cancelled, LegacyPeer, ModernPeer, resetCancelled, SsePeer } from '../servers.ts';

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';

let rig: Rig;

beforeEach(() => {
  rig = new Rig();
  resetCancelled();
});
afterEach(() => rig.end());

async function targetAt(
  peer: { server: LegacyPeer['server'] },
  answers = true,
  kind = streamableTarget,
): Promise<Target> {
  const port = await rig.listen(peer.server);
  const caller = poolsCaller(rig.pools(), () => port);
  const target = kind({ name: 'one', path: '/mcp', caller, limitBytes: 4_000_000, clock: systemClock });
  return negotiating(target, { identity: { name: 'gw', version: '0.0.0' }, answers, clock: systemClock });
}

async function sseAt(peer: SsePeer, answers = true): Promise<Target> {
  return targetAt(peer, answers, (options) => sseTarget({ ...options, path: '/sse', openTimeoutMs: 5000 }));
}

const initialize = requestOf(0, 'initialize', initializeParams);
const echo = (id: number | string): RpcRequest =>
  requestOf(id, 'tools/call', { name: 'echo', arguments: { text: 'hi' } });
const modernEcho = (id: number | string): RpcRequest =>
  requestOf(id, 'tools/call', modernParams({ name: 'echo', arguments: { text: 'hi' } }));
const initialized = { kind: 'notification', method: 'notifications/initialized', params: undefined } as const;

describe('a legacy client at a legacy target', () => {
  test('has its own handshake, and a session from then on', async () => {
    const peer = new LegacyPeer();
    const connection = (await targetAt(peer)).connect(null);
    const hello = await asked(connection, initialize, callOf(null));
    expect(hello.result).toMatchObject({ protocolVersion: LEGACY, serverInfo: { name: 'legacy' } });
    expect(await connection.post(initialized, callOf(LEGACY))).toBeNull();
    expect(textOf((await asked(connection, echo('a'), callOf(LEGACY))).result)).toBe('hi');
    const [session] = peer.sessions.keys();
    expect(connection.state?.session).toBe(session);
    const last = peer.seen.at(-1);
    expect(last?.headers).toMatchObject({ 'mcp-session-id': session, 'mcp-protocol-version': LEGACY });
    expect(last?.headers['mcp-method']).toBeUndefined();
  });

  test('goes on where the state of the conversation says', async () => {
    const target = await targetAt(new LegacyPeer());
    const first = target.connect(null);
    await asked(first, initialize, callOf(null));
    await first.post(initialized, callOf(LEGACY));
    const second = target.connect(first.state);
    expect(textOf((await asked(second, echo(7), callOf(LEGACY))).result)).toBe('hi');
  });

  test('does not notice that the target has forgotten the session', async () => {
    const peer = new LegacyPeer();
    const connection = (await targetAt(peer)).connect(null);
    await asked(connection, initialize, callOf(null));
    await connection.post(initialized, callOf(LEGACY));
    const before = connection.state?.session;
    peer.forget();
    const answers = await Promise.all([1, 2, 3].map((id) => asked(connection, echo(id), callOf(LEGACY))));
    expect(answers.map(({ result }) => textOf(result))).toEqual(['hi', 'hi', 'hi']);
    expect(connection.state?.session).not.toBe(before);
    expect(peer.sessions.size).toBe(1);
  });

  test('stands alone without a handshake where there are no sessions, and leaves nothing behind', async () => {
    const peer = new LegacyPeer();
    const connection = (await targetAt(peer, false)).connect(null);
    expect(names((await asked(connection, requestOf(1, 'tools/list'), callOf(LEGACY))).result, 'tools')).toContain(
      'echo',
    );
    expect(peer.sessions.size).toBe(1);
    expect(await connection.close(null)).toBeNull();
    expect(peer.sessions.size).toBe(0);
  });

  test('gets progress on the way and can be asked something', async () => {
    const connection = (await targetAt(new LegacyPeer())).connect(null);
    const capabilities = { elicitation: {} };
    await asked(connection, requestOf(0, 'initialize', { ...initializeParams, capabilities }), callOf(null));
    await connection.post(initialized, callOf(LEGACY));
    const params = { name: 'count', arguments: { to: 3 }, _meta: { progressToken: 'p' } };
    const counted = await asked(connection, requestOf(1, 'tools/call', params), callOf(LEGACY));
    expect(counted.before).toHaveLength(3);
    const { waiting } = begun(connection, requestOf(2, 'tools/call', { name: 'ask' }), callOf(LEGACY));
    const question = await waiting.heard('elicitation/create');
    const id = question.kind === 'request' ? question.id : '';
    const result = { action: 'accept', content: { name: 'me' } };
    expect(await connection.post({ kind: 'result', id, result }, callOf(LEGACY))).toBeNull();
    expect(await waiting.ended).toBeNull();
    expect(JSON.stringify(waiting.messages.at(-1))).toContain('me');
  });

  test('that leaves has its call cancelled at the target', async () => {
    const peer = new LegacyPeer();
    const connection = (await targetAt(peer)).connect(null);
    await asked(connection, initialize, callOf(null));
    await connection.post(initialized, callOf(LEGACY));
    const { calling } = begun(connection, requestOf(9, 'tools/call', { name: 'wait' }), callOf(LEGACY));
    await eventually('the call has come', () => peer.seen.some(({ rpc }) => rpc === 'tools/call'));
    calling.cancel();
    await cancelled.promise;
  });

  test('that cancels by a notification is not left waiting', async () => {
    const connection = (await targetAt(new LegacyPeer())).connect(null);
    await asked(connection, initialize, callOf(null));
    await connection.post(initialized, callOf(LEGACY));
    const { waiting } = begun(connection, requestOf(9, 'tools/call', { name: 'wait' }), callOf(LEGACY));
    const params = { requestId: 9 };
    await connection.post({ kind: 'notification', method: 'notifications/cancelled', params }, callOf(LEGACY));
    await cancelled.promise;
    expect(await waiting.ended).toBeNull();
  });

  test('hears what the target says unasked', async () => {
    const peer = new LegacyPeer();
    const connection = (await targetAt(peer)).connect(null);
    await asked(connection, initialize, callOf(null));
    await connection.post(initialized, callOf(LEGACY));
    const stream = new Waiting();
    const calling = connection.listen(callOf(LEGACY), stream);
    await eventually('the stream is open', () => peer.seen.some(({ method }) => method === 'GET'));
    peer.servers[0]?.sendToolListChanged();
    await stream.heard('notifications/tools/list_changed');
    calling.cancel();
    expect(stream.ends).toBe(0);
  });
});

describe('a modern client at a modern target', () => {
  test('is passed on with the headers that repeat its message', async () => {
    const peer = new ModernPeer();
    const connection = (await targetAt(peer)).connect(null);
    const listed = await asked(connection, requestOf(1, 'tools/list', modernParams()), callOf(MODERN));
    expect(names(listed.result, 'tools')).toContain('echo');
    expect(listed.result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
    expect(textOf((await asked(connection, modernEcho(2), callOf(MODERN))).result)).toBe('hi');
    expect(peer.seen.at(-1)?.headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'echo' });
    expect(peer.seen.map(({ rpc }) => rpc)).toEqual(['server/discover', 'tools/list', 'tools/call']);
    expect(connection.state?.session).toBeUndefined();
  });

  test('gets input_required results as they are', async () => {
    const connection = (await targetAt(new ModernPeer())).connect(null);
    const params = modernParams({ name: 'ask', arguments: {} }, { elicitation: { form: {} } });
    const { result } = await asked(connection, requestOf(1, 'tools/call', params), callOf(MODERN));
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { who: { method: 'elicitation/create' } },
    });
  });

  test('gets the status and the body of an error as they are', async () => {
    const connection = (await targetAt(new ModernPeer())).connect(null);
    const { failure } = await asked(connection, requestOf(1, 'no/such', modernParams()), callOf(MODERN));
    expect(failure).toMatchObject({ kind: 'http', status: 404, error: { code: -32601 } });
  });
});

describe('a modern client at a legacy target', () => {
  test('discovers, lists, calls and reads', async () => {
    const peer = new LegacyPeer();
    const target = await targetAt(peer);
    const told = await asked(target.connect(null), requestOf('d', 'server/discover', modernParams()), callOf(MODERN));
    expect(told.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [MODERN, LEGACY],
      instructions: 'Ask nicely.',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'legacy' } },
    });
    const connection = target.connect(null);
    const listed = await asked(connection, requestOf(1, 'tools/list', modernParams()), callOf(MODERN));
    expect(names(listed.result, 'tools')).toContain('echo');
    expect(listed.result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
    const called = await asked(connection, modernEcho(2), callOf(MODERN));
    expect(called.result).toMatchObject({ resultType: 'complete' });
    const read = await asked(
      connection,
      requestOf(3, 'resources/read', modernParams({ uri: 'memo:note' })),
      callOf(MODERN),
    );
    expect(read.result).toMatchObject({ contents: [{ text: 'a note' }], ttlMs: 0 });
    expect(peer.seen.filter(({ rpc }) => rpc === 'server/discover')).toHaveLength(1);
    await connection.close(null);
  });

  test('cannot be asked in the middle of a call', async () => {
    const peer = new LegacyPeer();
    const connection = (await targetAt(peer)).connect(null);
    const params = modernParams({ name: 'ask', arguments: {} }, { elicitation: { form: {} } });
    const { result, error } = await asked(connection, requestOf(1, 'tools/call', params), callOf(MODERN));
    // The target has been told that the client cannot be asked, so it fails by itself.
    expect(error ?? result).toBeTruthy();
    expect(JSON.stringify(result ?? error)).toMatch(/elicitation|input_required/i);
  });

  test('gets notifications of a subscription', async () => {
    const peer = new LegacyPeer();
    const connection = (await targetAt(peer)).connect(null);
    const params = modernParams({ notifications: { toolsListChanged: true, promptsListChanged: true } });
    const { calling, waiting } = begun(connection, requestOf('s', 'subscriptions/listen', params), callOf(MODERN));
    const ack = await waiting.heard('notifications/subscriptions/acknowledged');
    expect(ack).toMatchObject({ params: { notifications: { toolsListChanged: true } } });
    await eventually('the stream is open', () => peer.seen.some(({ method }) => method === 'GET'));
    peer.servers[0]?.sendToolListChanged();
    const note = await waiting.heard('notifications/tools/list_changed');
    expect(note).toMatchObject({ params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 's' } } });
    calling.cancel();
    await connection.close(null);
    expect(peer.sessions.size).toBe(0);
  });
});

describe('a legacy client at a modern target', () => {
  test('does its handshake with the gateway and calls', async () => {
    const peer = new ModernPeer();
    const connection = (await targetAt(peer)).connect(null);
    const hello = await asked(connection, initialize, callOf(null));
    expect(hello.result).toMatchObject({ protocolVersion: LEGACY, serverInfo: { name: 'modern', version: '3.2.1' } });
    expect(await connection.post(initialized, callOf(LEGACY))).toBeNull();
    const listed = await asked(connection, requestOf(1, 'tools/list', {}), callOf(LEGACY));
    expect(names(listed.result, 'tools')).toContain('echo');
    expect(listed.result).not.toHaveProperty('ttlMs');
    expect(textOf((await asked(connection, echo(2), callOf(LEGACY))).result)).toBe('hi');
    expect((await asked(connection, requestOf(3, 'ping'), callOf(LEGACY))).result).toEqual({});
  });

  test('stands alone where there are no sessions', async () => {
    const target = await targetAt(new ModernPeer(), false);
    expect(textOf((await asked(target.connect(null), echo(2), callOf(LEGACY))).result)).toBe('hi');
    expect(textOf((await asked(target.connect(null), echo(3), callOf(LEGACY))).result)).toBe('hi');
  });

  test('gets log messages of the level that it has set', async () => {
    const connection = (await targetAt(new ModernPeer())).connect(null);
    await asked(connection, initialize, callOf(null));
    const log = requestOf(2, 'tools/call', { name: 'log', arguments: {} });
    expect((await asked(connection, log, callOf(LEGACY))).before).toEqual([]);
    await asked(connection, requestOf(3, 'logging/setLevel', { level: 'info' }), callOf(LEGACY));
    const { before } = await asked(connection, { ...log, id: 4 }, callOf(LEGACY));
    expect(before).toMatchObject([{ method: 'notifications/message', params: { data: 'mind the gap' } }]);
  });

  test('is asked what the target needs to know', async () => {
    const connection = (await targetAt(new ModernPeer())).connect(null);
    const capabilities = { elicitation: { form: {} } };
    await asked(connection, requestOf(0, 'initialize', { ...initializeParams, capabilities }), callOf(null));
    const { waiting } = begun(connection, requestOf(5, 'tools/call', { name: 'ask', arguments: {} }), callOf(LEGACY));
    const question = await waiting.heard('elicitation/create');
    expect(question).toMatchObject({ kind: 'request', params: { message: 'Who are you?' } });
    const id = question.kind === 'request' ? question.id : '';
    await connection.post(
      { kind: 'result', id, result: { action: 'accept', content: { name: 'me' } } },
      callOf(LEGACY),
    );
    expect(await waiting.ended).toBeNull();
    expect(waiting.messages.at(-1)).toMatchObject({ kind: 'result', id: 5 });
    expect(JSON.stringify(waiting.messages.at(-1))).toContain('me');
  });

  test('needs not know which headers a tool wants', async () => {
    const peer = new ModernPeer();
    const connection = (await targetAt(peer)).connect(null);
    await asked(connection, initialize, callOf(null));
    const where = requestOf(2, 'tools/call', { name: 'where', arguments: { region: 'Köln' } });
    expect(textOf((await asked(connection, where, callOf(LEGACY))).result)).toBe('Köln');
    expect(textOf((await asked(connection, where, callOf(LEGACY))).result)).toBe('Köln');
    const calls = peer.seen.map(({ rpc }) => rpc).slice(2);
    expect(calls).toEqual(['tools/call', 'tools/list', 'tools/call', 'tools/call']);
  });

  test('that cancels a call which waits for its own answer is left alone', async () => {
    const connection = (await targetAt(new ModernPeer())).connect(null);
    const capabilities = { elicitation: { form: {} } };
    await asked(connection, requestOf(0, 'initialize', { ...initializeParams, capabilities }), callOf(null));
    const { waiting } = begun(connection, requestOf(5, 'tools/call', { name: 'ask', arguments: {} }), callOf(LEGACY));
    await waiting.heard('elicitation/create');
    const params = { requestId: 5 };
    await connection.post({ kind: 'notification', method: 'notifications/cancelled', params }, callOf(LEGACY));
    expect(await waiting.ended).toBeNull();
  });

  test('hears of changes, also of resources that it subscribes later', async () => {
    const peer = new ModernPeer();
    const connection = (await targetAt(peer)).connect(null);
    await asked(connection, initialize, callOf(null));
    const stream = new Waiting();
    const calling = connection.listen(callOf(LEGACY), stream);
    await asked(connection, requestOf(1, 'resources/subscribe', { uri: 'memo:note' }), callOf(LEGACY));
    const opened = (): number => peer.seen.filter(({ rpc }) => rpc === 'subscriptions/listen').length;
    await eventually('both subscriptions have come', () => opened() === 2);
    await eventually('the update arrives', () => {
      peer.handler.notify.resourceUpdated('memo:note');
      return stream.messages.some((each) => 'method' in each && each.method === 'notifications/resources/updated');
    });
    calling.cancel();
    await peer.handler.close();
  });
});

test('a target of both generations is asked in that of the client', async () => {
  const peer = new ModernPeer('stateless');
  const target = await targetAt(peer);
  const legacy = target.connect(null);
  expect((await asked(legacy, initialize, callOf(null))).result).toMatchObject({ protocolVersion: LEGACY });
  expect(textOf((await asked(legacy, echo(1), callOf(LEGACY))).result)).toBe('hi');
  expect(textOf((await asked(target.connect(null), modernEcho(1), callOf(MODERN))).result)).toBe('hi');
  expect(peer.seen.map(({ headers }) => headers['mcp-protocol-version'])).toEqual([undefined, LEGACY, MODERN, MODERN]);
});

describe('the older transport', () => {
  test('carries calls, progress and questions over one stream', async () => {
    const peer = new SsePeer();
    const connection = (await sseAt(peer)).connect(null);
    const hello = requestOf(0, 'initialize', { ...initializeParams, capabilities: { elicitation: {} } });
    expect((await asked(connection, hello, callOf(null))).result).toMatchObject({ serverInfo: { name: 'legacy' } });
    await connection.post(initialized, callOf(LEGACY));
    const many = await Promise.all([1, 2, 3].map((id) => asked(connection, echo(id), callOf(LEGACY))));
    expect(many.map(({ result }) => textOf(result))).toEqual(['hi', 'hi', 'hi']);
    const params = { name: 'count', arguments: { to: 3 }, _meta: { progressToken: 4 } };
    expect((await asked(connection, requestOf(4, 'tools/call', params), callOf(LEGACY))).before).toHaveLength(3);
    const { waiting } = begun(connection, requestOf(5, 'tools/call', { name: 'ask' }), callOf(LEGACY));
    const question = await waiting.heard('elicitation/create');
    const id = question.kind === 'request' ? question.id : '';
    await connection.post({ kind: 'result', id, result: { action: 'decline' } }, callOf(LEGACY));
    expect(await waiting.ended).toBeNull();
    expect(connection.state).toBeNull();
    expect(peer.transports.size).toBe(1);
    await connection.close(null);
  });

  test('serves modern clients', async () => {
    const connection = (await sseAt(new SsePeer())).connect(null);
    expect(textOf((await asked(connection, modernEcho(1), callOf(MODERN))).result)).toBe('hi');
    await connection.close(null);
  });

  test('breaks the calls in flight when its stream ends, and begins anew with the next one', async () => {
    const peer = new SsePeer();
    const connection = (await sseAt(peer)).connect(null);
    await asked(connection, initialize, callOf(null));
    await connection.post(initialized, callOf(LEGACY));
    const posts = peer.posts;
    const { waiting } = begun(connection, requestOf(1, 'tools/call', { name: 'wait' }), callOf(LEGACY));
    await eventually('the call has come', () => peer.posts > posts);
    for (const transport of peer.transports.values()) await transport.close();
    expect(await waiting.ended).toMatchObject({ kind: 'broken' });
    expect(textOf((await asked(connection, echo(2), callOf(LEGACY))).result)).toBe('hi');
    expect(peer.transports.size).toBe(2);
    await connection.close(null);
  });
});
