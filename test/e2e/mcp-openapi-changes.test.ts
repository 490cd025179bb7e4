import { afterEach, expect, test } from '@jest/globals';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

function document(...names: readonly string[]): string {
  const paths = Object.fromEntries(names.map((name) => [`/${name}`, { get: { operationId: name } }]));
  return JSON.stringify({ openapi: '3.1.0', info: { title: 'Changing', version: '1' }, paths });
}

async function changing() {
  const { port } = cleanup.add(
    await upstream((request, response) => response.end(JSON.stringify({ at: request.url }))),
  );
  const config = (schema: string): string => `gateways: {default: {port: 80}}
mcp:
  targets:
  - {name: api, openapi: {host: "127.0.0.1", port: ${port}, path: /, schema: ${JSON.stringify(schema)}}}`;
  const gateway = cleanup.add(await startGateway(config(document('one')), { threads: 2 }));
  return {
    url: new URL(`http://127.0.0.1:${gateway.port(80)}/mcp`),
    reload: (schema: string) => gateway.reload(config(schema)),
  };
}

test('a client of the older protocol is told of new tools, and calls them in the same session', async () => {
  const { url, reload } = await changing();
  const client = new Client({ name: 'test', version: '1' });
  let told = false;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (told = true));
  const transport = new StreamableHTTPClientTransport(url);
  await client.connect(transport);
  const session = transport.sessionId;
  expect(client.getServerCapabilities()?.tools).toEqual({ listChanged: true });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['one']);
  // The client opens its stream when it likes.
  for (let round = 0; !told; round++) await reload(document('one', 'two', `more${round}`));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    'one',
    'two',
    expect.stringMatching('more'),
  ]);
  const called = await client.callTool({ name: 'two', arguments: {} });
  expect(called['structuredContent']).toEqual({ at: '/two' });
  expect(transport.sessionId).toBe(session);
  await client.close();
});

test('a client of the newer protocol is told of new tools', async () => {
  const { url, reload } = await changing();
  let tell = (_names: readonly string[]): void => {};
  const told = new Promise<readonly string[]>((resolve) => (tell = resolve));
  const client = new ModernClient(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      listChanged: { tools: { onChanged: (_error, tools) => tell((tools ?? []).map(({ name }) => name)) } },
    },
  );
  await client.connect(new ModernTransport(url));
  await reload(document('two'));
  expect(await told).toEqual(['two']);
  await client.close();
});

test('a document that has become unfit leaves the tools as they are', async () => {
  const { url, reload } = await changing();
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(url));
  const unfit = JSON.stringify({ openapi: '3.1.0', paths: { '/a': { get: {} } } });
  const message: unknown = expect.stringContaining('operationId is missing');
  expect(await reload(unfit)).toMatchObject({ kind: 'rejected', error: { message } });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['one']);
  await client.close();
});
