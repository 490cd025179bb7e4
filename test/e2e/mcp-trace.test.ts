import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { AdminClient } from '../../src/admin/client/admin-client.ts';
import { parseAdminAddress } from '../../src/admin/client/address.ts';
import type { TraceEvent, TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import { startEverything, type RunningServer } from '../mcp/everything.ts';
import { startAgent } from './a2a-agent.ts';
import { ask, Cleanup, echo, upstream } from './gateway.ts';
import { facing, type Facing } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let server: RunningServer;
beforeAll(async () => {
  server = await startEverything();
});
afterAll(() => server.close());

async function connected(gateway: Facing): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  cleanup.add({ close: () => client.close() });
  // `as`: the library's own types differ in what may be undefined.
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gateway.http}/mcp`)) as never);
  return client;
}

/** The events of the one request that is made meanwhile. */
async function traced(
  gateway: Facing,
  asking: () => Promise<unknown>,
  // Clients open the stream of their session, which has no end, when they please.
  expression = 'request.method == "POST"',
): Promise<readonly TraceEvent[]> {
  const admin = cleanup.add(new AdminClient(parseAdminAddress(new URL(gateway.admin).host), { timeoutMs: 5000 }));
  const stream = await admin.trace({ expression });
  const asked = asking();
  const events: TraceEvent[] = [];
  for await (const { event } of stream) events.push(event);
  await asked.catch(() => {});
  return events;
}

type Of<Type extends TraceMessage['type']> = Extract<TraceMessage, { type: Type }>;

function all<Type extends TraceMessage['type']>(events: readonly TraceEvent[], type: Type): readonly Of<Type>[] {
  return events.flatMap(({ message }) => (message.type === type ? [message as Of<Type>] : []));
}

const targets = (): string => `
- {name: everything, mcp: {host: "${server.url}"}}
- {name: memory, stdio: {cmd: "${process.execPath}", args: ["node_modules/@modelcontextprotocol/server-memory/dist/index.js"]}}`;

describe('the trace of a request to MCP servers', () => {
  test('can be that of the next call of a tool by a client, whatever it sends before', async () => {
    const gateway = await facing(cleanup, `mcp:\n  targets:${targets().replaceAll('\n', '\n  ')}`);
    const asking = async (): Promise<void> => {
      const client = await connected(gateway);
      await client.listTools();
      await client.callTool({ name: 'everything_get-sum', arguments: { a: 1, b: 1 } });
      await client.callTool({ name: 'everything_echo', arguments: { message: 'hi' } });
    };
    const wanted = 'mcp.methodName == "tools/call" && mcp.tool.name == "echo" && mcp.tool.arguments.message == "hi"';
    const events = await traced(gateway, asking, wanted);
    expect(all(events, 'mcpRequest')).toMatchObject([{ method: 'tools/call', item: 'everything_echo' }]);
    expect(all(events, 'mcpCallStart')).toMatchObject([{ target: 'everything', item: 'echo' }]);
    expect([events[0]?.message.type, all(events, 'requestFinished').length]).toEqual(['requestStarted', 1]);
  });

  test('has every message to every one of them, in a scope of its own', async () => {
    const gateway = await facing(cleanup, `mcp:\n  targets:${targets().replaceAll('\n', '\n  ')}`);
    const client = await connected(gateway);
    const events = await traced(gateway, () => client.listTools());
    expect(all(events, 'mcpRequest')).toMatchObject([{ method: 'tools/list', protocolVersion: '2025-11-25' }]);
    const begun = events.filter(({ message }) => message.type === 'mcpCallStart');
    expect(begun.map(({ scope, message }) => [scope, 'transport' in message ? message.transport : ''])).toEqual([
      [['mcp', 'everything'], 'streamable'],
      [['mcp', 'memory'], 'stdio'],
    ]);
    expect(all(events, 'mcpCallResult').map(({ target, outcome }) => [target, outcome])).toEqual(
      expect.arrayContaining([
        ['everything', 'result'],
        ['memory', 'result'],
      ]),
    );
    const called = events.filter(({ message }) => message.type === 'backendCallResult');
    expect(called).toMatchObject([{ scope: ['mcp', 'everything'], message: { status: 200 } }]);
    expect(all(events, 'mcpResponse')).toMatchObject([{ outcome: 'result' }]);
  });

  test('tells what an operation of an OpenAPI document asks for, without its query', async () => {
    const { port } = cleanup.add(await upstream(echo));
    const parameters = [
      { name: 'id', in: 'path' },
      { name: 'key', in: 'query' },
    ];
    const schema = { openapi: '3.1.0', paths: { '/a/{id}': { parameters, put: { operationId: 'put' } } } };
    const openapi = JSON.stringify({ host: '127.0.0.1', port, path: '/v1', schema: JSON.stringify(schema) });
    const gateway = await facing(cleanup, `mcp: {targets: [{name: api, openapi: ${openapi.replaceAll('$', '$$$$')}}]}`);
    const client = await connected(gateway);
    const given = { path: { id: 'x y' }, query: { key: 'k' } };
    const events = await traced(gateway, () => client.callTool({ name: 'put', arguments: given }));
    expect(all(events, 'backendCallStart')).toEqual([
      { type: 'backendCallStart', target: `127.0.0.1:${port}`, request: 'PUT /v1/a/x%20y' },
    ]);
  });

  test('tells a tool that fails as an error, and what came before an answer', async () => {
    const gateway = await facing(cleanup, `mcp:\n  targets:${targets().replaceAll('\n', '\n  ')}`);
    const client = await connected(gateway);
    const failing = await traced(gateway, () => client.callTool({ name: 'everything_get-sum', arguments: { a: 'x' } }));
    const result = failing.find(({ message }) => message.type === 'mcpCallResult');
    expect(result).toMatchObject({ severity: 'error', message: { item: 'get-sum', isError: true } });
    expect(failing.at(-1)?.message).toMatchObject({ type: 'requestFinished', status: 200 });
    const long = { name: 'everything_trigger-long-running-operation', arguments: { duration: 0.1, steps: 2 } };
    const streamed = await traced(gateway, () => client.callTool(long, undefined, { onprogress() {} }));
    expect(all(streamed, 'mcpResponse')).toMatchObject([{ outcome: 'result', notifications: 2 }]);
  });

  test('shows no session, neither of the client nor of a server', async () => {
    const gateway = await facing(cleanup, `mcp: {targets: [{name: everything, mcp: {host: "${server.url}"}}]}`);
    const client = await connected(gateway);
    const events = await traced(gateway, () => client.ping());
    const { sessionId } = client.transport ?? {};
    expect(sessionId).toMatch(/.{20}/);
    expect(JSON.stringify(events)).not.toContain(sessionId);
    const [request] = all(events, 'mcpRequest');
    expect(request?.session).toMatch(/^[0-9a-f]{16}$/);
    expect(await gateway.logged('mcp.method.name=ping')).toContain(`mcp.session.id=${request?.session} `);
    expect(gateway.log.join('\n')).not.toContain(sessionId);
  });

  test('has the handshake that the gateway does when a server has forgotten the session', async () => {
    const gateway = await facing(
      cleanup,
      `mcp: {statefulMode: stateless, targets: [{name: everything, mcp: {host: "${server.url}"}}]}`,
    );
    const client = await connected(gateway);
    const events = await traced(gateway, () => client.callTool({ name: 'echo', arguments: { message: 'hi' } }));
    expect(all(events, 'mcpCallResult').map(({ kind, method, outcome }) => [kind, method, outcome])).toEqual([
      ['request', 'initialize', 'result'],
      ['notification', 'notifications/initialized', 'accepted'],
      ['request', 'tools/call', 'result'],
      ['end', null, 'accepted'],
    ]);
  });

  test('has what another data thread does for it', async () => {
    const gateway = await facing(cleanup, `mcp:\n  targets:${targets().replaceAll('\n', '\n  ')}`, { threads: 2 });
    const { sessionId } = (await connected(gateway)).transport ?? {};
    // Connections are shared out among the threads: some of these meet the one that has not got the session.
    for (let tries = 0; tries < 40; tries += 1) {
      const events = await traced(gateway, () => ping(gateway, sessionId ?? ''));
      const relayed = events.some(({ message }) => message.type === 'policyEvent' && message.kind === 'mcp_relay');
      expect(all(events, 'mcpCallResult').map(({ outcome }) => outcome)).toEqual(['result', 'result']);
      const times = events.map(({ eventEnd }) => eventEnd);
      expect(Math.min(...times)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...times)).toBeLessThan(60_000_000);
      if (relayed) return;
    }
    throw new Error('no request met the other thread');
  });
});

function ping(gateway: Facing, session: string): Promise<unknown> {
  return fetch(`http://127.0.0.1:${gateway.http}/mcp`, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-session-id': session,
      connection: 'close',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  }).then((response) => response.text());
}

describe('the trace of a call of an agent', () => {
  test('has method, task, state and the events of a stream; errors are errors', async () => {
    const agent = cleanup.add(await startAgent());
    const gateway = await facing(
      cleanup,
      `routes: [{policies: {a2a: {}}, backends: [{host: "127.0.0.1:${agent.port}"}]}]`,
    );
    const told = async (method: string, params: object) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
      const events = await traced(gateway, () => ask(gateway.http, '/rpc', { method: 'POST', headers, body }));
      return events.flatMap(({ message, severity }) =>
        message.type === 'policyEvent' && message.kind.startsWith('a2a') ? [{ severity, ...message }] : [],
      );
    };
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'I buy the dog' }] };
    expect(await told('SendStreamingMessage', { message })).toMatchObject([
      { kind: 'a2a_request', details: { method: 'SendStreamingMessage' } },
      {
        kind: 'a2a',
        severity: 'info',
        details: {
          outcome: 'success',
          taskState: 'TASK_STATE_COMPLETED',
          taskId: expect.stringMatching(/.{10}/),
          contextId: expect.stringMatching(/.{10}/),
          events: expect.any(Number),
        },
      },
    ]);
    expect(await told('GetTask', { id: 'nothing' })).toMatchObject([
      {},
      { severity: 'error', details: { outcome: 'error', errorCode: -32001 } },
    ]);
  });
});
