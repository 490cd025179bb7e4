import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startEverything, type RunningServer } from '../mcp/everything.ts';
import { Cleanup } from './gateway.ts';
import { facing } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let server: RunningServer;
beforeAll(async () => {
  server = await startEverything();
});
afterAll(() => server.close());

async function connected(url: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  // `as`: the library's own types differ in what may be undefined.
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
  return client;
}

describe('one server behind the gateway', () => {
  test('looks as it does directly', async () => {
    const gateway = await facing(
      cleanup,
      `routes: [{backends: [{mcp: {targets: [{name: everything, mcp: {host: "${server.url}"}}]}}]}]`,
    );
    const direct = await connected(server.url);
    const through = await connected(`http://127.0.0.1:${gateway.http}/mcp`);
    expect(await through.listTools()).toEqual(await direct.listTools());
    expect(await through.listPrompts()).toEqual(await direct.listPrompts());
    expect(await through.listResources()).toEqual(await direct.listResources());
    const call = { name: 'get-sum', arguments: { a: 1, b: 2 } };
    expect(await through.callTool(call)).toEqual(await direct.callTool(call));
    await Promise.all([direct.close(), through.close()]);
  });

  test('is told in the log and counted, by method, item and target', async () => {
    const gateway = await facing(
      cleanup,
      `routes: [{backends: [{mcp: {targets: [{name: everything, mcp: {host: "${server.url}"}}]}}]}]`,
    );
    const client = await connected(`http://127.0.0.1:${gateway.http}/mcp`);
    await client.listTools();
    await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
    await client.callTool({ name: 'nothing-of-the-kind' });
    await client.close();
    const [session] = /mcp.session.id=\S+/.exec(await gateway.logged('mcp.method.name=tools/list')) ?? [];
    const called = await gateway.logged('gen_ai.tool.name=echo');
    expect(called).toContain('protocol=mcp mcp.method.name=tools/call mcp.target=everything mcp.resource.type=tool');
    expect(called).toContain(session);
    const metrics = await (await fetch(`${gateway.stats}/metrics`)).text();
    const counted = metrics.split('\n').filter((line) => line.startsWith('gw_mcp_requests_total{'));
    expect(
      counted.map((line) =>
        /method="([^"]*)",resource_type="([^"]*)",server="([^"]*)",resource="([^"]*)".* (\d+)$/.exec(line)?.slice(1),
      ),
    ).toEqual(
      expect.arrayContaining([
        ['initialize', 'unknown', 'unknown', 'unknown', '1'],
        ['tools/list', 'tool', 'unknown', 'unknown', '1'],
        ['tools/call', 'tool', 'everything', 'echo', '1'],
      ]),
    );
  });
});
