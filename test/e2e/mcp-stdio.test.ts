import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { ask, type Answer, type RunningGateway, startGateway } from './gateway.ts';

const modules = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/', import.meta.url));

let folder: string;
let gateway: RunningGateway | null = null;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'gw-mcp-')));
});
afterEach(async () => {
  await gateway?.close();
  gateway = null;
  await rm(folder, { recursive: true });
});

function target(name: string, args: readonly string[]): string {
  return `  - name: ${name}\n    stdio: {cmd: ${process.execPath}, args: ${JSON.stringify(args)}}\n`;
}

function config(): string {
  return `mcp:
  port: 800
  targets:
${target('files', [join(modules, 'server-filesystem/dist/index.js'), folder])}${target('all', [join(modules, 'server-everything/dist/index.js'), 'stdio'])}`;
}

/** Processes that were started for this test. */
function programs(): string[] {
  const lines = execFileSync('ps', ['-eo', 'pid,stat,args'], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(folder) && !/^\s*\d+\s+Z/.test(line));
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Each request comes over a connection of its own, so that any thread may get it. */
async function connected(
  port: number,
): Promise<{ readonly client: Client; readonly transport: StreamableHTTPClientTransport }> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
    requestInit: { headers: { connection: 'close' } },
  });
  await client.connect(transport);
  return { client, transport };
}

test('a session with programs goes on in every data thread, and ends in all of them', async () => {
  gateway = await startGateway(config(), { threads: 3 });
  const port = gateway.port(800);
  await writeFile(join(folder, 'a.txt'), 'here I am');
  const { client, transport } = await connected(port);
  for (let i = 0; i < 12; i++) {
    const { content } = await client.callTool({
      name: 'files_read_text_file',
      arguments: { path: join(folder, 'a.txt') },
    });
    expect(content).toEqual([{ type: 'text', text: 'here I am' }]);
  }
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['files_read_text_file', 'all_echo']));
  const progress: number[] = [];
  await client.callTool(
    { name: 'all_trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } },
    undefined,
    { onprogress: ({ progress: step }) => progress.push(step) },
  );
  expect(progress).toEqual([1, 2]);
  expect(programs()).toHaveLength(1);
  const id = transport.sessionId ?? '';
  await transport.terminateSession();
  await client.close();
  await until(() => programs().length === 0);
  for (let i = 0; i < 6; i++) expect((await listTools(port, id)).status).toBe(404);
});

test('sessions begun and left leave nothing behind when the gateway ends', async () => {
  gateway = await startGateway(config(), { threads: 2 });
  await Promise.all(Array.from({ length: 5 }, () => connected(gateway?.port(800) ?? 0)));
  expect(programs()).toHaveLength(5);
  await gateway.close();
  expect(programs()).toEqual([]);
});

test('a reload that removes the backend ends its programs', async () => {
  gateway = await startGateway(config(), { threads: 2 });
  const { client } = await connected(gateway.port(800));
  expect(programs()).toHaveLength(1);
  await gateway.reload(`${config()}\n# touched`);
  expect((await client.listTools()).tools.length).toBeGreaterThan(10);
  await gateway.reload('binds: []');
  await until(() => programs().length === 0);
  await client.close();
});

test('a program that dies fails the call under way, and the next one meets another program', async () => {
  const script = `
    const rl = require('node:readline').createInterface({ input: process.stdin });
    rl.on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      const answer = (result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      if (method === 'initialize') answer({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });
      else if (method === 'tools/list') answer({ tools: [] });
      else if (params?.name === 'die') process.exit(9);
      else if (params?.name === 'pid') answer({ content: [{ type: 'text', text: String(process.pid) }] });
      else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } }));
    });`;
  gateway = await startGateway(`mcp:\n  port: 800\n  targets:\n${target('one', ['-e', script, folder])}`, {
    threads: 2,
  });
  const { client } = await connected(gateway.port(800));
  const pid = () => client.callTool({ name: 'pid' });
  const before = await pid();
  await expect(client.callTool({ name: 'die' })).rejects.toThrow('one: the program ended with code 9');
  await gateway.logged('warn', 'the program ended with code 9', 'target=one');
  const after = await pid();
  expect(after.content).not.toEqual(before.content);
  expect(programs()).toHaveLength(1);
  await client.close();
});

test('a program waits for the next client without a session, over reloads that leave its target as it is', async () => {
  const script = `
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id } = JSON.parse(line);
      const result = { content: [{ type: 'text', text: 'pid ' + process.pid }], supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });`;
  const text = `mcp:\n  port: 800\n  targets:\n${target('one', ['-e', script, folder])}`;
  gateway = await startGateway(text, { threads: 1 });
  const port = gateway.port(800);
  const pid = async (): Promise<string> => {
    const { body } = await lone(port, 'tools/call', { name: 'pid' });
    return /pid (\d+)/.exec(body)?.[1] ?? body;
  };
  const spares = async (): Promise<unknown> => {
    const dump = await (await fetch(`${gateway?.admin}/config_dump`)).text();
    return /"programs":\s*({[^}]*})/.exec(dump)?.[1]?.replaceAll(/\s/g, '');
  };
  await pid();
  await until(() => programs().length === 1);
  const [waiting] = programs();
  expect(await spares()).toBe('{"running":0,"spare":1,"restarts":0}');
  await gateway.reload(`${text}\n# touched`);
  expect(await pid()).toBe(waiting?.trim().split(' ')[0]);
  await until(() => programs().length === 1);
  await gateway.reload(text.replace('name: one', 'name: two'));
  await until(() => programs().length === 0);
  await pid();
  await until(() => programs().length === 1);
  await gateway.close();
  expect(programs()).toEqual([]);
});

/** A request of a client that has no sessions. */
function lone(port: number, method: string, params: object): Promise<Answer> {
  const of = 'io.modelcontextprotocol/';
  const own = {
    [`${of}protocolVersion`]: '2026-07-28',
    [`${of}clientInfo`]: { name: 't', version: '1' },
    [`${of}clientCapabilities`]: {},
  };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': 'pid' };
  return post(port, { id: 1, method, params: { ...params, _meta: own } }, headers);
}

test('a thousand sessions begun and left are bounded in what they hold, and leave nothing behind', async () => {
  const result = '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}';
  const script = `while read -r line; do
    id=\${line#*'"id":'}
    case "$line" in
      *initialize*) echo '{"jsonrpc":"2.0","id":'"\${id%%,*}"',"result":${result}}' ;;
      *'"id":'*) echo '{"jsonrpc":"2.0","id":'"\${id%%,*}"',"error":{"code":-32601,"message":"no such method"}}' ;;
    esac
  done`;
  await writeFile(join(folder, 'server.sh'), script);
  const stdio = `{cmd: /bin/sh, args: [${join(folder, 'server.sh')}]}`;
  gateway = await startGateway(`mcp:\n  port: 800\n  targets: [{name: one, stdio: ${stdio}}]`, { threads: 2 });
  const port = gateway.port(800);
  for (let i = 0; i < 100; i++) {
    const begun = await Promise.all(Array.from({ length: 10 }, () => post(port, handshake)));
    expect(begun.every(({ status, headers }) => status === 200 && headers['mcp-session-id'] !== undefined)).toBe(true);
  }
  await until(() => programs().length <= 512);
  await gateway.close();
  expect(programs()).toEqual([]);
});

const handshake = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

function listTools(port: number, session: string): Promise<Answer> {
  return post(port, { id: 1, method: 'tools/list' }, { 'mcp-session-id': session });
}

function post(port: number, message: object, headers: Record<string, string> = {}): Promise<Answer> {
  return ask(port, '/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
}

test('programs of sessions that lie idle end', async () => {
  const local = ['adminAddr', 'statsAddr', 'readinessAddr'].map((name) => `${name}: "127.0.0.1:1"`).join(', ');
  gateway = await startGateway(`config: {${local}, mcp: {sessionTtl: 1s}}\n${config()}`, { threads: 2 });
  const port = gateway.port(800);
  const begun = await Promise.all(Array.from({ length: 6 }, () => post(port, handshake)));
  await until(() => programs().length === 0);
  for (const { headers } of begun) expect((await listTools(port, String(headers['mcp-session-id']))).status).toBe(404);
});
