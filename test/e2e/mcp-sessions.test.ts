import { request, type ClientRequest } from 'node:http';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterEach, describe, expect, test } from '@jest/globals';

import { metaOf } from '../../proxy/mcp/message/meta.ts';
import { KeptConversation } from '../../proxy/mcp/session/sessions.ts';
import { PeerSession } from '../../proxy/mcp/targets/negotiate/session.ts';
import { StreamableConnection } from '../../proxy/mcp/targets/streamable/connection.ts';
import { Listening } from '../../proxy/mcp/targets/streamable/listening.ts';
import type { JsonObject } from '../../src/shared/json.ts';
import { eventually } from './clients.ts';
import { type Answer, ask, Cleanup, type RunningGateway, startGateway, upstream } from './gateway.ts';
import { begun, callTool, ended, handshake, say, type SessionTarget, sessionTarget, told } from './mcp-target.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const THREADS = 3;
const KEY = '0123456789abcdef'.repeat(4);

function config(ports: readonly number[], { ttl = '30m', more = '', target = '' } = {}): string {
  const targets = ports.map((port, at) => `{name: t${at}, mcp: {host: "http://127.0.0.1:${port}/mcp"}${target}}`);
  return `
config: {adminAddr: "127.0.0.1:1", statsAddr: "127.0.0.1:1", readinessAddr: "127.0.0.1:1", mcp: {sessionTtl: ${ttl}}}
mcp: {port: 800, targets: [${targets.join(', ')}]${more}}
`;
}

async function gatewayTo(
  target: SessionTarget,
  options: Parameters<typeof config>[1] = {},
  env = {},
): Promise<RunningGateway & { mcp: number }> {
  const gateway = cleanup.add(await startGateway(config([target.port], options), { threads: THREADS, env }));
  return { ...gateway, mcp: gateway.port(800) };
}

/** A GET that stays open. */
async function stream(port: number, session: string): Promise<ClientRequest> {
  const headers = { accept: 'text/event-stream', 'mcp-session-id': session };
  const outgoing = request({ host: '127.0.0.1', port, path: '/mcp', headers, agent: false });
  outgoing.on('error', () => {});
  outgoing.end();
  const [response] = await once(outgoing, 'response');
  response.resume();
  response.on('error', () => {});
  return outgoing;
}

const posting = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/** Notes the objects of sessions, so that it can be told how many there were and how many are left. */
function noted(): () => { readonly seen: number[]; readonly left: number } {
  const refs = [
    noteThis(KeptConversation.prototype, 'post'),
    noteThis(PeerSession.prototype, 'post'),
    noteThis(StreamableConnection.prototype, 'post'),
    noteThis(Listening.prototype, 'start'),
  ];
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  return () => {
    if (typeof collect === 'function') collect();
    return {
      seen: refs.map(({ length }) => length),
      left: refs.flat().filter((ref) => ref.deref() !== undefined).length,
    };
  };
}

function noteThis<T extends object>(prototype: T, method: keyof T): WeakRef<T>[] {
  const refs: WeakRef<T>[] = [];
  const own = prototype[method];
  if (typeof own !== 'function') throw new Error('no method');
  const noting = function (this: T, ...args: unknown[]): unknown {
    refs.push(new WeakRef(this));
    return Reflect.apply(own, this, args);
  };
  Object.defineProperty(prototype, method, { value: noting, configurable: true });
  cleanup.add({ close: () => Object.defineProperty(prototype, method, { value: own, configurable: true }) });
  return refs;
}

/** Enough connections that every thread gets some. */
const MANY = 12;

describe('a session', () => {
  test('is one conversation with its target, whatever thread gets a message of it', async () => {
    const target = cleanup.add(await sessionTarget());
    const { mcp } = await gatewayTo(target);
    const id = await begun(mcp);
    await say(mcp, id, { id: 1, method: 'logging/setLevel', params: { level: 'warning' } });
    await say(mcp, id, { id: 2, method: 'resources/subscribe', params: { uri: 'a:b' } });
    const [first] = target.sessions.keys();
    // The target restarts and has forgotten everything; many messages find out at once.
    target.sessions.clear();
    const all = await Promise.all(Array.from({ length: MANY }, () => told(mcp, id)));
    const [second] = target.sessions.keys();
    expect(second).not.toBe(first);
    expect(target.sessions.size).toBe(1);
    expect(target.sessions.get(second ?? '')?.client['capabilities']).toEqual({ roots: {} });
    for (const each of all) expect(each).toEqual({ id: second, level: 'warning', subscribed: ['a:b'] });
    expect(target.heard.filter((method) => method === 'initialize')).toHaveLength(2);
  });

  test('ends everywhere when its client ends it, and does not come back', async () => {
    const target = cleanup.add(await sessionTarget());
    const { mcp } = await gatewayTo(target);
    const id = await begun(mcp);
    for (let i = 0; i < MANY; i++) await told(mcp, id);
    const open = await stream(mcp, id);
    const closed = once(open, 'close');
    expect((await ended(mcp, id)).status).toBe(202);
    await closed;
    expect([target.sessions.size, target.streams.size]).toEqual([0, 0]);
    for (let i = 0; i < MANY; i++) expect((await callTool(mcp, id, 'tell')).status).toBe(404);
    expect((await ended(mcp, id)).status).toBe(202);
    expect(target.heard.filter((method) => method === 'initialize')).toHaveLength(1);
  });

  test('gets the answers of HTTP that its target gives, whatever thread gets them', async () => {
    const target = cleanup.add(await sessionTarget());
    const { mcp } = await gatewayTo(target);
    const id = await begun(mcp);
    for (let i = 0; i < MANY; i++)
      expect(await callTool(mcp, id, 'busy')).toMatchObject({
        status: 429,
        headers: { 'retry-after': '7' },
        body: 'slow down',
      });
  });

  test('survives a target that cuts a call off, or is not there for a while', async () => {
    const target = cleanup.add(await sessionTarget());
    const { mcp } = await gatewayTo(target);
    const id = await begun(mcp);
    expect((await callTool(mcp, id, 'reset')).status).toBe(502);
    await told(mcp, id);
    await new Promise((resolve) => {
      target.server.close(resolve);
      target.server.closeAllConnections();
    });
    expect((await callTool(mcp, id, 'tell')).status).toBe(502);
    target.server.listen(target.port, '127.0.0.1');
    await once(target.server, 'listening');
    await told(mcp, id);
    expect(target.heard.filter((method) => method === 'initialize')).toHaveLength(1);
  });

  test('that is never begun is not left at the target', async () => {
    const target = cleanup.add(await sessionTarget());
    const { mcp, logged } = await gatewayTo(target);
    const asking = target.server.listeners('request');
    target.server.removeAllListeners('request');
    const came = Promise.withResolvers<() => void>();
    target.server.on('request', (...args) => {
      if (args[0].method === 'POST') came.resolve(() => asking.forEach((listener) => listener(...args)));
      else asking.forEach((listener) => listener(...args));
    });
    const leaving = request({ host: '127.0.0.1', port: mcp, path: '/mcp', method: 'POST', agent: false });
    leaving.on('error', () => {});
    leaving.setHeader('accept', 'application/json, text/event-stream').setHeader('content-type', 'application/json');
    leaving.end(JSON.stringify({ jsonrpc: '2.0', ...handshake }));
    const goOn = await came.promise;
    leaving.destroy();
    await logged('http.status=499');
    goOn();
    await eventually('the session is ended', () => target.heard.includes('DELETE') && target.sessions.size === 0);
  });
});

/** A server without sessions, which wants to know something before it answers. */
async function modernTarget(): Promise<number> {
  const meta = (params: JsonObject): unknown => metaOf(params)?.['io.modelcontextprotocol/logLevel'] ?? null;
  const answers: Record<string, (params: JsonObject) => JsonObject> = {
    'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: { tools: {}, logging: {} } }),
    'tools/call': (params) =>
      params['name'] === 'ask' && params['inputResponses'] === undefined
        ? { resultType: 'input_required', inputRequests: { who: { method: 'roots/list' } } }
        : {
            content: [],
            structuredContent: { level: JSON.stringify(meta(params)), answers: params['inputResponses'] ?? {} },
          },
  };
  const server = await upstream((asked, response) => {
    let body = '';
    asked.on('data', (chunk: Buffer) => (body += chunk.toString()));
    asked.on('end', () => {
      const { id, method, params } = JSON.parse(body);
      const answer = answers[method];
      const said = answer === undefined ? { error: { code: -32022, message: 'no' } } : { result: answer(params) };
      response.writeHead(answer === undefined ? 400 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
    });
  });
  return cleanup.add(server).port;
}

describe('a session with a server that has none', () => {
  test('is the same in every thread', async () => {
    const gateway = cleanup.add(await startGateway(config([await modernTarget()]), { threads: THREADS }));
    const mcp = gateway.port(800);
    const id = await begun(mcp);
    await say(mcp, id, { id: 1, method: 'logging/setLevel', params: { level: 'warning' } });
    for (let i = 0; i < MANY; i++) expect(await told(mcp, id)).toEqual({ level: '"warning"', answers: {} });
  });

  test('asks its client over one connection and hears it over another', async () => {
    const gateway = cleanup.add(await startGateway(config([await modernTarget()]), { threads: THREADS }));
    const mcp = gateway.port(800);
    const id = await begun(mcp);
    for (let i = 0; i < MANY; i++) {
      const outgoing = request({ host: '127.0.0.1', port: mcp, path: '/mcp', method: 'POST', agent: false });
      for (const [name, value] of Object.entries({ ...posting, 'mcp-session-id': id })) outgoing.setHeader(name, value);
      outgoing.end('{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask"}}');
      const [response] = await once(outgoing, 'response');
      let text = '';
      for await (const chunk of response) {
        text += String(chunk);
        const question = /"id":("[^"]+"),"method":"roots.list"/.exec(text)?.[1];
        if (question === undefined || text.includes('structuredContent')) continue;
        await say(mcp, id, { id: JSON.parse(question), result: { roots: [] } });
      }
      expect(text).toContain('"answers":{"who":{"roots":[]}}');
    }
  });
});

describe('sessions that are left', () => {
  test('hold no object when they are gone', async () => {
    const target = cleanup.add(await sessionTarget());
    const gateway = cleanup.add(await startGateway(config([target.port], { ttl: '2s' })));
    const mcp = gateway.port(800);
    const alive = noted();
    const all = await Promise.all(Array.from({ length: 200 }, () => begun(mcp)));
    const streams = await Promise.all(all.slice(0, 50).map((id) => stream(mcp, id)));
    expect(alive().seen).toEqual([200, 200, 200, 50]);
    for (const each of streams) each.destroy();
    await eventually('the target knows none', () => target.sessions.size === 0);
    await eventually('all objects are gone', () => alive().left === 0);
  });

  test('a thousand of them leave nothing behind, here or at their target', async () => {
    const target = cleanup.add(await sessionTarget());
    const { mcp } = await gatewayTo(target, { ttl: '1s' });
    const leave = async (n: number): Promise<void> => {
      const id = await begun(mcp);
      const open = n % 3 === 0 ? await stream(mcp, id) : null;
      if (n % 7 === 0) await callTool(mcp, id, 'tell');
      if (n % 5 === 0) await ended(mcp, id);
      open?.destroy();
    };
    for (let n = 0; n < 1000; n += 20) await Promise.all(Array.from({ length: 20 }, (_, at) => leave(n + at)));
    await eventually('nothing is left', () => target.sessions.size === 0 && target.streams.size === 0);
    expect(target.heard.filter((method) => method === 'DELETE')).toHaveLength(1000);
  });

  test('are not those of clients of the older transport whose stream is open', async () => {
    const target = cleanup.add(await sessionTarget({ silent: true }));
    const text = config([target.port], { ttl: '1s' });
    const gateway = cleanup.add(await startGateway(text, { threads: 1 }));
    const mcp = gateway.port(800);
    const outgoing = request({ host: '127.0.0.1', port: mcp, path: '/sse', headers: { accept: 'text/event-stream' } });
    outgoing.on('error', () => {});
    const [response] = await once(outgoing.end(), 'response');
    let heard = '';
    response.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    response.on('error', () => {});
    await eventually('the address is told', () => heard.includes('sessionId='));
    const address = /data: (\S+)/.exec(heard)?.[1] ?? '';
    const post = (message: object): Promise<Answer> =>
      ask(mcp, address, { method: 'POST', headers: posting, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
    await post(handshake);
    await eventually('it is begun', () => heard.includes('"id":0'));
    await eventually('there is no stream of the target', () => target.heard.includes('GET'));
    await begun(mcp);
    expect(target.sessions.size).toBe(2);
    await eventually('the other one has been idle for too long', () => target.sessions.size < 2);
    expect((await post({ id: 9, method: 'ping' })).status).toBe(202);
    await eventually('it is answered', () => heard.includes('"id":9'));
    outgoing.destroy();
    await eventually('it ends with its stream', () => target.sessions.size === 0);
  });

  test('are not ended by threads that have lost interest while another goes on', async () => {
    const target = cleanup.add(await sessionTarget());
    const { mcp } = await gatewayTo(target, { ttl: '1s' });
    const id = await begun(mcp);
    for (let i = 0; i < MANY; i++) await told(mcp, id);
    // One connection: one thread keeps it.
    const open = await stream(mcp, id);
    const others = await Promise.all(Array.from({ length: 5 }, () => begun(mcp)));
    await eventually('those that nobody uses are gone', () => target.sessions.size === 1);
    await told(mcp, id);
    for (const other of others) expect((await callTool(mcp, other, 'tell')).status).toBe(404);
    open.destroy();
    await eventually('the last is gone', () => target.sessions.size === 0);
  });
});

describe('a reload', () => {
  test('that leaves the backend as it is leaves its sessions', async () => {
    const target = cleanup.add(await sessionTarget());
    const gateway = await gatewayTo(target);
    const id = await begun(gateway.mcp);
    const calls = Array.from({ length: MANY }, () => callTool(gateway.mcp, id, 'wait'));
    await eventually('they wait', () => target.waiting.length === MANY);
    await gateway.reload(`${config([target.port])}\nbackends: [{name: x, host: "127.0.0.1:1"}]`);
    for (const response of target.waiting) response.end('data: {"jsonrpc":"2.0","id":5,"result":{"content":[]}}\n\n');
    for (const { status, body } of await Promise.all(calls)) {
      expect(status).toBe(200);
      expect(body).toContain('"result":{"content":[]}');
    }
    for (let i = 0; i < MANY; i++) await told(gateway.mcp, id);
    expect(target.sessions.size).toBe(1);
  });

  test.each([
    [
      'changes the target',
      (port: number) => config([port], { target: ', policies: {requestHeaderModifier: {set: {a: b}}}' }),
    ],
    ['changes the backend', (port: number) => config([port], { more: ', failureMode: failOpen' })],
    [
      'changes the policies of the target',
      (port: number) => config([port], { more: ', policies: {backendAuth: {key: k}}' }),
    ],
    ['adds a target', (port: number) => config([port, port])],
    [
      'removes the target',
      (port: number) =>
        config([port]).replace(/mcp: {port[^]*/, 'mcp: {port: 800, targets: [{name: other, stdio: {cmd: none}}]}'),
    ],
  ])('that %s lets calls finish, and clients begin anew', async (_what, changed) => {
    const target = cleanup.add(await sessionTarget());
    const gateway = await gatewayTo(target);
    const id = await begun(gateway.mcp);
    const open = await stream(gateway.mcp, id);
    const closed = once(open, 'close');
    const calls = Array.from({ length: MANY }, () => callTool(gateway.mcp, id, 'wait'));
    await eventually('they wait', () => target.waiting.length === MANY);
    expect(await gateway.reload(changed(target.port))).toMatchObject({ kind: 'live' });
    for (let i = 0; i < MANY; i++) expect((await callTool(gateway.mcp, id, 'tell')).status).toBe(404);
    for (const response of target.waiting) response.end('data: {"jsonrpc":"2.0","id":5,"result":{"content":[]}}\n\n');
    for (const { status, body } of await Promise.all(calls)) {
      expect(status).toBe(200);
      expect(body).toContain('"result":{"content":[]}');
    }
    await closed;
    await eventually('the target is told', () => target.sessions.size === 0 && target.streams.size === 0);
  });
});

describe('two gateways with one key', () => {
  test('go on with the sessions of each other', async () => {
    const target = cleanup.add(await sessionTarget());
    const [one, two] = [
      await gatewayTo(target, {}, { SESSION_KEY: KEY }),
      await gatewayTo(target, {}, { SESSION_KEY: KEY }),
    ];
    const id = await begun(one.mcp);
    const there = await told(one.mcp, id);
    for (let i = 0; i < MANY; i++) expect(await told(two.mcp, id)).toEqual(there);
    await one.close();
    expect(await told(two.mcp, id)).toEqual(there);
    // What the target has forgotten, this one never knew.
    target.sessions.clear();
    for (let i = 0; i < MANY; i++) expect((await callTool(two.mcp, id, 'tell')).status).toBe(404);
    expect(target.heard.filter((method) => method === 'initialize')).toHaveLength(1);
  });

  test('that has ended a session does not go on with it', async () => {
    const target = cleanup.add(await sessionTarget());
    const [one, two] = [
      await gatewayTo(target, {}, { SESSION_KEY: KEY }),
      await gatewayTo(target, {}, { SESSION_KEY: KEY }),
    ];
    const id = await begun(one.mcp);
    await told(two.mcp, id);
    expect((await ended(two.mcp, id)).status).toBe(202);
    expect(target.sessions.size).toBe(0);
    for (let i = 0; i < MANY; i++) expect((await callTool(two.mcp, id, 'tell')).status).toBe(404);
  });

  test('have programs of their own', async () => {
    const script =
      'process.stdin.on("data", (line) => { const { id } = JSON.parse(line); if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } } })); })';
    const text = `mcp: {port: 800, targets: [{name: s, stdio: {cmd: ${process.execPath}, args: [-e, ${JSON.stringify(script)}]}}]}`;
    const open = async () => cleanup.add(await startGateway(text, { threads: 2, env: { SESSION_KEY: KEY } }));
    const [one, two] = [(await open()).port(800), (await open()).port(800)];
    const id = await begun(one);
    for (let i = 0; i < MANY; i++) {
      expect((await say(one, id, { id: 1, method: 'ping' })).status).toBe(200);
      expect((await say(two, id, { id: 1, method: 'ping' })).status).toBe(404);
    }
  });
});

describe('an id of a session', () => {
  const edited = (
    id: string,
    change: (content: { s: { b?: string }[]; h?: string | undefined }) => unknown,
  ): string => {
    const content = JSON.parse(Buffer.from(id, 'base64url').toString());
    change(content);
    return Buffer.from(JSON.stringify(content)).toString('base64url');
  };

  test('that was edited reaches no other host than the target', async () => {
    const target = cleanup.add(await sessionTarget());
    const other = cleanup.add(await sessionTarget());
    const { mcp } = await gatewayTo(target);
    const id = await begun(mcp);
    const pinned = edited(id, ({ s: [first] }) => Object.assign(first ?? {}, { b: `127.0.0.1:${other.port}` }));
    const elsewhere = edited(pinned, (content) => (content.h = content.h?.replace(/^.{16}/, 'f'.repeat(16))));
    const nowhere = edited(pinned, (content) => delete content.h);
    const restarted = edited(id, (content) => (content.h = content.h?.replace(/.{8}$/, '00000000')));
    for (let i = 0; i < MANY; i++) {
      expect((await callTool(mcp, pinned, 'tell')).status).toBe(404);
      // An id without a key is the target's own, which is all that it opens.
      expect((await callTool(mcp, elsewhere, 'tell')).status).toBe(200);
      expect((await callTool(mcp, nowhere, 'tell')).status).toBe(200);
      // As if the thread had been started again since.
      expect((await callTool(mcp, restarted, 'tell')).status).toBe(200);
    }
    expect(other.heard).toEqual([]);
  });

  test.each([
    ['none', () => 'x', 400],
    ['cut short', (id: string) => id.slice(0, -4), 404],
    ['changed', (id: string) => `${id.startsWith('A') ? 'B' : 'A'}${id.slice(1)}`, 404],
    ['of no length that is possible', (id: string) => id.repeat(1000), 431],
  ])('that is %s is refused', async (_what, change, status) => {
    const target = cleanup.add(await sessionTarget());
    const { mcp } = await gatewayTo(target, {}, { SESSION_KEY: KEY });
    const id = await begun(mcp);
    const answers = await Promise.all([
      callTool(mcp, change(id), 'tell'),
      ask(mcp, '/mcp', { headers: { accept: 'text/event-stream', 'mcp-session-id': change(id) } }),
    ]);
    for (const each of answers) expect(each.status).toBe(status);
    expect(target.heard.filter((method) => method === 'tools/call' || method === 'GET')).toEqual([]);
  });

  test('of another key, or of another backend, is unknown', async () => {
    const target = cleanup.add(await sessionTarget());
    const one = await gatewayTo(target, {}, { SESSION_KEY: KEY });
    const two = await gatewayTo(target, {}, { SESSION_KEY: 'f'.repeat(64) });
    const id = await begun(one.mcp);
    expect((await callTool(two.mcp, id, 'tell')).status).toBe(404);
    const backend = `{mcp: {targets: [{name: t0, mcp: {host: "http://127.0.0.1:${target.port}/mcp"}}]}}`;
    const routes = `
binds:
- port: 800
  listeners:
  - routes:
    - {name: a, matches: [{path: {pathPrefix: /mcp}}], backends: [${backend}]}
    - {name: b, matches: [{path: {pathPrefix: /other}}], backends: [${backend}]}
`;
    const both = cleanup.add(await startGateway(routes, { threads: 2, env: { SESSION_KEY: KEY } }));
    const own = await begun(both.port(800));
    const answer = await ask(both.port(800), '/other', {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-session-id': own,
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });
    expect(answer.status).toBe(404);
  });
});
