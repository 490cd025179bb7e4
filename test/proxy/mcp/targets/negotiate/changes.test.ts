/** Targets that are replaced by ones of the other generation, in the middle of conversations. */
import type { ServerResponse } from 'node:http';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type { TargetConnection } from '../../../../../proxy/mcp/targets/contract.ts';
import { eventually } from '../../../../e2e/clients.ts';
import { Rig } from '../../../backends/rig.ts';
import { ManualClock } from '../../../exchange/build.ts';
import { asked, begun, callOf, initializeParams, modernParams, requestOf } from '../caller.ts';
import { type Answer, error, result, ScriptedServer } from './scripted.ts';

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';
const LEVEL = 'io.modelcontextprotocol/logLevel';

let rig: Rig;
let clock: ManualClock;
beforeEach(() => {
  rig = new Rig();
  clock = new ManualClock();
});
afterEach(() => rig.end());

const told = { protocolVersion: LEGACY, capabilities: { logging: {} }, serverInfo: { name: 'one', version: '1' } };
const discovery = { resultType: 'complete', supportedVersions: [MODERN], capabilities: {} };
const bare: Answer = (_to, response: ServerResponse) => void response.writeHead(400).end('what?');

/** What a server of sessions says to somebody who has none. */
function legacy(refusal: Answer): Record<string, Answer> {
  const inSession =
    (answer: Answer): Answer =>
    (to, response) =>
      (to.headers['mcp-session-id'] === 's' ? answer : refusal)(to, response);
  return {
    initialize: result(told, { 'mcp-session-id': 's' }),
    'server/discover': refusal,
    'tools/list': inSession(result({ tools: [{ name: 'old' }] })),
    'tools/call': inSession(result({ content: [] })),
    'logging/setLevel': inSession(result({})),
    'resources/subscribe': inSession(result({})),
    DELETE: (_to, response) => void response.writeHead(200).end(),
  };
}

const modern: Record<string, Answer> = {
  '*': error(-32022, 400),
  'server/discover': result(discovery),
  'tools/list': (to, response) =>
    to.headers['mcp-protocol-version'] === MODERN
      ? result({ tools: [{ name: 'new' }], resultType: 'complete' })(to, response)
      : error(-32022, 400)(to, response),
};

const initialize = requestOf(0, 'initialize', initializeParams);
const list = requestOf(1, 'tools/list');
const modernList = requestOf(1, 'tools/list', modernParams());

async function names(connection: TargetConnection, message = list, version = LEGACY): Promise<unknown> {
  const { result: listed, error: said, failure } = await asked(connection, message, callOf(version));
  const tools = listed?.['tools'];
  return Array.isArray(tools) ? tools : (said ?? failure);
}

describe('a modern target that has become a legacy one', () => {
  const refusals: [string, Answer][] = [
    ['a session that is missing', error(-32000, 400)],
    ['a request that is none', error(-32600, 400)],
    ['a status', bare],
    ['the version', error(-32022, 400)],
  ];

  test.each(refusals)('goes on serving modern clients, told by %s', async (_what, refusal) => {
    const server = new ScriptedServer(rig, clock, modern);
    const at = await server.target();
    expect(await names(at.connect(null), modernList, MODERN)).toEqual([{ name: 'new' }]);
    server.answers = legacy(refusal);
    expect(await names(at.connect(null), modernList, MODERN)).toEqual([{ name: 'old' }]);
    server.methods.splice(0);
    expect(await names(at.connect(null), modernList, MODERN)).toEqual([{ name: 'old' }]);
    expect(server.methods).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
  });

  test.each(refusals)('goes on with the session of a legacy client, told by %s', async (_what, refusal) => {
    const server = new ScriptedServer(rig, clock, modern);
    const connection = (await server.target()).connect(null);
    await asked(connection, initialize, callOf(null));
    await asked(connection, requestOf(2, 'logging/setLevel', { level: 'info' }), callOf(LEGACY));
    await asked(connection, requestOf(3, 'resources/subscribe', { uri: 'a:b' }), callOf(LEGACY));
    expect(await names(connection)).toEqual([{ name: 'new' }]);
    server.answers = legacy(refusal);
    server.methods.splice(0);
    expect(await names(connection)).toEqual([{ name: 'old' }]);
    const begins = server.methods.indexOf('initialize');
    expect(server.methods.slice(begins)).toEqual([
      'initialize',
      'notifications/initialized',
      'logging/setLevel',
      'resources/subscribe',
      'tools/list',
    ]);
  });

  test('is not taken for one where it refuses a single request', async () => {
    const server = new ScriptedServer(rig, clock, { ...modern, 'tools/call': error(-32602, 400) });
    const at = await server.target();
    await names(at.connect(null), modernList, MODERN);
    server.methods.splice(0);
    const call = requestOf(2, 'tools/call', modernParams({ name: 'x' }));
    expect((await asked(at.connect(null), call, callOf(MODERN))).failure).toMatchObject({ kind: 'http', status: 400 });
    expect(server.methods).toEqual(['tools/call']);
  });

  test('is asked once more and no further where it only says so', async () => {
    const server = new ScriptedServer(rig, clock, { ...modern, 'tools/call': bare });
    const at = await server.target();
    await names(at.connect(null), modernList, MODERN);
    server.methods.splice(0);
    const call = requestOf(2, 'tools/call', modernParams({ name: 'x' }));
    expect((await asked(at.connect(null), call, callOf(MODERN))).failure).toMatchObject({ kind: 'http', status: 400 });
    expect(server.methods).toEqual(['tools/call', 'server/discover', 'tools/call']);
    // Nobody else suffers from it.
    expect(await names(at.connect(null), modernList, MODERN)).toEqual([{ name: 'new' }]);
  });
});

describe('a legacy target that has become a modern one', () => {
  test('goes on serving modern clients', async () => {
    const server = new ScriptedServer(rig, clock, legacy(error(-32000, 400)));
    const at = await server.target();
    expect(await names(at.connect(null), modernList, MODERN)).toEqual([{ name: 'old' }]);
    server.answers = modern;
    expect(await names(at.connect(null), modernList, MODERN)).toEqual([{ name: 'new' }]);
    server.methods.splice(0);
    expect(await names(at.connect(null), modernList, MODERN)).toEqual([{ name: 'new' }]);
    expect(server.methods).toEqual(['tools/list']);
  });

  test.each([400, 200])('goes on with the session of a legacy client, told with status %d', async (status) => {
    const server = new ScriptedServer(rig, clock, legacy(error(-32000, 400)));
    const connection = (await server.target()).connect(null);
    await asked(connection, initialize, callOf(null));
    await asked(connection, requestOf(2, 'logging/setLevel', { level: 'info' }), callOf(LEGACY));
    expect(await names(connection)).toEqual([{ name: 'old' }]);
    server.answers = {
      ...modern,
      '*': error(-32022, status),
      'tools/list': (to, response) =>
        to.headers['mcp-protocol-version'] === MODERN
          ? modern['tools/list']?.(to, response)
          : error(-32022, status)(to, response),
    };
    expect(await names(connection)).toEqual([{ name: 'new' }]);
    const last = server.heard.at(-1);
    expect(last?.params).toMatchObject({ _meta: { [LEVEL]: 'info' } });
    // Such servers have no sessions, and refuse ids of them.
    expect(last?.headers).not.toHaveProperty('mcp-session-id');
    server.answers = { ...server.answers, 'prompts/list': error(-32601, 404) };
    expect((await asked(connection, requestOf(4, 'prompts/list'), callOf(LEGACY))).error).toMatchObject({
      code: -32601,
    });
  });
});

describe('a modern client at a legacy target', () => {
  const event = (level: string): string =>
    `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level, data: level } })}\n\n`;
  const talkative: Record<string, Answer> = {
    ...legacy(error(-32601)),
    'tools/call': ({ id }, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event('debug') + event('warning'));
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } })}\n\n`);
    },
  };

  test.each([
    [undefined, []],
    ['warning', ['warning']],
    ['debug', ['debug', 'warning']],
  ])('hears of its log what it has asked for (%s)', async (level, levels) => {
    const at = await new ScriptedServer(rig, clock, talkative).target();
    const params = modernParams({ name: 'x' });
    const meta = level === undefined ? params['_meta'] : { ...Object(params['_meta']), [LEVEL]: level };
    const { before } = await asked(
      at.connect(null),
      requestOf(1, 'tools/call', { ...params, _meta: meta }),
      callOf(MODERN),
    );
    expect(before.map((each) => (each.kind === 'notification' ? each.params?.['data'] : each))).toEqual(levels);
  });

  test('that closes the stream of a call has it cancelled', async () => {
    const began = Promise.withResolvers<void>();
    const server = new ScriptedServer(rig, clock, {
      ...legacy(error(-32601)),
      'tools/call': (_to, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        began.resolve();
      },
    });
    const connection = (await server.target()).connect(null);
    const { calling } = begun(connection, requestOf(5, 'tools/call', modernParams({ name: 'x' })), callOf(MODERN));
    await began.promise;
    calling.cancel();
    await eventually('the target is told', () => server.methods.includes('notifications/cancelled'));
    const told = server.heard.find(({ method }) => method === 'notifications/cancelled');
    expect(told).toMatchObject({ params: { requestId: 5 }, headers: { 'mcp-session-id': 's' } });
  });

  test('is told of no tasks, which are of a session', async () => {
    const capabilities = { tasks: { list: {} }, tools: {} };
    const answers = { ...legacy(error(-32601)), initialize: result({ ...told, capabilities }) };
    const at = await new ScriptedServer(rig, clock, answers).target();
    const { result: found } = await asked(
      at.connect(null),
      requestOf(1, 'server/discover', modernParams()),
      callOf(MODERN),
    );
    expect(found?.['capabilities']).toEqual({ tools: {} });
  });

  test('hears that its subscription is there when the stream is', async () => {
    const streams: ServerResponse[] = [];
    const capabilities = { tools: { listChanged: true } };
    const answers: Record<string, Answer> = {
      ...legacy(error(-32601)),
      initialize: result({ ...told, capabilities }),
      GET: (_to, response) => void streams.push(response),
    };
    const server = new ScriptedServer(rig, clock, answers);
    const connection = (await server.target()).connect(null);
    const params = modernParams({ notifications: { toolsListChanged: true } });
    const { waiting, calling } = begun(connection, requestOf(7, 'subscriptions/listen', params), callOf(MODERN));
    while (streams.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(waiting.messages).toEqual([]);
    const [stream] = streams;
    stream?.writeHead(200, { 'content-type': 'text/event-stream' });
    stream?.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
    await waiting.heard('notifications/tools/list_changed');
    expect(waiting.messages.map((each) => ('method' in each ? each.method : ''))).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ]);
    calling.cancel();
  });
});

describe('a legacy client at a modern target', () => {
  const asks = (requests: object): Record<string, Answer> => ({
    ...modern,
    initialize: error(-32022, 400),
    'tools/call': result({ resultType: 'input_required', inputRequests: requests }),
  });

  test('that cancels a call has its stream closed', async () => {
    const began = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const server = new ScriptedServer(rig, clock, {
      ...modern,
      'tools/call': (_to, response) => {
        response.on('close', () => closed.resolve());
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        began.resolve();
      },
    });
    const connection = (await server.target()).connect(null);
    await asked(connection, initialize, callOf(null));
    const { calling } = begun(connection, requestOf(5, 'tools/call', { name: 'x' }), callOf(LEGACY));
    await began.promise;
    calling.cancel();
    await closed.promise;
  });

  test('is given an id with an address that people are sent to', async () => {
    const at = await new ScriptedServer(
      rig,
      clock,
      asks({
        a: { method: 'elicitation/create', params: { mode: 'url', url: 'https://here.test/', message: 'look' } },
      }),
    ).target();
    const connection = at.connect(null);
    await asked(connection, initialize, callOf(null));
    const { waiting, calling } = begun(connection, requestOf(1, 'tools/call', { name: 'x' }), callOf(LEGACY));
    expect(await waiting.heard('elicitation/create')).toMatchObject({
      params: { mode: 'url', elicitationId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    calling.cancel();
  });

  test('is asked nothing more when it has refused one of several questions', async () => {
    const at = await new ScriptedServer(
      rig,
      clock,
      asks({ a: { method: 'roots/list' }, b: { method: 'elicitation/create', params: { message: 'who?' } } }),
    ).target();
    const connection = at.connect(null);
    await asked(connection, initialize, callOf(null));
    const { waiting } = begun(connection, requestOf(1, 'tools/call', { name: 'x' }), callOf(LEGACY));
    const roots = await waiting.heard('roots/list');
    const other = await waiting.heard('elicitation/create');
    if (roots.kind !== 'request' || other.kind !== 'request') throw new Error('it does not ask');
    const refusal = { kind: 'error', id: roots.id, error: { code: -1, message: 'no' } } as const;
    await connection.post(refusal, callOf(LEGACY));
    await waiting.ended;
    expect(waiting.messages.slice(-2)).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: other.id } },
      { kind: 'error', id: 1, error: { code: -1 } },
    ]);
    // Late answers are nobody's, and so are those to questions that nobody has asked.
    for (const id of [other.id, roots.id, 'gw-input-99'])
      expect(await connection.post({ kind: 'result', id, result: {} }, callOf(LEGACY))).toBeNull();
  });
});
