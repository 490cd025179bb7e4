import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';

import { unloadedDump } from '../../../proxy/admin/config-dump/unloaded.ts';
import { decodeConfigDump } from '../../../src/admin/protocol/decode-config-dump.ts';
import { backendRows } from '../../../src/admin/views/backends.ts';
import { loadConfig } from '../../../src/config/index.ts';

const directory = fileURLToPath(new URL('../../golden/config/', import.meta.url));

async function dumpOf(text: string) {
  const loaded = await loadConfig({ kind: 'text', text, name: 'config.yaml' }, { env: {}, directory });
  return JSON.stringify(unloadedDump({ config: loaded.config, revision: 'r1' }));
}

/** One of many kinds; see the golden file of the same name. */
const EVERYTHING = readFileSync(`${directory}mcp.yaml`, 'utf8');

describe('a backend of MCP servers in a dump', () => {
  let text = '';
  let dump: ReturnType<typeof decodeConfigDump>;
  beforeAll(async () => {
    text = await dumpOf(EVERYTHING);
    dump = decodeConfigDump(JSON.parse(text));
  });

  test('shows each target with where it is and how it is spoken to', () => {
    const { backends } = JSON.parse(text) as { backends: { backend: { mcp?: { name: string; target: unknown } } }[] };
    const { mcp } = backends.find(({ backend }) => backend.mcp?.name === 'mcp')?.backend ?? {};
    expect(mcp?.target).toMatchObject({
      targets: [
        { name: 'time', mcp: { host: 'time.example.com:443', path: '/v1/mcp?tenant=<redacted>' } },
        {
          name: 'everything.local',
          stdio: { cmd: 'npx', args: ['-y', 'everything'], env: { TOKEN: '<redacted>' }, clearEnv: true },
        },
        { name: 'parts', mcp: { host: '[::1]:3001', path: '/' } },
        { name: 'bare', mcp: { host: 'localhost:3002', path: '/mcp' } },
        { name: 'older', sse: { host: '[::1]:3003', path: '/sse' } },
        { name: 'shared', mcp: { backend: '/tools', path: '/shared' } },
        {
          name: 'pets',
          openapi: { host: 'pets.example.com:443', path: '/api', schema: { inline: { openapi: '3.1.0' } } },
        },
        { name: 'remote-pets', openapi: { schema: { url: 'https://pets.example.com/openapi.json?key=<redacted>' } } },
        { name: 'inline-pets', openapi: { backend: '/tools', path: '' } },
      ],
      stateful: true,
      prefixMode: 'always',
      failureMode: 'failOpen',
      dnsRebindingProtection: true,
      sessionIdleTtl: '10m0s',
    });
  });

  test('shows no secret', () => {
    expect(text).not.toMatch(/secret-of|001122/i);
    expect(JSON.parse(text)).toMatchObject({ config: { sessionEncoder: 'aes', mcp: { sessionTtl: '10m0s' } } });
  });

  test('shows the policies about it where they are written', () => {
    const listeners = dump.binds.flatMap((bind) => bind.listeners);
    const { routes } = listeners.find(({ key }) => key === 'gateway/default') ?? {};
    const { policies } = routes?.find(({ name }) => name === 'mcp') ?? {};
    expect(policies).toEqual(expect.arrayContaining(['mcpAuthorization', 'mcpGuardrails']));
    expect(text).toContain('"methods":{"resources/subscribe":"full","tools/list":"off"');
    expect(text).toContain('"policy":{"backend":{"a2a":{}}}');
  });

  test('is listed as one row for each target', () => {
    const rows = backendRows(dump, true).filter(({ name }) => name === 'mcp');
    expect(rows.map(({ endpoint }) => endpoint)).toEqual([
      'bare',
      'everything.local',
      'inline-pets',
      'older',
      'parts',
      'pets',
      'remote-pets',
      'shared',
      'time',
    ]);
    expect(rows.find(({ endpoint }) => endpoint === 'time')).toMatchObject({ health: 1, evicted: false });
    // A program has no endpoint.
    expect(rows.find(({ endpoint }) => endpoint === 'everything.local')).toMatchObject({ health: null });
  });

  test('hides what programs are given as credentials', async () => {
    const shown = await dumpOf(`
mcp:
  targets:
  - {name: a, stdio: {cmd: x, args: [--api-key, in-an-argument, "--token=in-another", --verbose, shown, -p, "8080"]}}
`);
    expect(shown).not.toMatch(/in-an/);
    expect(shown).toContain('["--api-key","<redacted>","--token=<redacted>","--verbose","shown","-p","8080"]');
  });

  test('is the agent that it runs on AWS for', async () => {
    const shown = await dumpOf(readFileSync(`${directory}agents.yaml`, 'utf8'));
    expect(shown).toContain(
      '"aws":{"name":"runtime","namespace":"default","agentCore":{"agentRuntimeArn":"arn:aws:bedrock-agentcore:eu-west-1:123456789012:runtime/my_agent-AbCdEfGhIj","qualifier":"prod"}}',
    );
    const row = backendRows(decodeConfigDump(JSON.parse(shown)), true).find(({ name }) => name === 'runtime');
    expect(row).toMatchObject({ type: 'Backend', health: null });
  });
});

describe('servers of MCP in dumps of other proxies', () => {
  test.each([
    ['nothing', {}],
    ['no list', { target: { targets: 'x' } }],
    ['odd targets', { target: { targets: [null, 1, { name: 2 }, { info: [] }] } }],
  ])('%s is no reason to fail', (_name, mcp) => {
    const { backends } = decodeConfigDump({ backends: [{ backend: { mcp: { name: 'm', ...mcp } } }] });
    expect(backends).toMatchObject([{ kind: 'mcp', name: 'm' }]);
  });

  test('tell which targets are set aside', () => {
    const { backends } = decodeConfigDump({
      backends: [
        {
          backend: {
            mcp: { name: 'm', target: { targets: [{ name: 't', info: { health: 0.2, evictedUntil: '5s' } }] } },
          },
        },
      ],
    });
    expect(backends[0]?.endpoints).toMatchObject([{ id: 't', health: 0.2, evicted: true, evictedForMs: 5000 }]);
  });
});
