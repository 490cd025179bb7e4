/** Every feature of both SDKs' clients, at the reference server directly and through the gateway, with the same outcome. */
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  Client as NewClient,
  SSEClientTransport as NewSse,
  StreamableHTTPClientTransport as NewStreamable,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { type RunningServer, startEverything } from '../mcp/everything.ts';
import { Cleanup, type RunningGateway, startGateway } from './gateway.ts';
import { CAPABILITIES, hearNew, hearOld, type Transcript, walk, walkTasks } from './mcp-features.ts';

const PROGRAM = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const STDIO = { command: process.execPath, args: [PROGRAM, 'stdio'], stderr: 'ignore' as const };
/** Nothing that the server says holds this name. */
const NAME = 'zz9';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let http: RunningServer;
let sse: RunningServer;
let gateway: RunningGateway;
beforeAll(async () => {
  [http, sse] = await Promise.all([startEverything(), startEverything('sse')]);
  const targets = [
    `mcp: {host: "${http.url}"}`,
    `sse: {host: "${sse.url}"}`,
    `stdio: {cmd: "${STDIO.command}", args: ["${PROGRAM}", stdio]}`,
  ];
  const bind = (port: number, target: string, mode: string): string =>
    `- {port: ${port}, listeners: [{routes: [{name: r${port}, backends: [{mcp: {prefixMode: ${mode}, targets: [{name: ${NAME}, ${target}}]}}]}]}]}`;
  const binds = targets.flatMap((target, i) => [bind(80 + i, target, 'conditional'), bind(90 + i, target, 'always')]);
  gateway = await startGateway(`binds:\n${binds.join('\n')}`, { threads: 2 });
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([http.close(), sse.close()]);
});

/** What the server has to refuse, and the call that is given up. */
const REFUSED = ['cancelled', 'elicitation by error', 'no prompt', 'prompt without arguments', 'read nothing'];

const INFO = { name: 'test', version: '1' };
const SERVERS = ['streamable HTTP', 'server-sent events', 'a program'] as const;
type Server = (typeof SERVERS)[number];

/** Of the gateway, or, without a port, of the server itself. */
function addressOf(server: Server, port: number | null, path: string): URL {
  if (port !== null) return new URL(`http://127.0.0.1:${gateway.port(port + SERVERS.indexOf(server))}${path}`);
  return new URL(server === 'streamable HTTP' ? http.url : sse.url);
}

const plain = { named: (name: string) => name, at: (uri: string) => uri };
const prefixed = { named: (name: string) => `${NAME}_${name}`, at: (uri: string) => `${NAME}+${uri}` };

async function byOld(server: Server, port: number | null, path = '/mcp'): Promise<Transcript> {
  const client = cleanup.add(new OldClient(INFO, { capabilities: CAPABILITIES }));
  const all = hearOld(client);
  const url = addressOf(server, port, path);
  const direct = server === 'a program' ? new StdioClientTransport(STDIO) : null;
  const older = path === '/sse' || (port === null && server === 'server-sent events');
  const transport =
    (port === null ? direct : null) ?? (older ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url));
  // `as`: the library's own types differ in what may be undefined.
  await client.connect(transport as never);
  const ways = port !== null && port >= 90 ? prefixed : plain;
  const said = { ...(await walk(client, all, ways)), tasks: await walkTasks(client, ways.named) };
  return settled(said);
}

async function byNew(server: Server, port: number | null): Promise<Transcript> {
  const client = cleanup.add(new NewClient(INFO, { capabilities: CAPABILITIES }));
  const all = hearNew(client);
  const url = addressOf(server, port, '/mcp');
  const direct =
    server === 'a program' ? new NewStdio(STDIO) : server === 'server-sent events' ? new NewSse(url) : null;
  await client.connect((port === null ? direct : null) ?? new NewStreamable(url));
  return settled(await walk(client, all, port !== null && port >= 90 ? prefixed : plain));
}

function asListed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What the server refuses. */
function failures(said: Transcript): string[] {
  const failed = Object.entries(said).filter(([, value]) => Object.hasOwn(Object(value), 'failed'));
  return failed.map(([what]) => what).toSorted();
}

/** Without what differs from run to run, and without the gateway's prefixes. */
function settled(said: Transcript): Transcript {
  const text = JSON.stringify(said)
    .replaceAll(`${NAME}_`, '')
    .replaceAll(`${NAME}+`, '')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/"[0-9a-f]{32}"/g, '"<id>"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\d{1,2}:\d\d:\d\d(?:\s[AP]M)?/g, '<time>')
    .replaceAll(/"blob":"[^"]*"/g, '"blob":"<blob>"');
  return JSON.parse(text) as Transcript; // what was written
}

describe.each(SERVERS)('at a server over %s', (server) => {
  test.each([
    ['the first generation', byOld],
    ['the second generation', byNew],
  ])('a client of %s meets the same through the gateway, under names with and without prefixes', async (_name, by) => {
    const [direct, through, renamed] = await Promise.all([by(server, null), by(server, 80), by(server, 90)]);
    // A library that opens a stream again may be asked again what it has answered: through the gateway it is not.
    const once = { ...direct, asked: [...new Set(asListed(direct['asked']))] };
    expect(through).toEqual(once);
    // Cursors of lists that are made of several are the gateway's own; this server takes any.
    expect({ ...renamed, 'a bad cursor': direct['a bad cursor'] }).toEqual(once);
    expect(renamed['a bad cursor']).toMatchObject({ failed: { code: -32_602 } });
    expect(failures(direct)).toEqual(REFUSED);
  });
});

test('a client of the older transport meets the same', async () => {
  const [direct, through] = await Promise.all([byOld('streamable HTTP', null), byOld('streamable HTTP', 80, '/sse')]);
  expect(through).toEqual(direct);
});
