import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';

import { MessageChannel, type MessagePort } from 'node:worker_threads';

import { describe, expect, test } from '@jest/globals';

import { streamRelay } from '../../../../proxy/mcp/http/sse/relay.ts';
import { SseStreams } from '../../../../proxy/mcp/http/sse/streams.ts';
import { ThreadRelay } from '../../../../proxy/mcp/session/relay/thread-relay.ts';
import type { Peers } from '../../../../proxy/supervisor/data-plane.ts';

import { harness, INITIALIZE, post, ScriptedSessions, type Harness } from './harness.ts';

interface Listener {
  /** Path and query that messages go to. */
  readonly address: string;
  /** Resolves with the text so far as soon as it contains this. */
  readonly until: (text: string) => Promise<string>;
  readonly leave: () => void;
}

async function open(gw: Harness, target = '/sse'): Promise<Listener> {
  const asking = httpRequest(new URL(target, gw.url), { headers: { accept: 'text/event-stream' } });
  asking.on('error', () => {});
  asking.end();
  // `as`: what the event carries.
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  response.setEncoding('utf8');
  response.on('error', () => {});
  let seen = '';
  response.on('data', (chunk: string) => (seen += chunk));
  const until = async (text: string): Promise<string> => {
    while (!seen.includes(text)) await once(response, 'data');
    return seen;
  };
  const head = await until('\n\n');
  return {
    address: /^event: endpoint\ndata: (.*)\n\n/.exec(head)?.[1] ?? '',
    until,
    leave: () => asking.destroy(),
  };
}

async function opened(): Promise<{ gw: Harness; stream: Listener; url: URL }> {
  const gw = await harness();
  gw.session.onRequest = ({ id, method }, sink) => {
    sink.onMessage({ kind: 'result', id, result: { of: method } });
    sink.onEnd(null);
  };
  const stream = await open(gw);
  return { gw, stream, url: new URL(stream.address, gw.url) };
}

describe('the older transport', () => {
  test('tells the address for messages, as the client knows the place', async () => {
    await using gw = await harness();
    const stream = await open(gw, '/sse?team=a');
    expect(stream.address).toMatch(/^\/sse\?team=a&sessionId=[0-9a-f-]{36}$/);
    stream.leave();
    await gw.idle();
    expect(gw.session.notes).toEqual(['closed']);
    expect(gw.options.streams.size).toBe(0);
  });

  test('answers on the stream', async () => {
    const { gw, stream, url } = await opened();
    await using _ = gw;
    expect(await post(url, INITIALIZE)).toMatchObject({ status: 202, text: '' });
    expect(await stream.until('"of":"initialize"')).toContain('event: message\ndata: {"jsonrpc":"2.0","id":0');
    expect((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    expect(gw.session.posted).toHaveLength(1);
    expect(gw.sessions.asked).toEqual(['begin']);
  });

  test('carries what targets say by themselves after the handshake', async () => {
    const { gw, stream, url } = await opened();
    await using _ = gw;
    expect(gw.session.listener).toBeNull();
    await post(url, INITIALIZE);
    gw.session.listener?.onMessage({
      kind: 'notification',
      method: 'notifications/tools/list_changed',
      params: undefined,
    });
    await stream.until('list_changed');
    gw.session.listener?.onEnd({ kind: 'unsupported', message: '' });
    await post(url, { jsonrpc: '2.0', id: 2, method: 'tools/list' });
    await stream.until('"of":"tools/list"');
  });

  test('tells on the stream why a call failed', async () => {
    const { gw, stream, url } = await opened();
    await using _ = gw;
    gw.session.onRequest = (_message, sink) => sink.onEnd({ kind: 'broken', message: 'connection reset' });
    expect((await post(url, { jsonrpc: '2.0', id: 'a', method: 'tools/list' })).status).toBe(202);
    await stream.until('{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"connection reset"}}');
  });

  test('gives up what is under way when the client leaves', async () => {
    const { gw, stream, url } = await opened();
    await using _ = gw;
    await post(url, INITIALIZE);
    gw.session.onRequest = () => {};
    await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } });
    stream.leave();
    await gw.idle();
    expect(gw.session.notes.toSorted()).toEqual(['cancelled listen', 'cancelled tools/call', 'closed']);
    expect((await post(url, INITIALIZE)).status).toBe(404);
  });

  test('refuses what it cannot take', async () => {
    const { gw, url } = await opened();
    await using _ = gw;
    const at = (query: string): URL => new URL(`/sse${query}`, gw.url);
    expect((await post(at(''), INITIALIZE)).status).toBe(422);
    expect((await post(at('?sessionId='), INITIALIZE)).status).toBe(422);
    expect((await post(at('?sessionId=00000000-0000-4000-8000-000000000000'), INITIALIZE)).status).toBe(404);
    expect((await post(url, '{')).status).toBe(400);
    expect((await post(url, [INITIALIZE])).status).toBe(400);
    expect((await post(url, 'x'.repeat(300_000))).status).toBe(413);
    expect((await post(url, INITIALIZE, { 'mcp-protocol-version': '2026-07-28' })).status).toBe(400);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(405);
    expect((await fetch(at(''), { headers: { 'mcp-protocol-version': '2026-07-28' } })).status).toBe(400);
    expect(gw.session.calls).toHaveLength(0);
  });

  test('1,000 streams opened and left leave nothing behind', async () => {
    await using gw = await harness();
    for (let i = 0; i < 20; i++) {
      const streams = await Promise.all(Array.from({ length: 50 }, () => open(gw)));
      for (const stream of streams) stream.leave();
      await gw.idle();
    }
    expect(gw.options.streams.size).toBe(0);
    expect(gw.session.notes).toHaveLength(1000);
  });

  test('lets its clients go when their backend is another one, after what is under way', async () => {
    const { gw, stream, url } = await opened();
    await using _ = gw;
    await post(url, INITIALIZE);
    gw.session.onRequest = () => {};
    await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } });
    gw.options.streams.retired();
    expect(gw.options.streams.size).toBe(1);
    gw.session.sinks.get(1)?.onMessage({ kind: 'result', id: 1, result: { last: true } });
    await stream.until('"last":true');
    await gw.idle();
    expect(gw.options.streams.size).toBe(0);
    expect(gw.session.notes.toSorted()).toEqual(['cancelled listen', 'closed']);
  });

  test('has a session like any other once it has an id', async () => {
    const { gw, stream, url } = await opened();
    await using _ = gw;
    const { onRequest } = gw.session;
    gw.session.onRequest = (message, sink) => {
      gw.session.id = 's1';
      onRequest(message, sink);
    };
    await post(url, INITIALIZE);
    await post(url, { jsonrpc: '2.0', id: 2, method: 'tools/list' });
    await stream.until('"of":"tools/list"');
    expect(gw.sessions.asked).toEqual(['begin', 'find s1', 'find s1']);
    // It lay idle for too long, or its targets are others now.
    gw.session.id = 's2';
    gw.sessions.find = () => 'unknown';
    expect((await post(url, { jsonrpc: '2.0', id: 3, method: 'tools/list' })).status).toBe(404);
    await gw.idle();
    expect(gw.options.streams.size).toBe(0);
    expect(gw.session.notes).toEqual(['cancelled listen']);
  });

  test('lets its clients go when the thread ends', async () => {
    const { gw } = await opened();
    await using _ = gw;
    await gw.options.streams.close();
    await gw.idle();
    expect(gw.session.notes).toEqual(['closed']);
  });
});

/** Data threads as the control thread introduces them to each other. */
function threads(count: number): ThreadRelay[] {
  const met = Array.from({ length: count }, (): ((port: MessagePort) => void)[] => []);
  return Array.from({ length: count }, (_, thread) => {
    const peers: Peers = {
      meet(other) {
        const { port1, port2 } = new MessageChannel();
        if (met[other] === undefined) port2.close();
        for (const listener of met[other] ?? []) listener(port2);
        return port1;
      },
      onMet: (listener) => void met[thread]?.push(listener),
    };
    return new ThreadRelay({ process: 'p', thread, life: '1' }, { ...peers, count });
  });
}

describe('the older transport in several threads', () => {
  test('finds the stream of another thread, with what is known of the client', async () => {
    const relays = threads(2);
    const [one, other] = await Promise.all(
      relays.map((relay) => {
        const [streams, sessions] = [new SseStreams(), new ScriptedSessions()];
        const backend = '/mcp';
        return harness({ streams, sessions, relay: streamRelay(relay, { backend, streams, sessions }) });
      }),
    );
    if (one === undefined || other === undefined) throw new Error('no threads');
    for (const relay of relays) relay.settled();
    await using _one = one;
    await using _other = other;
    one.session.onRequest = ({ id, method }, sink) => sink.onMessage({ kind: 'result', id, result: { of: method } });
    const stream = await open(one);
    const url = new URL(stream.address, other.url);
    expect((await post(url, INITIALIZE, { 'x-team': 'a' })).status).toBe(202);
    await stream.until('"of":"initialize"');
    expect(one.session.calls[0]?.exchange.request.headers.get('x-team')).toBe('a');
    expect((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    expect(one.session.posted).toHaveLength(1);
    expect(other.session.calls).toHaveLength(0);
    expect((await post(url, '{')).status).toBe(400);
    stream.leave();
    await one.idle();
    expect((await post(url, INITIALIZE)).status).toBe(404);
    const forged = new URL(url.href.replace(/...$/, 'fff'));
    expect((await post(forged, INITIALIZE)).status).toBe(404);
    await Promise.all(relays.map((relay) => relay.close()));
  });
});
