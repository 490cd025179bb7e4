import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { startEverything, type RunningServer } from '../mcp/everything.ts';
import { Cleanup, startGateway } from './gateway.ts';

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
  await client.connect(new SSEClientTransport(new URL(url)) as never);
  cleanup.add(client);
  return client;
}

describe('a client with the older transport', () => {
  test.each([1, 2])('is served by %i data threads', async (threads) => {
    const gateway = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}
routes: [{backends: [{mcp: {targets: [{name: everything, mcp: {host: "${server.url}"}}]}}]}]
`,
        { threads },
      ),
    );
    const url = `http://127.0.0.1:${gateway.port(80)}/sse`;
    // Which thread takes a connection is chance: several clients meet both.
    const clients = await Promise.all(Array.from({ length: 4 }, () => connected(url)));
    for (const client of clients) {
      expect((await client.listTools()).tools.length).toBeGreaterThan(5);
      const sum = await client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } });
      expect(JSON.stringify(sum.content)).toContain('3');
    }
  });

  test('is told what the server does not know', async () => {
    const gateway = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}
routes: [{backends: [{mcp: {targets: [{name: everything, mcp: {host: "${server.url}"}}]}}]}]
`,
      ),
    );
    const client = await connected(`http://127.0.0.1:${gateway.port(80)}/sse`);
    const missing: unknown = await client.callTool({ name: 'missing' }).catch((error: unknown) => error);
    expect(JSON.stringify(missing)).toMatch(/not found|-32602|Unknown tool/);
  });
});
