import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { decodeConfigDump } from '../../src/admin/protocol/decode-config-dump.ts';
import { mcpRows, type McpRow } from '../../src/admin/views/mcp.ts';
import { startEverything, type RunningServer } from '../mcp/everything.ts';
import { eventually } from './clients.ts';
import { Cleanup, type RunningGateway, startGateway } from './gateway.ts';

const everything = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);
const SECRET = 'the-secret-of-a-program';

let server: RunningServer;
beforeAll(async () => {
  server = await startEverything();
});
afterAll(() => server.close());

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

function started(mcp: string, threads?: number): Promise<RunningGateway> {
  return startGateway(`mcp:\n  port: 800\n${mcp}`, threads === undefined ? {} : { threads });
}

const http = (): string => `  - {name: http, mcp: {host: "${server.url}"}}\n`;
const program = `  - {name: program, stdio: {cmd: "${process.execPath}", args: ["${everything}", stdio, --api-key=${SECRET}], env: {TOKEN: ${SECRET}}}}\n`;
const down = '  - {name: down, mcp: {host: "http://127.0.0.1:1/mcp"}}\n';

/** Each request comes over a connection of its own, so that any thread may get it. */
async function connected(gateway: RunningGateway) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gateway.port(800)}/mcp`), {
    requestInit: { headers: { connection: 'close' } },
  });
  // `as`: the library's own types differ in what may be undefined.
  await client.connect(transport as never);
  cleanup.add({ close: () => client.close() });
  return { client, transport };
}

async function dumpText({ admin }: RunningGateway): Promise<string> {
  return (await fetch(`${admin}/config_dump`)).text();
}

async function rowsOf(gateway: RunningGateway): Promise<Readonly<Record<string, McpRow>>> {
  const rows = mcpRows(decodeConfigDump(JSON.parse(await dumpText(gateway))));
  return Object.fromEntries(rows.map((row) => [row.target, row]));
}

test('a gateway that nobody has asked anything knows its targets and nothing of them', async () => {
  const gateway = cleanup.add(await started(`  targets:\n${http()}${program}`, 2));
  expect(await rowsOf(gateway)).toMatchObject({
    http: { transport: 'streamable', state: 'notAsked', protocolVersions: [], tools: null, calls: 0, sessions: 0 },
    program: { transport: 'stdio', state: 'notAsked', programs: 0, restarts: 0 },
  });
});

test('servers over HTTP and programs are told of, whichever thread a request came to', async () => {
  const gateway = cleanup.add(await started(`  targets:\n${http()}${program}`, 3));
  const [one, two] = [await connected(gateway), await connected(gateway)];
  for (let i = 0; i < 5; i++) {
    await one.client.listTools();
    await two.client.callTool({ name: 'http_echo', arguments: { message: 'hi' } });
  }
  await expect(two.client.callTool({ name: 'program_echo', arguments: { message: 7 } })).resolves.toBeDefined();
  const { http: overHttp, program: overPipes } = await rowsOf(gateway);
  const known = { state: 'ok', protocolVersions: ['2025-11-25'], sessions: 2, backendSessions: 2, failures: 0 };
  expect(overHttp).toMatchObject({ ...known, server: 'mcp-servers/everything 2.0.0', programs: null });
  expect(overPipes).toMatchObject({ ...known, server: 'mcp-servers/everything 2.0.0', programs: 2, restarts: 0 });
  expect(overHttp?.toolNames).toEqual(expect.arrayContaining(['http_echo']));
  expect(overPipes?.toolNames).toEqual(expect.arrayContaining(['program_echo']));
  expect(overHttp?.tools).toBe(overHttp?.toolNames.length);
  // Two handshakes, the lists and the calls.
  expect(overHttp?.calls).toBeGreaterThanOrEqual(2 + 5);
  expect(overPipes?.calls).toBeGreaterThanOrEqual(2 + 1);

  await one.transport.terminateSession();
  await eventually('its program ends', async () => (await rowsOf(gateway))['program']?.programs === 1);
  expect(await rowsOf(gateway)).toMatchObject({ http: { sessions: 1 }, program: { sessions: 1, backendSessions: 1 } });
});

test('a replica that goes on with a session tells the version that it goes on in', async () => {
  const text = `config: {adminAddr: "127.0.0.1:1", statsAddr: "127.0.0.1:1", readinessAddr: "127.0.0.1:1", session: {key: "${'ab'.repeat(32)}"}}
mcp:\n  port: 800\n  targets:\n${http()}`;
  const first = cleanup.add(await startGateway(text));
  const replica = cleanup.add(await startGateway(text));
  const { client, transport } = await connected(first);
  await client.ping();
  const answer = await fetch(`http://127.0.0.1:${replica.port(800)}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': transport.sessionId ?? '',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect(await answer.text()).toContain('echo');
  expect((await rowsOf(replica))['http']).toMatchObject({ state: 'ok', protocolVersions: ['2025-11-25'] });
});

test('sessions that any thread may go on with are counted once, and not when they have ended', async () => {
  const gateway = cleanup.add(await started(`  targets:\n${http()}`, 3));
  const { client, transport } = await connected(gateway);
  for (let i = 0; i < 12; i++) await client.ping();
  expect((await rowsOf(gateway))['http']).toMatchObject({ sessions: 1, backendSessions: 1 });
  await transport.terminateSession();
  expect((await rowsOf(gateway))['http']).toMatchObject({ sessions: 0, backendSessions: 0 });
});

test('a server that is down fails since its first failure, and says why', async () => {
  const gateway = cleanup.add(await started(`  failureMode: failOpen\n  targets:\n${http()}${down}`));
  await connected(gateway);
  const { http: up, down: failing } = await rowsOf(gateway);
  expect(up).toMatchObject({ state: 'ok', sessions: 1 });
  expect(failing).toMatchObject({
    state: 'failing',
    sessions: 0,
    protocolVersions: [],
    lastError: expect.stringContaining('connection refused'),
  });
  expect(failing?.failures).toBe(failing?.calls);
  expect(Date.parse(failing?.failingSince ?? '')).not.toBeNaN();
});

test('a program that cannot be started says so, and when it is tried again', async () => {
  const gateway = cleanup.add(
    await started('  failureMode: failOpen\n  targets:\n  - {name: none, stdio: {cmd: /no/such/program}}\n'),
  );
  for (let i = 0; i < 4; i++) await connected(gateway).catch(() => null);
  const { none } = await rowsOf(gateway);
  expect(none).toMatchObject({
    state: 'failing',
    programs: 0,
    lastError: expect.stringContaining('there is no such command'),
  });
  expect(none?.retryInMs).toBeGreaterThan(0);
});

test('a reload that leaves a target as it is leaves what is known of it', async () => {
  const gateway = cleanup.add(await started(`  targets:\n${http()}`));
  const { client } = await connected(gateway);
  await client.listTools();
  const before = (await rowsOf(gateway))['http'];
  await gateway.reload(`mcp:\n  port: 800\n  targets:\n${http()}${program}`);
  const after = await rowsOf(gateway);
  expect(after['http']).toMatchObject({ calls: before?.calls, tools: before?.tools, state: 'ok' });
  // The names that clients see are those of now.
  expect(after['http']?.toolNames).toContain('http_echo');
  expect(before?.toolNames).toContain('echo');
  await gateway.reload(`mcp:\n  port: 800\n  targets:\n  - {name: http, mcp: {host: "http://127.0.0.1:1/other"}}\n`);
  expect((await rowsOf(gateway))['http']).toMatchObject({ calls: 0, state: 'notAsked', backendSessions: 0 });
});

test('what a document describes are tools before anybody asks, and only calls of the service count', async () => {
  const document = `{openapi: 3.1.0, info: {title: Pets, version: "1"}, paths: {/pets: {get: {operationId: listPets, responses: {"200": {description: ok}}}}}}`;
  const gateway = cleanup.add(
    await started(
      `  targets:\n  - {name: pets, openapi: {host: "http://127.0.0.1:1", schema: ${JSON.stringify(document)}}}\n`,
    ),
  );
  expect((await rowsOf(gateway))['pets']).toMatchObject({ transport: 'openapi', tools: 1, state: 'notAsked' });
  const { client } = await connected(gateway);
  await client.listTools();
  expect((await rowsOf(gateway))['pets']).toMatchObject({ calls: 0, state: 'notAsked', toolNames: ['listPets'] });
  await client.callTool({ name: 'listPets', arguments: {} }).catch(() => null);
  expect((await rowsOf(gateway))['pets']).toMatchObject({ calls: 1 });
});

test('no secret of a program is shown', async () => {
  const gateway = cleanup.add(await started(`  targets:\n${program}`));
  const { client } = await connected(gateway);
  await client.listTools();
  const text = await dumpText(gateway);
  expect(text).toContain('"TOKEN": "<redacted>"');
  expect(text).toContain('--api-key=<redacted>');
  expect(text).not.toContain(SECRET);
});
