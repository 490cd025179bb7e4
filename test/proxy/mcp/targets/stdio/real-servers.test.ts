import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import type { TargetConnection } from '../../../../../proxy/mcp/targets/contract.ts';
import { ask, at, Heard, initialize, listAt, request, result, targetCall, until, type World, world } from './world.ts';

const modules = fileURLToPath(new URL('../../../../../node_modules/@modelcontextprotocol/', import.meta.url));

let its: World;
let folder: string;
beforeEach(async () => {
  its = world();
  folder = await realpath(await mkdtemp(join(tmpdir(), 'gw-stdio-')));
});
afterEach(async () => {
  await its.close();
  await rm(folder, { recursive: true });
});

async function opened(
  server: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<TargetConnection> {
  const connection = its.run(process.execPath, [join(modules, server, 'dist/index.js'), ...args], { env });
  await result(connection, initialize());
  await connection.post({ kind: 'notification', method: 'notifications/initialized', params: undefined }, targetCall());
  return connection;
}

test('server-everything lists, calls, reports progress and logs', async () => {
  const server = await opened('server-everything', ['stdio']);
  const tools = listAt(await result(server, request('tools/list', {})), 'tools');
  expect(tools.map((tool) => at(tool, 'name'))).toContain('echo');
  expect(await result(server, request('tools/call', { name: 'echo', arguments: { message: 'hi' } }))).toMatchObject({
    content: [{ type: 'text', text: 'Echo: hi' }],
  });
  const long = ask(
    server,
    request('tools/call', {
      name: 'trigger-long-running-operation',
      arguments: { duration: 0.3, steps: 3 },
      _meta: { progressToken: 'p' },
    }),
  );
  const listener = new Heard();
  server.listen(targetCall(), listener);
  expect(await long.end).toBeNull();
  const progress = long.messages.filter((each) => 'method' in each && each.method === 'notifications/progress');
  expect(progress).toHaveLength(3);
  expect(await result(server, request('prompts/list', {}))).toHaveProperty('prompts');
  expect(await result(server, request('resources/templates/list', {}))).toHaveProperty('resourceTemplates');
});

test('server-memory keeps what it was told, for as long as its conversation', async () => {
  const server = await opened('server-memory', [], { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') });
  const entities = [{ name: 'gw', entityType: 'gateway', observations: ['stands between'] }];
  await result(server, request('tools/call', { name: 'create_entities', arguments: { entities } }));
  const graph = await result(server, request('tools/call', { name: 'read_graph', arguments: {} }));
  expect(at(graph, 'structuredContent', 'entities')).toEqual(entities);
});

test('server-filesystem reads files of its folder and no other', async () => {
  await writeFile(join(folder, 'a.txt'), 'ünï\n'.repeat(100_000));
  const server = await opened('server-filesystem', [folder]);
  const read = (path: string) => result(server, request('tools/call', { name: 'read_text_file', arguments: { path } }));
  expect(at(await read(join(folder, 'a.txt')), 'content', 0, 'text')).toBe('ünï\n'.repeat(100_000));
  expect(await read('/etc/passwd')).toMatchObject({ isError: true });
});

test('they end when their conversations do', async () => {
  const servers = await Promise.all([
    opened('server-everything', ['stdio']),
    opened('server-memory'),
    opened('server-filesystem', [folder]),
  ]);
  expect(its.programs.count).toBe(3);
  await Promise.all(servers.map((server) => server.close(null)));
  await until(() => its.programs.count === 0);
});
