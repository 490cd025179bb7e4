import type { ServerResponse } from 'node:http';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type { Target } from '../../../../../proxy/mcp/targets/contract.ts';
import { eventually } from '../../../../e2e/clients.ts';
import { Rig } from '../../../backends/rig.ts';
import { ManualClock } from '../../../exchange/build.ts';
import { type Answer, error, type Heard, result, ScriptedServer } from './scripted.ts';
import { asked, begun, callOf, initializeParams, modernParams, requestOf, Waiting } from '../caller.ts';

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';

let rig: Rig;
let clock: ManualClock;
let heard: string[];

beforeEach(() => {
  rig = new Rig();
  clock = new ManualClock();
  heard = [];
});
afterEach(() => rig.end());

async function target(answers: Record<string, Answer>, sessions = true): Promise<Target> {
  const server = new ScriptedServer(rig, clock, answers);
  heard = server.methods;
  return server.target(sessions);
}

const hello = { protocolVersion: LEGACY, capabilities: { logging: {} }, serverInfo: { name: 'one', version: '1' } };
const discovery = { resultType: 'complete', supportedVersions: [MODERN], capabilities: {} };
const list = requestOf(1, 'tools/list');
const modernList = requestOf(1, 'tools/list', modernParams());
const initialize = requestOf(0, 'initialize', initializeParams);

describe('which generation a target speaks', () => {
  test.each([
    ['an unknown method', error(-32601)],
    ['parameters that are wrong', error(-32602)],
    ['a version that it does not have', error(-32022, 400)],
    ['a session that is missing', error(-32000, 400)],
    ['a page that is missing', (_to: Heard, response: ServerResponse) => void response.writeHead(404).end('no')],
    ['a body that it does not take', (_to: Heard, response: ServerResponse) => void response.writeHead(422).end('no')],
    ['an answer without versions', result({})],
    ['a version in its answer', result({ supportedVersions: ['2099-01-01'], capabilities: {} })],
  ])('is told by %s', async (_what, refusal) => {
    const at = await target({
      'server/discover': refusal,
      initialize: result(hello),
      'tools/list': result({ tools: [] }),
    });
    expect((await asked(at.connect(null), modernList, callOf(MODERN))).result).toMatchObject({ tools: [], ttlMs: 0 });
    await asked(at.connect(null), modernList, callOf(MODERN));
    expect(heard.filter((method) => method === 'server/discover')).toHaveLength(1);
  });

  test.each([500, 503, 401, 429])('is not told by a status of %d', async (status) => {
    const at = await target({
      'server/discover': (_to, response) => void response.writeHead(status).end(),
      initialize: result(hello),
    });
    const { failure } = await asked(at.connect(null), modernList, callOf(MODERN));
    expect(failure).toMatchObject({ kind: 'http', status });
    expect(heard).toEqual(['server/discover']);
  });

  test.each([
    ['an error', error(-32601)],
    ['an error and a status', error(-32601, 404)],
    ['a status', (_to: Heard, response: ServerResponse) => void response.writeHead(405).end()],
  ])('is told by %s to a handshake', async (_what, refusal) => {
    const at = await target({ 'server/discover': result(discovery), initialize: refusal });
    expect((await asked(at.connect(null), initialize, callOf(null))).result).toMatchObject({ protocolVersion: LEGACY });
    expect((await asked(at.connect(null), initialize, callOf(null))).result).toMatchObject({ protocolVersion: LEGACY });
    expect(heard).toEqual(['initialize', 'server/discover', 'server/discover']);
  });

  test('is not told by a handshake that fails', async () => {
    const at = await target({ initialize: error(-32603) });
    expect((await asked(at.connect(null), initialize, callOf(null))).error).toMatchObject({ code: -32603 });
    expect(heard).toEqual(['initialize']);
  });

  test('is nobody else than the client told when it is neither', async () => {
    const at = await target({});
    expect((await asked(at.connect(null), initialize, callOf(null))).failure).toMatchObject({
      kind: 'http',
      status: 404,
    });
    expect((await asked(at.connect(null), modernList, callOf(MODERN))).failure).toMatchObject({ kind: 'http' });
  });

  test('is asked again after a while', async () => {
    const answers: Record<string, Answer> = { 'server/discover': error(-32601), initialize: result(hello) };
    answers['tools/list'] = result({ tools: [] });
    const at = await target(answers);
    await asked(at.connect(null), modernList, callOf(MODERN));
    answers['server/discover'] = result(discovery);
    clock.advance(11 * 60_000);
    await asked(at.connect(null), modernList, callOf(MODERN));
    expect(heard.slice(-2)).toEqual(['server/discover', 'tools/list']);
  });

  test('is found out again when the target has changed', async () => {
    const answers: Record<string, Answer> = {
      'server/discover': result(discovery),
      'tools/list': result({ tools: [] }),
    };
    const at = await target(answers);
    await asked(at.connect(null), modernList, callOf(MODERN));
    answers['server/discover'] = error(-32601);
    answers['initialize'] = result(hello);
    answers['tools/list'] = (to, response) =>
      (to.headers['mcp-protocol-version'] === MODERN ? error(-32022, 400) : result({ tools: [] }))(to, response);
    expect((await asked(at.connect(null), modernList, callOf(MODERN))).result).toMatchObject({ tools: [] });
  });
});

describe('the handshake on behalf of a client', () => {
  test('is done once for all that come at once', async () => {
    const at = await target({
      initialize: result(hello, { 'mcp-session-id': 's' }),
      'tools/list': result({ tools: [] }),
    });
    const connection = at.connect(null);
    const calls = Array.from({ length: 50 }, (_, id) => asked(connection, { ...list, id }, callOf(LEGACY)));
    for (const { result: each } of await Promise.all(calls)) expect(each).toEqual({ tools: [] });
    expect(heard.filter((method) => method === 'initialize')).toHaveLength(1);
    expect(heard.filter((method) => method === 'notifications/initialized')).toHaveLength(1);
  });

  test('fails all that wait with what the target says', async () => {
    const at = await target({ initialize: error(-32603) });
    const { error: told, failure } = await asked(at.connect(null), list, callOf(LEGACY));
    expect(told).toBeNull();
    expect(failure).toMatchObject({ kind: 'rpc', error: { code: -32603 } });
  });

  test('is given up when everybody has left, not before', async () => {
    const came = Promise.withResolvers<ServerResponse>();
    const at = await target({ initialize: (_to, response) => came.resolve(response) });
    const connection = at.connect(null);
    const first = begun(connection, list, callOf(LEGACY));
    const second = begun(connection, { ...list, id: 2 }, callOf(LEGACY));
    const left = Promise.withResolvers<void>();
    (await came.promise).on('close', () => left.resolve());
    first.calling.cancel();
    expect(second.waiting.ends).toBe(0);
    second.calling.cancel();
    // It might have begun a session, which would have to be ended.
    clock.advance(5000);
    await left.promise;
    expect([first.waiting.ends, second.waiting.ends]).toEqual([0, 0]);
  });

  test.each([
    [true, { elicitation: {}, roots: {} }],
    [false, {}],
  ])('offers what the client can be asked where there are sessions: %s', async (sessions, offered) => {
    let told: unknown;
    const at = await target(
      {
        initialize: (to, response) => {
          told = to.params?.['capabilities'];
          result(hello)(to, response);
        },
      },
      sessions,
    );
    const params = { ...initializeParams, capabilities: { elicitation: {}, roots: {} } };
    await asked(at.connect(null), requestOf(0, 'initialize', params), callOf(null));
    expect(told).toEqual(offered);
  });
});

describe('a session that the target has forgotten', () => {
  const gone: Answer = (_to, response) => void response.writeHead(404).end();

  test('is opened again as the client had it', async () => {
    let session = 0;
    const known =
      (answer: Answer): Answer =>
      (to, response) =>
        (to.headers['mcp-session-id'] === `s${session}` ? answer : gone)(to, response);
    const at = await target({
      initialize: (to, response) => result(hello, { 'mcp-session-id': `s${++session}` })(to, response),
      'logging/setLevel': known(result({})),
      'resources/subscribe': known(result({})),
      'tools/call': known(result({ content: [] })),
    });
    const connection = at.connect(null);
    await asked(connection, initialize, callOf(null));
    await asked(connection, requestOf(1, 'logging/setLevel', { level: 'info' }), callOf(LEGACY));
    await asked(connection, requestOf(2, 'resources/subscribe', { uri: 'a:b' }), callOf(LEGACY));
    session = 7;
    heard.splice(0);
    expect((await asked(connection, requestOf(3, 'tools/call', { name: 'x' }), callOf(LEGACY))).result).toEqual({
      content: [],
    });
    expect(heard).toEqual([
      'tools/call',
      'initialize',
      'notifications/initialized',
      'logging/setLevel',
      'resources/subscribe',
      'tools/call',
    ]);
    expect(connection.state?.session).toBe('s8');
  });

  test('is opened again where the target says so with the wrong status', async () => {
    let session = 0;
    const known =
      (answer: Answer): Answer =>
      (to, response) =>
        (to.headers['mcp-session-id'] === `s${session}` ? answer : error(-32000, 400))(to, response);
    const at = await target({
      initialize: (to, response) => result(hello, { 'mcp-session-id': `s${++session}` })(to, response),
      'tools/list': known(result({ tools: [] })),
      GET: known((_to, response) => void response.writeHead(405).end()),
    });
    const connection = at.connect(null);
    await asked(connection, initialize, callOf(null));
    session = 5;
    expect((await asked(connection, list, callOf(LEGACY))).result).toEqual({ tools: [] });
    session = 7;
    const stream = new Waiting();
    connection.listen(callOf(LEGACY), stream);
    expect(await stream.ended).toMatchObject({ kind: 'unsupported' });
    expect(connection.state?.session).toBe('s8');
  });

  test('twice in a row is for the client to hear', async () => {
    const at = await target({ initialize: result(hello, { 'mcp-session-id': 's' }), 'tools/list': gone });
    const connection = at.connect(null);
    await asked(connection, initialize, callOf(null));
    expect((await asked(connection, list, callOf(LEGACY))).failure).toMatchObject({ kind: 'forgotten' });
    expect(heard.filter((method) => method === 'initialize')).toHaveLength(2);
  });

  test('takes answers of the client to nobody', async () => {
    const at = await target({ initialize: result(hello, { 'mcp-session-id': 's' }), POST: gone });
    const connection = at.connect(null);
    await asked(connection, initialize, callOf(null));
    const answer = { kind: 'result', id: 3, result: {} } as const;
    expect(await connection.post(answer, callOf(LEGACY))).toMatchObject({ kind: 'forgotten' });
  });

  test('is listened to again', async () => {
    let streams = 0;
    const at = await target({
      initialize: result(hello, { 'mcp-session-id': 's' }),
      GET: (to, response) => {
        if (++streams === 1) gone(to, response);
        else
          response
            .writeHead(200, { 'content-type': 'text/event-stream' })
            .write('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n');
      },
    });
    const stream = new Waiting();
    const connection = at.connect(null);
    await asked(connection, initialize, callOf(null));
    const calling = connection.listen(callOf(LEGACY), stream);
    await stream.heard('notifications/message');
    calling.cancel();
    expect(heard.slice(1)).toEqual(['GET', 'initialize', 'notifications/initialized', 'GET']);
  });

  test('is listened to again each time that it is forgotten', async () => {
    let session = 0;
    const streams: ServerResponse[] = [];
    const at = await target({
      initialize: (to, response) => result(hello, { 'mcp-session-id': `s${++session}` })(to, response),
      GET: (to, response) => {
        if (to.headers['mcp-session-id'] !== `s${session}`) gone(to, response);
        else {
          streams.push(response.writeHead(200, { 'content-type': 'text/event-stream' }));
          response.write('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n');
        }
      },
    });
    const connection = at.connect(null);
    await asked(connection, initialize, callOf(null));
    const listener = new Waiting();
    const calling = connection.listen(callOf(LEGACY), listener);
    for (let restart = 1; restart <= 4; restart++) {
      await eventually('the stream is there', () => listener.messages.length === restart);
      session += 1;
      streams.at(-1)?.end();
      await eventually('it is opened again', () => (clock.advance(1000), listener.messages.length > restart));
    }
    calling.cancel();
    expect(listener.ends).toBe(0);
  });

  test.each([
    ['404', gone],
    ['400 and an error', error(-32000, 400)],
  ])('is for the client to begin anew where nobody knows what it was like, told by %s', async (_what, refusal) => {
    const at = await target({ initialize: result(hello), 'tools/list': refusal, GET: refusal });
    const connection = at.connect({ session: 'of another process' });
    expect((await asked(connection, list, callOf(LEGACY))).failure).toMatchObject({ kind: 'forgotten' });
    const stream = new Waiting();
    connection.listen(callOf(LEGACY), stream);
    expect(await stream.ended).toMatchObject({ kind: 'forgotten' });
    expect(heard).toEqual(['tools/list', 'GET']);
  });
});

describe('a legacy client at a modern target', () => {
  const modern = { initialize: error(-32022, 400), 'server/discover': result(discovery) };

  test('gets an error of JSON-RPC and never the status, which would end its session', async () => {
    const at = await target({ ...modern, 'tools/list': error(-32601, 404) });
    const connection = at.connect(null);
    await asked(connection, initialize, callOf(null));
    expect((await asked(connection, list, callOf(LEGACY))).error).toMatchObject({ code: -32601 });
    const other = await asked(connection, requestOf(2, 'prompts/list'), callOf(LEGACY));
    expect(other.failure).toMatchObject({ kind: 'broken' });
  });

  const needs = result({
    resultType: 'input_required',
    inputRequests: { a: { method: 'roots/list' } },
    requestState: 'x',
  });

  test('is not asked for ever', async () => {
    const at = await target({ ...modern, 'tools/call': needs });
    const connection = at.connect(null);
    await asked(connection, initialize, callOf(null));
    const waiting = new Waiting();
    connection.request(requestOf(1, 'tools/call', { name: 'x' }), callOf(LEGACY), {
      onMessage: (message) => {
        waiting.onMessage(message);
        if (message.kind === 'request')
          void connection.post({ kind: 'result', id: message.id, result: { roots: [] } }, callOf(LEGACY));
      },
      onEnd: (failure) => waiting.onEnd(failure),
    });
    expect(await waiting.ended).toBeNull();
    expect(waiting.messages.at(-1)).toMatchObject({ kind: 'error', id: 1, error: { code: -32603 } });
    expect(heard.filter((method) => method === 'tools/call')).toHaveLength(17);
  });

  test('may refuse, which is the end of the call', async () => {
    const at = await target({ ...modern, 'tools/call': needs });
    const connection = at.connect(null);
    await asked(connection, initialize, callOf(null));
    const { waiting } = begun(connection, requestOf(1, 'tools/call', { name: 'x' }), callOf(LEGACY));
    const question = await waiting.heard('roots/list');
    const id = question.kind === 'request' ? question.id : '';
    await connection.post({ kind: 'error', id, error: { code: -1, message: 'never' } }, callOf(LEGACY));
    await waiting.ended;
    expect(waiting.messages.at(-1)).toMatchObject({ kind: 'error', id: 1, error: { code: -1, message: 'never' } });
  });

  test('cannot be asked where there are no sessions', async () => {
    const at = await target({ ...modern, 'tools/call': needs }, false);
    const { error: told } = await asked(at.connect(null), requestOf(1, 'tools/call', { name: 'x' }), callOf(LEGACY));
    expect(told).toMatchObject({ code: -32603 });
  });
});

test.each(['modern', 'legacy'])(
  'a %s target that asks a modern client in the middle of a call fails it',
  async (era) => {
    const left = Promise.withResolvers<void>();
    const at = await target({
      'server/discover': era === 'modern' ? result(discovery) : error(-32601),
      initialize: result(hello),
      'tools/call': (_to, response) => {
        response.on('close', () => left.resolve());
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\n');
        response.write('data: {"jsonrpc":"2.0","id":2,"method":"roots/list"}\n\n');
      },
      POST: (_to, response) => void response.writeHead(202).end(),
    });
    const call = requestOf(1, 'tools/call', modernParams({ name: 'x' }));
    const { error: told } = await asked(at.connect(null), call, callOf(MODERN));
    expect(told).toMatchObject({ code: -32603, message: expect.stringContaining('input_required') });
    await left.promise;
    await eventually('the ping is answered', () => heard.includes('POST'));
  },
);
