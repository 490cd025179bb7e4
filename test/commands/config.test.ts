import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { golden, goldenPath } from '../golden.ts';
import { gwctl } from './gwctl.ts';

const dump = goldenPath('cli/dump.json');
const mcpDump = goldenPath('cli/mcp-dump.json');

describe('proxy config from a saved dump', () => {
  test.each([
    ['all', []],
    ['listeners', []],
    ['listeners', ['-o', 'wide']],
    ['routes', []],
    ['routes', ['-o', 'wide']],
    ['routes', ['-o', 'json']],
    ['policies', []],
    ['backends', []],
    ['backends', ['--all']],
    ['backends', ['--all', '-o', 'wide']],
    ['backends', ['-o', 'json']],
    ['backends', ['-o', 'yaml']],
    ['backends', ['-o', 'name']],
  ])('config %s %j prints what was recorded', async (name, flags) => {
    const { code, stdout } = await gwctl(['proxy', 'config', name, '--file', dump, ...flags]);
    expect(code).toBe(0);
    const file = `cli/config-${[name, ...flags].join('-').replaceAll(/-+/g, '-')}.txt`;
    expect(stdout).toBe(golden(file, stdout));
  });

  test.each([
    [[]],
    [['-o', 'wide']],
    [['-o', 'json']],
    [['-o', 'yaml']],
    [['-o', 'name']],
    [['--tools']],
    [['--tools', '-o', 'json']],
    [['--name', 'files']],
    [['--color', 'always']],
  ])('config mcp %j prints what was recorded', async (flags) => {
    const { code, stdout } = await gwctl(['proxy', 'config', 'mcp', '--file', mcpDump, ...flags]);
    expect(code).toBe(0);
    const file = `cli/config-${['mcp', ...flags].join('-').replaceAll(/-+/g, '-')}.txt`;
    expect(stdout).toBe(golden(file, stdout));
  });

  test('config mcp lists one server by its name, one backend, or one tool', async () => {
    const named = async (...flags: string[]) => {
      const { stdout } = await gwctl(['config', 'mcp', '-f', mcpDump, '-o', 'name', ...flags]);
      return stdout.trimEnd().split('\n');
    };
    expect(await named('--name', 'mcp/new')).toEqual(['mcp/new']);
    expect(await named('--name', 'other')).toEqual(['other/elsewhere']);
    expect(await named('--name', '*/pets/*')).toEqual(['gateway/default/default/pets/backend0/pets']);
    expect(await named('--tools', '--name', '*echo')).toEqual(['everything_echo']);
    expect(await named('--tools', '--name', 'pets')).toEqual(['listPets', 'getPet']);
  });

  test('config mcp of a proxy without MCP servers says so', async () => {
    const empty = { input: '{"backends":[]}' };
    const servers = await gwctl(['config', 'mcp', '-f', '-'], empty);
    expect([servers.code, servers.stderr]).toEqual([0, expect.stringContaining('no backend of MCP servers')]);
    const tools = await gwctl(['config', 'mcp', '-f', '-', '--tools'], empty);
    expect([tools.code, tools.stderr]).toEqual([0, expect.stringContaining('gwctl mcp tools')]);
  });

  test('config all -o json is the dump itself, and can be read back', async () => {
    const first = await gwctl(['config', 'all', '-f', dump, '-o', 'json']);
    expect(JSON.parse(first.stdout)).toEqual(JSON.parse(readFileSync(dump, 'utf8')));
    const second = await gwctl(['config', 'all', '-f', '-', '-o', 'json'], { input: first.stdout });
    expect(second).toEqual(first);
  });

  test('a dump saved as YAML is a dump too', async () => {
    const yaml = await gwctl(['cfg', 'all', '-f', dump, '-o', 'yaml']);
    const table = await gwctl(['c', 'all', '-f', '-'], { input: yaml.stdout });
    expect(table.stdout).toBe((await gwctl(['proxy', 'config', 'all', '-f', dump])).stdout);
  });

  test('health and latency are numbers in JSON', async () => {
    const { stdout } = await gwctl(['config', 'backends', '-f', dump, '-o', 'json']);
    const rows = JSON.parse(stdout) as { health: unknown; latencyMs: unknown }[];
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows)
      expect([typeof row.latencyMs, row.health === null || typeof row.health === 'number']).toEqual(['number', true]);
  });

  test.each([
    ['routes', ['--name', 'CART'], ['route/default/web/shop/cart']],
    ['routes', ['--name', 'shop/c?rt'], ['route/default/web/shop/cart']],
    ['routes', ['--name', '商店.*'], ['route/default/web/shop/cart']],
    ['routes', ['--name', 't', '--name', 'g'], ['route/default/web/t', 'route/g']],
    ['listeners', ['--name', '*.example'], ['listener/https']],
    ['listeners', ['--name', 'default/web', '--name', 'bind/*'], ['listener/http', 'listener/https']],
    ['policies', ['--name', 'backendTLS'], ['policy/p/2']],
    ['policies', ['--name', 'shop/s*'], ['policy/p/1']],
    ['backends', ['--name', 'shop/cart'], ['service/cart/cart-7', 'service/cart/cart-9', 'service/cart/web/cart-8']],
    ['backends', ['--all', '--name', '127.0.0.1:*'], ['backend/echo/127.0.0.1:9000']],
  ])('config %s %j lists only what goes by that name', async (name, flags, expected) => {
    const { code, stdout } = await gwctl(['config', name, '-f', dump, '-o', 'name', ...flags]);
    expect([code, stdout.trimEnd().split('\n')]).toEqual([0, expected]);
  });

  test.each(['routes', 'listeners', 'policies', 'backends'])(
    'config %s --name with a name that nothing has is an empty table and a note',
    async (name) => {
      const { code, stdout, stderr } = await gwctl(['config', name, '-f', dump, '--name', 'none', '--name', 'no*']);
      expect([code, stdout.split('\n').length, stderr.includes('nothing here is called none or no*')]).toEqual([
        0,
        2,
        true,
      ]);
      const json = await gwctl(['config', name, '-f', dump, '--name', 'none', '-o', 'json', '-q']);
      expect(json).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
    },
  );

  test('nothing found is an empty list and no failure', async () => {
    const { code, stdout } = await gwctl(['config', 'backends', '-f', '-', '-o', 'json'], { input: '{"backends":[]}' });
    expect([code, stdout]).toEqual([0, '[]\n']);
  });

  test('an empty table still has its titles', async () => {
    const { stdout, stderr } = await gwctl(['config', 'be', '-f', '-'], { input: '{"backends":[]}' });
    expect(stdout).toBe('TYPE  NAME  NAMESPACE  ENDPOINT  HEALTH  REQUESTS  LATENCY\n');
    expect(stderr).toContain('--all');
  });

  test('a dump whose parts are all odd does not break any view', async () => {
    const input = JSON.stringify({
      binds: [null, 'x', { listeners: { a: null, b: { routes: [7, { matches: 'no', backends: [null, 'b', {}] }] } } }],
      backends: ['invalid', null, 3, {}, { backend: null }, { backend: 'invalid' }, { backend: { host: 'x' } }],
      services: { s: { endpoints: [{ active: [null], rejected: 'no' }] } },
      policies: [null, {}, { policy: 'x', target: 'y' }],
      routes: 'none',
    });
    for (const name of ['all', 'listeners', 'routes', 'backends', 'policies']) {
      const { code, stderr } = await gwctl(['config', name, '-f', '-'], { input });
      expect({ name, code, stderr: stderr.includes('Error') }).toEqual({ name, code: 0, stderr: false });
    }
  });

  test('colour is off in a pipe, and on when it is asked for', async () => {
    const plain = await gwctl(['config', 'backends', '-f', dump], { env: { TERM: 'xterm' } });
    const coloured = await gwctl(['config', 'backends', '-f', dump, '--color', 'always']);
    expect(plain.stdout).not.toContain('\u001B');
    expect(coloured.stdout).toContain('\u001B[');
    expect(
      (await gwctl(['config', 'backends', '-f', dump, '--color', 'always'], { env: { NO_COLOR: '1' } })).stdout,
    ).toContain('\u001B[');
    expect((await gwctl(['config', 'backends', '-f', dump], { env: { FORCE_COLOR: '1' } })).stdout).toContain(
      '\u001B[',
    );
    expect(
      (await gwctl(['config', 'backends', '-f', dump], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout,
    ).not.toContain('\u001B[');
  });
});
