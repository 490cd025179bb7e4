import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { LegacyPeer, ModernPeer } from '../proxy/mcp/targets/servers.ts';
import { Cleanup } from './gateway.ts';
import { facing } from './wire.ts';

const memory = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-memory/dist/index.js', import.meta.url),
);
const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const peers = [new LegacyPeer(), new ModernPeer()];
const ports: number[] = [];
beforeAll(async () => {
  for (const { server } of peers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // `as`: a server of TCP has no other address.
    ports.push((server.address() as AddressInfo).port);
  }
});
afterAll(() => {
  for (const { server } of peers) server.closeAllConnections();
  for (const { server } of peers) server.close();
});

/** A server with sessions, one of the modern protocol, a program; and one that is down, if asked for. */
async function connected(parts = '', down = ''): Promise<Client> {
  const http = ['old', 'new'].map((name, at) => `{name: ${name}, mcp: {host: "http://127.0.0.1:${ports[at]}/mcp"}}`);
  const program = `{name: memory, stdio: {cmd: "${process.execPath}", args: ["${memory}"]}}`;
  const targets = [...http, program, down].filter((each) => each !== '').join(', ');
  const gateway = await facing(cleanup, `routes: [{backends: [{mcp: {${parts} targets: [${targets}]}}]}]`);
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gateway.http}/mcp`));
  // `as`: the library's own types differ in what may be undefined.
  await client.connect(transport as never);
  cleanup.add({ close: () => client.close() });
  return client;
}

const down = '{name: down, mcp: {host: "http://127.0.0.1:1/mcp"}}';
const targetsOf = (names: readonly { readonly name: string }[]): string[] => [
  ...new Set(names.map(({ name }) => name.split('_')[0] ?? '')),
];

test('servers of three kinds look like one', async () => {
  const client = await connected();
  const { tools } = await client.listTools();
  expect(targetsOf(tools)).toEqual(['old', 'new', 'memory']);
  const echo = { name: 'old_echo', arguments: { text: 'hi' } };
  expect((await client.callTool(echo)).content).toEqual([{ type: 'text', text: 'hi' }]);
  expect((await client.callTool({ ...echo, name: 'new_echo' })).content).toEqual([{ type: 'text', text: 'hi' }]);
  expect((await client.callTool({ name: 'memory_read_graph' })).isError).not.toBe(true);
  expect((await client.readResource({ uri: 'old+memo:note' })).contents).toEqual([
    { uri: 'old+memo:note', text: 'a note' },
  ]);
  await client.ping();
});

test('what one of them asks of the client finds its way back', async () => {
  const client = await connected();
  expect((await client.callTool({ name: 'old_ask' })).content).toEqual([{ type: 'text', text: '{"name":"Ada"}' }]);
});

test('one that is down fails the handshake of all', async () => {
  await expect(connected('', down)).rejects.toThrow();
});

test('one that is down is left out where that is wanted', async () => {
  const client = await connected('failureMode: failOpen,', down);
  expect(targetsOf((await client.listTools()).tools)).toEqual(['old', 'new', 'memory']);
  await expect(client.callTool({ name: 'down_echo', arguments: {} })).rejects.toThrow();
});
