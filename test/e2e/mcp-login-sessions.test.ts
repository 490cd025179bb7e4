/** Logins in front of servers of MCP: from the 401 to a call of a tool, and on when the token has run out meanwhile. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

import { Cleanup, startGateway, upstream } from './gateway.ts';
import { AUDIENCE, ENTRA_SECRET, type Layout, type McpIdentity, startIdentity } from './mcp-identity.ts';
import { ENTRA, KEYCLOAK, loggedIn, Memory } from './mcp-user.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Servers that see neither the token nor anybody without one. */
async function startServer(): Promise<{ readonly port: number; readonly tokens: string[] }> {
  const tokens: string[] = [];
  const { port } = cleanup.add(
    await upstream((request, response) => {
      if (request.headers.authorization !== undefined) tokens.push(request.headers.authorization);
      const server = new McpServer({ name: 'tools', version: '1' });
      const content = [{ type: 'text' as const, text: String(request.headers['x-user']) }];
      server.registerTool('who', {}, () => ({ content }));
      server.registerTool('hidden', {}, () => ({ content }));
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      // `as`: the library's own types differ in what may be undefined.
      void server.connect(transport as never).then(() => transport.handleRequest(request, response));
    }),
  );
  return { port, tokens };
}

interface Site {
  readonly identity: McpIdentity;
  readonly tokens: readonly string[];
  readonly url: URL;
  logged(...words: string[]): Promise<string>;
}

async function site(layout: Layout, more: string, { rules = '', toIssuer = false } = {}): Promise<Site> {
  const identity = cleanup.add(await startIdentity(layout));
  const { port, tokens } = await startServer();
  const servers = toIssuer ? `, authorizationServers: ["${identity.issuer}"]` : '';
  const gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
routes:
- policies:
    mcpAuthentication:
      issuer: "${identity.issuer}"
      audiences: [${AUDIENCE}]
      resourceMetadata: {scopesSupported: [mcp], bearerMethodsSupported: [header]${servers}}
      ${more}
    ${rules}
    transformations: {request: {set: {x-user: jwt.sub}}}
    mcpAuthorization: {rules: ['mcp.tool.name == "who" && jwt.sub == "alice"']}
  backends:
  - mcp:
      targets:
      - {name: one, mcp: {host: "http://127.0.0.1:${port}/mcp"}}
      - {name: two, mcp: {host: "http://127.0.0.1:${port}/mcp"}}
`),
  );
  return { identity, tokens, url: new URL(`http://127.0.0.1:${gateway.port(80)}/mcp`), logged: gateway.logged };
}

interface Connected {
  readonly session: string | undefined;
  tools(): Promise<string[]>;
  call(name: string): Promise<unknown>;
}

type Walk = (url: URL, memory: Memory) => Promise<Connected>;

const info = { name: 'test', version: '1' };

const old: Walk = async (url, memory) => {
  const first = new StreamableHTTPClientTransport(url, { authProvider: memory });
  // `as`: a class with optional members that may be undefined, where the interface has none.
  await expect(new Client(info).connect(first as never)).rejects.toThrow('Unauthorized');
  await first.finishAuth((await loggedIn(memory)).get('code') ?? '');
  const client = cleanup.add(new Client(info));
  const transport = new StreamableHTTPClientTransport(url, { authProvider: memory });
  await client.connect(transport as never);
  return {
    session: transport.sessionId,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name) => (await client.callTool({ name })).content,
  };
};

/** `strict` compares who has answered with the metadata also where the gateway stands in for the provider. */
const anew =
  (options: ConstructorParameters<typeof NewClient>[1], strict: boolean): Walk =>
  async (url, memory) => {
    const first = new NewTransport(url, { authProvider: memory });
    await expect(new NewClient(info, options).connect(first)).rejects.toThrow();
    const answer = await loggedIn(memory);
    const named = memory.discoveryState()?.authorizationServerMetadata?.issuer === answer.get('iss');
    await (strict || named ? first.finishAuth(answer) : first.finishAuth(answer.get('code') ?? ''));
    const client = cleanup.add(new NewClient(info, options));
    const transport = new NewTransport(url, { authProvider: memory });
    await client.connect(transport);
    return {
      session: transport.sessionId,
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name) => (await client.callTool({ name })).content,
    };
  };

const CLIENTS: readonly (readonly [string, Walk])[] = [
  ['of the first generation', old],
  ['of the second generation, with a session', anew({}, false)],
  ['of the second generation, without one', anew({ versionNegotiation: { mode: 'auto' } }, false)],
];

const PLAIN: Layout = { path: '/tenant', routes: { jwks: '/.well-known/jwks.json' } };
const SECRET = `provider: {entra: {}}\n      clientId: known\n      clientSecret: ${ENTRA_SECRET}`;
const KINDS: readonly (readonly [string, Layout, string])[] = [
  ['of no kind', PLAIN, ''],
  ['that registers clients through the gateway', KEYCLOAK, 'provider: {keycloak: {}}'],
  ['that knows its client', KEYCLOAK, 'provider: {keycloak: {}}\n      clientId: known'],
  ['that refuses resources and wants a secret', ENTRA, SECRET],
];

describe.each(CLIENTS)('a client %s', (name, walk) => {
  test.each(KINDS)('calls tools after its login at a provider %s', async (_kind, layout, more) => {
    const { url, tokens } = await site(layout, more);
    const { tools, call } = await walk(url, new Memory());
    expect(await tools()).toEqual(['one_who', 'two_who']);
    expect(await call('two_who')).toEqual([{ type: 'text', text: 'alice' }]);
    await expect(call('one_hidden')).rejects.toThrow();
    expect(tokens).toEqual([]);
  });

  test.each(KINDS)('goes on in its session with another token of a provider %s', async (_kind, layout, more) => {
    const { url, identity } = await site(layout, more);
    const memory = new Memory();
    const { call, session } = await walk(url, memory);
    const { kept } = memory;
    expect(kept?.refresh_token).toEqual(expect.any(String));
    if (kept !== undefined) memory.kept = { ...kept, access_token: 'x.y.z' };
    memory.sentTo = null;
    const before = identity.asked.length;
    expect(await call('one_who')).toEqual([{ type: 'text', text: 'alice' }]);
    expect(memory.sentTo).toBeNull();
    expect(memory.kept?.access_token).not.toBe('x.y.z');
    expect(identity.asked.slice(before).filter((line) => line.startsWith('POST '))).toHaveLength(1);
    expect(session === undefined).toBe(name.includes('without'));
  });

  test('is told 403 where the user may not come in at all, and is not sent to log in again', async () => {
    const rules = `authorization: {rules: ['jwt.sub == "bob"']}`;
    const { url, logged } = await site(KEYCLOAK, 'provider: {keycloak: {}}', { rules });
    const memory = new Memory();
    await expect(walk(url, memory)).rejects.toThrow(/403|authorization failed/);
    await logged('http.status=403', 'reason=Authorization', 'jwt.sub=alice');
  });
});

test('a client that compares who has answered does not take the gateway for the provider, and the log says why', async () => {
  const { url, logged } = await site(KEYCLOAK, 'provider: {keycloak: {}}');
  await expect(anew({}, true)(url, new Memory())).rejects.toThrow('Issuer mismatch');
  await logged('warn', 'RFC 9207');
});

test('a client that compares who has answered is let in where it is sent to the provider itself', async () => {
  const { url } = await site(KEYCLOAK, 'provider: {keycloak: {}}', { toIssuer: true });
  const { call } = await anew({ versionNegotiation: { mode: 'auto' } }, true)(url, new Memory());
  expect(await call('one_who')).toEqual([{ type: 'text', text: 'alice' }]);
});
