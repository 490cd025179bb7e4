import { describe, expect, test } from '@jest/globals';

import { decodeConfigDump } from '../../src/admin/protocol/decode-config-dump.ts';
import { mcpRows, mcpToolRows } from '../../src/admin/views/mcp.ts';

function dumpOf(target: unknown, name = '/mcp') {
  return decodeConfigDump({ backends: [{ backend: { mcp: { name, namespace: 'default', target } } }] });
}

const runtime = {
  state: 'failing',
  failingSince: '2026-01-02T03:04:05.000Z',
  failingFor: '1m3s',
  protocolVersions: ['2025-11-25', '2026-07-28'],
  server: { name: 'everything', version: '2.0' },
  sessions: 2,
  calls: 9,
  failures: 4,
  errors: 1,
  lastError: { message: 'connection refused', at: '2026-01-02T03:05:00.000Z' },
  tools: { count: 12, more: true, names: ['all_echo', 'all_add'] },
};

describe('MCP servers of a dump', () => {
  test('are rows with everything that is known of them', () => {
    const dump = dumpOf({
      targets: [{ name: 'all', mcp: { host: 'a.example:443', path: '/mcp' }, info: { evictedUntil: null }, runtime }],
      stateful: true,
      prefixMode: 'always',
      failureMode: 'failOpen',
      sessions: 3,
    });
    expect(mcpRows(dump)).toEqual([
      {
        name: '/mcp',
        namespace: 'default',
        target: 'all',
        transport: 'streamable',
        address: 'a.example:443/mcp',
        state: 'failing',
        failingSince: '2026-01-02T03:04:05.000Z',
        failingForMs: 63_000,
        evictedForMs: null,
        protocolVersions: ['2026-07-28', '2025-11-25'],
        server: 'everything 2.0',
        sessions: 2,
        tools: 12,
        moreTools: true,
        toolNames: ['all_echo', 'all_add'],
        calls: 9,
        failures: 4,
        errors: 1,
        lastError: 'connection refused',
        lastErrorAt: '2026-01-02T03:05:00.000Z',
        programs: null,
        sparePrograms: null,
        restarts: null,
        retryInMs: null,
        backendSessions: 3,
        stateful: true,
        prefixMode: 'always',
        failureMode: 'failOpen',
      },
    ]);
    expect(mcpToolRows(dump).map(({ tool, target }) => [tool, target])).toEqual([
      ['all_echo', 'all'],
      ['all_add', 'all'],
    ]);
  });

  test.each([
    ['mcp', { host: 'h', port: 80, path: '/p' }, 'streamable', 'h:80/p'],
    ['mcp', { backend: '/shared', path: '/p' }, 'streamable', 'shared/p'],
    ['sse', { host: 'h:1', path: '/sse' }, 'sse', 'h:1/sse'],
    ['openapi', { host: 'h:1', path: '' }, 'openapi', 'h:1'],
    ['stdio', { cmd: 'npx', args: ['-y', 'a b', "it's"] }, 'stdio', String.raw`npx -y 'a b' 'it'\''s'`],
    ['carrier-pigeon', {}, '', ''],
  ])('over %s %j are where that says', (key, server, transport, address) => {
    const [row] = mcpRows(dumpOf({ targets: [{ name: 't', [key]: server }] }));
    expect(row).toMatchObject({ transport, address, state: null, calls: null, tools: null, sessions: null });
  });

  test('that are programs tell how many run, and when the next one may', () => {
    const programs = { running: 0, spare: 1, restarts: 3, retryIn: '2.5s' };
    const [row] = mcpRows(dumpOf({ targets: [{ name: 't', stdio: { cmd: 'x' }, runtime: { ...runtime, programs } }] }));
    expect(row).toMatchObject({ programs: 0, sparePrograms: 1, restarts: 3, retryInMs: 2500 });
  });

  test('that are set aside say so, whatever their last call came to', () => {
    const info = { evictedUntil: '4s' };
    const [row] = mcpRows(dumpOf({ targets: [{ name: 't', mcp: {}, info, runtime: { ...runtime, state: 'ok' } }] }));
    expect(row).toMatchObject({ state: 'evicted', evictedForMs: 4000 });
  });

  test.each([
    ['no targets', {}],
    ['targets that are none', { targets: [null, 3, 'x', []] }],
    ['odd runtimes', { targets: [{ runtime: 1 }, { runtime: { state: 7, tools: 'x', programs: [], lastError: 3 } }] }],
    ['odd servers', { targets: [{ name: {}, mcp: 'x', stdio: { cmd: 1, args: 'x' } }], stateful: 'yes', sessions: {} }],
  ])('%s are no reason to fail', (_name, target) => {
    const dump = dumpOf(target);
    expect(mcpRows(dump).every(({ calls }) => calls === null || calls === 0)).toBe(true);
    expect(mcpToolRows(dump)).toEqual([]);
  });
});
