import { describe, expect, test } from '@jest/globals';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { withEnvelope } from '../../../../proxy/mcp/message/meta.ts';
import type { JsonObject } from '../../../../src/shared/json.ts';
import { fetchTarget } from '../fetch-target.ts';
import { answered, call, Client, session } from './scripted.ts';

function server(name: string) {
  return createMcpHandler(() => {
    const mcp = new McpServer(
      { name, version: '1' },
      { capabilities: { resources: { subscribe: true, listChanged: true } } },
    );
    mcp.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
      content: [{ type: 'text', text: `${name}: ${text}` }],
    }));
    mcp.registerTool('ask', {}, async () =>
      inputRequired({
        inputRequests: {
          q: inputRequired.elicit({ message: name, requestedSchema: { type: 'object', properties: {} } }),
        },
      }),
    );
    mcp.registerResource('note', 'memo:note', {}, (uri) => ({ contents: [{ uri: uri.href, text: name }] }));
    return mcp;
  });
}

const modern = { era: 'modern', version: '2026-07-28' } as const;

function params(own: JsonObject = {}): JsonObject {
  return withEnvelope(own, {
    version: '2026-07-28',
    clientInfo: { name: 'c', version: '1' },
    clientCapabilities: { elicitation: { form: {} } },
  });
}

describe('several servers of the modern protocol', () => {
  const servers = { a: server('a'), b: server('b') };
  const on = session(Object.entries(servers).map(([name, handler]) => fetchTarget(name, handler)));

  test('are discovered as one', async () => {
    expect(await answered(on, 'server/discover', params(), modern)).toMatchObject({
      supportedVersions: ['2026-07-28'],
      resultType: 'complete',
      ttlMs: 0,
      capabilities: { tools: { listChanged: true } },
    });
  });

  test('list, call and read', async () => {
    const tools = (await answered(on, 'tools/list', params(), modern)) as { tools: { name: string }[] };
    expect(tools.tools.map(({ name }) => name)).toEqual(['a_echo', 'a_ask', 'b_echo', 'b_ask']);
    const called = await answered(on, 'tools/call', params({ name: 'b_echo', arguments: { text: 'x' } }), modern);
    expect(called).toMatchObject({ content: [{ text: 'b: x' }], resultType: 'complete' });
    const read = await answered(on, 'resources/read', params({ uri: 'a+memo:note' }), modern);
    expect(read).toMatchObject({ contents: [{ uri: 'a+memo:note', text: 'a' }] });
  });

  test('ask for input with their results', async () => {
    expect(await answered(on, 'tools/call', params({ name: 'a_ask' }), modern)).toMatchObject({
      resultType: 'input_required',
      inputRequests: { q: { method: 'elicitation/create', params: { message: 'a' } } },
    });
  });

  test('tell of changes on one subscription', async () => {
    const client = new Client();
    const got = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const filter = { toolsListChanged: true, resourceSubscriptions: ['b+memo:note'] };
    const calling = on.request(
      { kind: 'request', id: 'sub', method: 'subscriptions/listen', params: params({ notifications: filter }) },
      call(modern),
      {
        onMessage: (message) => {
          client.onMessage(message);
          got[client.messages.length - 1]?.resolve();
        },
        onEnd: (failure) => client.onEnd(failure),
      },
    );
    await got[0]?.promise;
    servers.b.notify.resourceUpdated('memo:note');
    servers.b.notify.promptsChanged();
    await got[1]?.promise;
    servers.a.notify.toolsChanged();
    await got[2]?.promise;
    calling.cancel();
    const id = { 'io.modelcontextprotocol/subscriptionId': 'sub' };
    expect(client.messages).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: filter, _meta: id } },
      { method: 'notifications/resources/updated', params: { uri: 'b+memo:note', _meta: id } },
      { method: 'notifications/tools/list_changed', params: { _meta: id } },
    ]);
  });
});
