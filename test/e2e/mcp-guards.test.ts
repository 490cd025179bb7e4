import { ServerCredentials } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { startEverything, type RunningServer } from '../mcp/everything.ts';
import { type Handler, serveExtMcp } from '../services/ext-mcp.ts';
import { fixture, fixturePath } from './clients.ts';
import { Cleanup, startGateway } from './gateway.ts';
import { observing, only } from './observed.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let server: RunningServer;
beforeAll(async () => {
  server = await startEverything();
});
afterAll(() => server.close());

const { traceOf } = observing(cleanup);

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const keyOf = (team: string, tool: string) => `{key: team-${team}, metadata: {tools: [${tool}]}}`;
const KEYS = `apiKey: {mode: strict, keys: [${keyOf('red', 'echo')}, ${keyOf('blue', 'get-sum')}]}`;

async function gatewayWith(policies: string, targets = ['everything']) {
  const listed = targets.map((name) => `{name: ${name}, mcp: {host: "${server.url}"}}`).join(', ');
  const running = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
mcp:
  targets: [${listed}]
  policies: {${policies}}
`),
  );
  return { ...running, url: `http://127.0.0.1:${running.port(80)}/mcp` };
}

async function connected(url: string, key = 'team-red'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  // `as`: the library's own types differ in what may be undefined.
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }) as never);
  cleanup.add({ close: () => void client.close() });
  return client;
}

async function processor(handler: Handler) {
  return cleanup.add(await serveExtMcp(handler));
}

const names = ({ tools }: { readonly tools: readonly { readonly name: string }[] }) => tools.map(({ name }) => name);

describe('mcpAuthorization', () => {
  test('shows each client its own tools, and refuses the others as if they were not there', async () => {
    const { url } = await gatewayWith(`${KEYS}, mcpAuthorization: {rules: ['mcp.tool.name in apiKey.tools']}`);
    const red = await connected(url, 'team-red');
    const blue = await connected(url, 'team-blue');
    expect(names(await red.listTools())).toEqual(['echo']);
    expect(names(await blue.listTools())).toEqual(['get-sum']);
    expect((await red.listPrompts()).prompts).toEqual([]);
    expect(await red.callTool({ name: 'echo', arguments: { message: 'hi' } })).toMatchObject({
      content: [{ type: 'text', text: 'Echo: hi' }],
    });
    await expect(blue.callTool({ name: 'echo', arguments: { message: 'hi' } })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Unknown tool: echo'),
    });
    await expect(red.getPrompt({ name: 'simple-prompt' })).rejects.toThrow('Unknown prompt: simple-prompt');
  });

  test('decides by target, under the names that targets have', async () => {
    const { url } = await gatewayWith(
      `mcpAuthorization: {rules: [{deny: 'has(mcp.tool) && mcp.tool.target == "b"'}, {require: 'has(mcp.tool) && mcp.tool.name == "echo"'}]}`,
      ['a', 'b'],
    );
    const client = await connected(url);
    expect(names(await client.listTools())).toEqual(['a_echo']);
    await expect(client.callTool({ name: 'b_echo', arguments: { message: 'hi' } })).rejects.toThrow(
      'Unknown tool: b_echo',
    );
    expect((await client.listResources()).resources).toEqual([]);
  });

  test('holds for clients without sessions, too', async () => {
    const { url } = await gatewayWith(`mcpAuthorization: {rules: ['mcp.tool.name == "echo"']}`);
    const client = new ModernClient({ name: 'test', version: '1' });
    await client.connect(new ModernTransport(new URL(url)));
    cleanup.add({ close: () => void client.close() });
    expect(names(await client.listTools())).toEqual(['echo']);
    await expect(client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } })).rejects.toThrow('Unknown tool');
  });

  test('is applied anew in sessions that go on after a reload', async () => {
    const gateway = await gatewayWith(`mcpAuthorization: {rules: ['mcp.tool.name == "echo"']}`);
    const client = await connected(gateway.url);
    expect(names(await client.listTools())).toEqual(['echo']);
    await gateway.reload(`gateways: {default: {port: 80}}
mcp:
  targets: [{name: everything, mcp: {host: "${server.url}"}}]
  policies: {mcpAuthorization: {rules: ['mcp.tool.name == "get-sum"']}}
`);
    expect(names(await client.listTools())).toEqual(['get-sum']);
  });
});

describe('mcpGuardrails', () => {
  test.each([
    ['rules', `mcpAuthorization: {rules: ['mcp.tool.name == "get-sum"']}`, -32602],
    [
      'a processor',
      'mcpGuardrails: {processors: [{kind: remote, host: "127.0.0.1:1", methods: {"tools/call": request}}]}',
      -32603,
    ],
  ])('answer, as rules do, with status 200: %s', async (_what, policies, code) => {
    const { url } = await gatewayWith(policies);
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'echo',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'echo',
          arguments: { message: 'hi' },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    });
    expect(await response.json()).toMatchObject({ id: 1, error: { code } });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
  });

  const guarded = (port: number, more = '') =>
    `mcpGuardrails: {processors: [{kind: remote, host: "127.0.0.1:${port}"${more}}]}`;

  test('change what the tool gets and what the client sees', async () => {
    const asked = await processor(({ kind, body }) => {
      if (kind === 'request') return { mutated: json({ ...(body as object), arguments: { message: 'other' } }) };
      return { mutated: json({ content: [{ type: 'text', text: JSON.stringify(body).replace('other', 'masked') }] }) };
    });
    const { url, stats } = await gatewayWith(guarded(asked.port, `, methods: {"tools/call": full}`));
    const client = await connected(url);
    const result = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(JSON.stringify(result)).toContain('Echo: masked');
    expect(asked.asked.map(({ kind, method, serviceNames }) => [kind, method, serviceNames])).toEqual([
      ['request', 'tools/call', ['everything']],
      ['response', 'tools/call', ['everything']],
    ]);
    expect(await (await fetch(`${stats}/metrics`)).text()).toMatch(
      /guardrail_checks_total\{phase="Request",action="Mask"[^}]*\} 1/,
    );
  });

  test.each([
    ['PERMISSION_DENIED', -32001],
    ['RESOURCE_EXHAUSTED', -32003],
    ['INVALID', -32600],
    ['UNKNOWN', -32603],
  ])('refuse calls and answers with %s, status 200', async (code, told) => {
    const denial = { error: { code, reason: 'not today', mcpError: json({ a: 1 }) } };
    const requests = await processor(({ kind }) => (kind === 'request' ? denial : { pass: {} }));
    const answers = await processor(({ kind }) => (kind === 'request' ? { pass: {} } : denial));
    for (const { port } of [requests, answers]) {
      const { url } = await gatewayWith(guarded(port, `, methods: {"tools/call": full}`));
      const client = await connected(url);
      await expect(client.callTool({ name: 'echo', arguments: { message: 'hi' } })).rejects.toMatchObject({
        code: told,
        data: { a: 1 },
        message: expect.stringContaining('not today'),
      });
    }
  });

  test.each([
    ['a key', 'backendAuth: {key: of-the-guard}', { authorization: 'Bearer of-the-guard' }],
    ['a key elsewhere', 'backendAuth: {key: {value: k, location: {header: {name: x-key}}}}', { 'x-key': 'k' }],
    ['a header', 'requestHeaderModifier: {set: {x-from: gw}}', { 'x-from': 'gw' }],
    ['nothing', '', {}],
  ])('are shown %s where the policies of their connection say so', async (_what, policies, metadata) => {
    const asked = await processor(() => ({ pass: {} }));
    const { url } = await gatewayWith(guarded(asked.port, `, methods: {"tools/call": full}, policies: {${policies}}`));
    const client = await connected(url);
    await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(asked.shown).toHaveLength(2);
    for (const shown of asked.shown) {
      expect(shown).toMatchObject(metadata);
      expect('authorization' in shown).toBe('authorization' in metadata);
    }
  });

  test('are shown a signature that covers the call', async () => {
    const asked = await processor(() => ({ pass: {} }));
    const aws =
      'backendAuth: {aws: {accessKeyId: AKID, secretAccessKey: secret, region: eu-west-1, serviceName: lambda}}';
    const { url } = await gatewayWith(guarded(asked.port, `, methods: {"tools/call": request}, policies: {${aws}}`));
    await (await connected(url)).callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(asked.shown[0]?.['authorization']).toMatch(/^AWS4-HMAC-SHA256 Credential=AKID\/\d+\/eu-west-1\/lambda\//);
  });

  test('are not asked without credentials that they should be shown', async () => {
    const asked = await processor(() => ({ pass: {} }));
    const missing = 'backendAuth: {passthrough: {}}';
    const { url } = await gatewayWith(guarded(asked.port, `, methods: {"tools/call": full}, policies: {${missing}}`));
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
    cleanup.add({ close: () => void client.close() });
    await client.callTool({ name: 'echo', arguments: { message: 'hi' } }).catch(() => {});
    for (const shown of asked.shown) expect(shown).not.toHaveProperty('authorization');
  });

  test('are reached over TLS, with the name that its policies say', async () => {
    const pair = { cert_chain: Buffer.from(fixture('a.crt')), private_key: Buffer.from(fixture('a.key')) };
    const secured = ServerCredentials.createSsl(null, [pair]);
    const asked = cleanup.add(await serveExtMcp(() => ({ pass: {} }), 0, secured));
    const tls = `backendTLS: {root: ${fixturePath('ca.crt')}, hostname: a.example.com}, backendAuth: {key: k}`;
    const { url } = await gatewayWith(guarded(asked.port, `, methods: {"tools/call": full}, policies: {${tls}}`));
    await (await connected(url)).callTool({ name: 'echo', arguments: { message: 'hi' } });
    expect(asked.shown.map(({ authorization }) => authorization)).toEqual(['Bearer k', 'Bearer k']);
  });

  test('tell rules what they have found out', async () => {
    const { port } = await processor(() => ({ pass: {}, metadata: { fields: { risk: { stringValue: 'high' } } } }));
    const rules = `mcpAuthorization: {rules: [{deny: 'mcpGuardrails.risk == "high"'}]}`;
    const { url } = await gatewayWith(`${guarded(port, `, methods: {"tools/call": request}`)}, ${rules}`);
    const client = await connected(url);
    expect(names(await client.listTools())).toContain('echo');
    await expect(client.callTool({ name: 'echo', arguments: { message: 'hi' } })).rejects.toThrow('Unknown tool: echo');
  });

  test('end calls when nobody answers, or let them pass where that is wanted', async () => {
    const methods = `, methods: {"*": full}`;
    const closed = await gatewayWith(guarded(1, methods));
    await expect(connected(closed.url)).rejects.toThrow('mcpGuardrails checkRequest failed');
    const open = await gatewayWith(guarded(1, `${methods}, failureMode: failOpen`));
    const client = await connected(open.url);
    expect(names(await client.listTools())).toContain('echo');
  });
});

describe('a trace', () => {
  test('tells of rules and processors', async () => {
    const { port } = await processor(() => ({ pass: {} }));
    const gateway = await gatewayWith(
      `mcpAuthorization: {rules: ['mcp.tool.name == "echo"']},
       mcpGuardrails: {processors: [{kind: remote, host: "127.0.0.1:${port}", methods: {"tools/call": full}}]}`,
    );
    const client = await connected(gateway.url);
    const listed = await traceOf(gateway, () => client.listTools());
    expect(only(listed, 'authorizationResult')).toEqual([]);
    const summary = only(listed, 'policy').filter(({ kind }) => kind === 'mcp_authorization');
    expect(summary).toMatchObject([{ result: { details: expect.stringMatching(/^tool list of \d+: \d+ hidden/) } }]);
    const called = await traceOf(gateway, () => client.callTool({ name: 'echo', arguments: { message: 'hi' } }));
    expect(only(called, 'authorizationResult')).toMatchObject([{ result: 'allow', rules: [{ matched: true }] }]);
    const guards = only(called, 'policy').filter(({ kind }) => kind === 'guardrail');
    expect(guards).toMatchObject([
      { result: { details: expect.stringMatching(/^request tools\/call: allowed by .*from /) } },
      { result: { details: expect.stringMatching(/^response tools\/call: allowed by /) } },
    ]);
  });
});
