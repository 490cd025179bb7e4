import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { systemClock } from '../../../../../proxy/exchange/wait.ts';
import type { TargetConnection } from '../../../../../proxy/mcp/targets/contract.ts';
import { negotiating } from '../../../../../proxy/mcp/targets/negotiate/target.ts';
import { streamableTarget } from '../../../../../proxy/mcp/targets/streamable/target.ts';
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
} from '../caller.ts';
import { LegacyPeer } from '../servers.ts';

// It comes without types.
const path: string = '@modelcontextprotocol/server-everything/dist/server/index.js';
const { createServer }: { createServer: () => { server: McpServer; cleanup: () => void } } = await import(path);

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';

let rig: Rig;

beforeEach(() => {
  rig = new Rig();
});
afterEach(() => rig.end());

async function connection(): Promise<TargetConnection> {
  const peer = new LegacyPeer(() => {
    const { server, cleanup } = createServer();
    rig.cleanup(cleanup);
    return server;
  });
  const port = await rig.listen(peer.server);
  const caller = poolsCaller(rig.pools(), () => port);
  const options = { name: 'everything', path: '/mcp', caller, limitBytes: 4_000_000, clock: systemClock };
  const identity = { name: 'gw', version: '0.0.0' };
  return negotiating(streamableTarget(options), { identity, answers: true, clock: systemClock }).connect(null);
}

test('a legacy client finds everything there', async () => {
  const everything = await connection();
  const capabilities = { sampling: {} };
  const hello = await asked(
    everything,
    requestOf(0, 'initialize', { ...initializeParams, capabilities }),
    callOf(null),
  );
  expect(hello.result).toMatchObject({ serverInfo: { name: 'mcp-servers/everything' } });
  await everything.post(
    { kind: 'notification', method: 'notifications/initialized', params: undefined },
    callOf(LEGACY),
  );
  const tools = await asked(everything, requestOf(1, 'tools/list', {}), callOf(LEGACY));
  expect(names(tools.result, 'tools')).toEqual(expect.arrayContaining(['echo', 'get-sum', 'trigger-sampling-request']));
  const prompts = await asked(everything, requestOf(2, 'prompts/list', {}), callOf(LEGACY));
  expect(names(prompts.result, 'prompts').length).toBeGreaterThan(2);
  const templates = await asked(everything, requestOf(3, 'resources/templates/list', {}), callOf(LEGACY));
  expect(names(templates.result, 'resourceTemplates').length).toBeGreaterThan(0);
  const sum = requestOf(4, 'tools/call', { name: 'get-sum', arguments: { a: 20, b: 22 } });
  expect(textOf((await asked(everything, sum, callOf(LEGACY))).result)).toContain('42');
  const long = {
    name: 'trigger-long-running-operation',
    arguments: { duration: 0.1, steps: 4 },
    _meta: { progressToken: 5 },
  };
  const { before } = await asked(everything, requestOf(5, 'tools/call', long), callOf(LEGACY));
  expect(
    before.filter((each) => each.kind === 'notification' && each.method === 'notifications/progress'),
  ).toHaveLength(4);
  await everything.close(null);
});

test('and can be asked to sample', async () => {
  const everything = await connection();
  const capabilities = { sampling: {} };
  await asked(everything, requestOf(0, 'initialize', { ...initializeParams, capabilities }), callOf(null));
  await everything.post(
    { kind: 'notification', method: 'notifications/initialized', params: undefined },
    callOf(LEGACY),
  );
  const params = { name: 'trigger-sampling-request', arguments: { prompt: 'hello', maxTokens: 5 } };
  const { waiting } = begun(everything, requestOf(1, 'tools/call', params), callOf(LEGACY));
  const question = await waiting.heard('sampling/createMessage');
  const id = question.kind === 'request' ? question.id : '';
  const result = { role: 'assistant', model: 'none', content: { type: 'text', text: 'sampled it' } };
  await everything.post({ kind: 'result', id, result }, callOf(LEGACY));
  expect(await waiting.ended).toBeNull();
  expect(JSON.stringify(waiting.messages.at(-1))).toContain('sampled it');
  await everything.close(null);
});

test('a modern client finds everything there, too', async () => {
  const everything = await connection();
  const tools = await asked(everything, requestOf(1, 'tools/list', modernParams()), callOf(MODERN));
  expect(names(tools.result, 'tools')).toContain('get-sum');
  const call = modernParams({ name: 'get-sum', arguments: { a: 20, b: 22 } });
  expect(textOf((await asked(everything, requestOf(2, 'tools/call', call), callOf(MODERN))).result)).toContain('42');
  await everything.close(null);
});
