import { describe, expect, test } from '@jest/globals';
import { ConfigError, diffConfigs, loadConfig } from '../../../../src/config/index.ts';
import { endpointIdentities } from '../../../../proxy/backends/endpoint-identity.ts';
import { remoteDocuments } from '../../../../proxy/resources/content.ts';
import { seal, unseal } from '../../../../src/config/transfer.ts';

const load = (text: string, env: Readonly<Record<string, string>> = {}) =>
  loadConfig({ kind: 'text', text, name: 'config.yaml' }, { env });

const TARGETS = 'targets: [{name: a, mcp: {host: "http://localhost:1"}}]';
const KEY = '0123456789abcdef'.repeat(4);

async function messageOf(text: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const error: unknown = await load(text, env).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConfigError)) throw new Error('the configuration was taken');
  return error.message;
}

describe('the section mcp', () => {
  test('has a port of its own where no gateway is called default', async () => {
    const { config } = await load(`mcp: {${TARGETS}}\ngateways: {other: {port: 80}}`);
    expect(config.binds.map(({ port, listeners }) => [port, listeners.map(({ key }) => key)])).toEqual([
      [80, ['gateway/other']],
      [3000, ['mcp']],
    ]);
    const [route] = config.binds[1]?.listeners[0]?.routes ?? [];
    expect(route?.matches.map(({ path }) => path.value)).toEqual(['/']);
  });

  test('attaches to the gateway called default', async () => {
    const { config } = await load(`mcp: {${TARGETS}}\ngateways: {default: {port: 80}}`);
    const [route] = config.binds[0]?.listeners[0]?.routes ?? [];
    expect(config.binds.length).toBe(1);
    expect(route?.matches.map(({ path }) => path.value)).toEqual(['/mcp', '/sse', '/.well-known']);
    expect(route?.backends[0]?.target).toEqual({ kind: 'reference', backend: '/mcp' });
  });

  test('keeps its own port when it names one', async () => {
    const { config } = await load(`mcp: {port: 3100, ${TARGETS}}\ngateways: {default: {port: 80}}`);
    expect(config.binds.map(({ port }) => port)).toEqual([80, 3100]);
  });

  test('cannot have the port of llm', async () => {
    const llm = 'llm: {port: 3000, models: []}';
    expect(await messageOf(`mcp: {${TARGETS}}\n${llm}`)).toContain('port 3000 is used by both');
  });

  test('leaves nothing attached when its gateway is broken', async () => {
    const message = await messageOf(`mcp: {${TARGETS}}\ngateways: {default: {port: 99999}}`);
    expect(message).toContain('gateways.default.port');
    expect(message).not.toContain('mcp');
  });
});

describe('the key of session ids', () => {
  test('of the environment stands above that of the file', async () => {
    const { config } = await load(`config: {session: {key: "${'f'.repeat(64)}"}}`, { SESSION_KEY: KEY.toUpperCase() });
    expect(config.process.mcpSessions.key?.reveal()).toBe(KEY);
    expect(JSON.stringify(config)).not.toContain(KEY);
  });

  test('is told to be wrong without being shown', async () => {
    const message = await messageOf('{}', { SESSION_KEY: 'wrong-but-secret' });
    expect(message).toContain('SESSION_KEY: expected 64 hexadecimal digits');
    expect(message).not.toContain('wrong-but-secret');
    expect(await messageOf('config: {session: {key: wrong-but-secret}}')).not.toContain('wrong-but-secret');
  });

  test('is not there by default, and sessions lie idle for half an hour', async () => {
    const { config } = await load('{}');
    expect(config.process.mcpSessions).toEqual({ key: undefined, ttlMs: 1_800_000 });
  });
});

describe('an OpenAPI document in a configuration', () => {
  const HOSTILE = JSON.stringify({
    openapi: '3.0.0',
    paths: {},
    a: { kind: 'remote', content: 'keySet', url: 'http://169.254.169.254/' },
    b: { kind: 'inline', backend: { kind: 'host', key: 'x', target: { kind: 'tcp', host: 'x', port: 1 } } },
  });

  test('is data, whatever it looks like', async () => {
    const { config } = await load(
      `mcp: {targets: [{name: a, openapi: {host: "http://localhost:1", schema: ${JSON.stringify(HOSTILE)}}}]}`,
    );
    expect([...remoteDocuments(config).keys()]).toEqual([]);
    expect([...endpointIdentities(config)]).toEqual(['member//mcp/a']);
    expect(unseal(structuredClone(seal(config)))).toEqual(config);
  });

  test('behind an address is fetched by the control thread', async () => {
    const { config } = await load(
      'mcp: {targets: [{name: a, openapi: {host: "http://localhost:1", schema: {url: "https://localhost/x.json"}}}]}',
    );
    expect([...remoteDocuments(config).keys()]).toEqual(['openApi https://localhost/x.json']);
  });
});

describe('the address of a server', () => {
  test.each([
    '{name: a, mcp: {host: "https://user:hidden-1@localhost/mcp"}}',
    '{name: a, mcp: {host: "user:hidden-1@localhost:3001/mcp"}}',
    '{name: a, mcp: {host: "ftp://localhost/mcp?key=hidden-1"}}',
    '{name: a, mcp: {host: localhost, port: 1, path: "mcp?key=hidden-1"}}',
    '{name: a, openapi: {host: "http://localhost:1", schema: {url: "ftp://user:hidden-1@localhost/"}}}',
    '{name: a, openapi: {host: "http://localhost:1?key=hidden-1", schema: "x"}}',
    '{name: A, stdio: {cmd: x, env: {TOKEN: hidden-1}}}',
  ])('%s is told to be wrong without what it hides', async (target) => {
    expect(await messageOf(`mcp: {targets: [${target}]}`)).not.toContain('hidden-1');
  });

  test('is not shown in differences when it holds credentials', async () => {
    const raw = (key: string) => ({ mcp: { targets: [{ name: 'a', mcp: { host: `http://localhost/?key=${key}` } }] } });
    const found = await diffConfigs(raw('hidden-1'), raw('hidden-2'));
    expect(JSON.stringify(found)).toContain('<redacted>');
    expect(JSON.stringify(found)).not.toContain('hidden');
  });
});

test.each([
  ['backends: [{name: tools, mcp: {targets: [{name: a, stdio: {cmd: x}}]}}]', 'tools', 'MCP servers'],
  [`mcp: {port: 3100, ${TARGETS}}`, 'mcp', 'MCP servers'],
  ['backends: [{name: m, ai: {name: x, provider: {openAI: {model: y}}}}]', 'm', 'language models'],
])('a TCP route cannot send connections to %s', async (backends, name, what) => {
  const routes = `gateways: {default: {port: 80, protocol: TCP}}\ntcpRoutes: [{backends: [{backend: ${name}}]}]`;
  const message = await messageOf(`${backends}\n${routes}`);
  expect(message).toContain(`"${name}" stands for ${what}: a TCP route cannot send connections there`);
});

test('credentials of a processor stand in headers', async () => {
  const query = 'policies: {backendAuth: {key: {value: k, location: {queryParameter: {name: q}}}}}';
  const guard = `mcpGuardrails: {processors: [{kind: remote, host: "localhost:1", ${query}, methods: {"*": full}}]}`;
  expect(await messageOf(`mcp: {${TARGETS}, policies: {${guard}}}`)).toContain('credentials stand in headers');
});
