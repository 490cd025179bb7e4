/** Real clients of MCP log in at a real provider, from the 401 to a request that is let in. */
import type { RequestListener } from 'node:http';

import { afterEach, describe, expect, test } from '@jest/globals';
import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
  UnauthorizedError as NewUnauthorized,
} from '@modelcontextprotocol/client';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { Cleanup, type RunningGateway, startGateway, upstream } from './gateway.ts';
import { AUDIENCE, ENTRA_SECRET, type Layout, type McpIdentity, startIdentity } from './mcp-identity.ts';
import { ENTRA, KEYCLOAK, loggedIn, Memory } from './mcp-user.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const SERVER = '/.well-known/oauth-authorization-server/mcp';
/** Answers what a client asks at the beginning, as the oldest servers do, and says who was let in. */
const server: RequestListener = (request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    const message = body === '' ? {} : (JSON.parse(body) as { id?: number; method?: string }); // of a client of MCP
    if (message.id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
    const reply = (answer: unknown) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...Object(answer) }));
    if (message.method === 'initialize')
      return reply({
        result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
      });
    if (message.method === 'tools/list') {
      const description = `${request.headers['x-user']} ${request.headers.authorization ?? 'without a token'}`;
      return reply({ result: { tools: [{ name: 'who', description, inputSchema: { type: 'object' } }] } });
    }
    return reply({ error: { code: -32601, message: 'Method not found' } });
  });
};

interface Site {
  readonly identity: McpIdentity;
  readonly gateway: RunningGateway;
  readonly url: URL;
}

async function site(layout: Layout, more: string): Promise<Site> {
  const identity = cleanup.add(await startIdentity(layout));
  const behind = cleanup.add(await upstream(server));
  const gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
routes:
- policies:
    mcpAuthentication:
      issuer: "${identity.issuer}"
      audiences: [${AUDIENCE}]
      resourceMetadata: {scopesSupported: [mcp], bearerMethodsSupported: [header]}
      ${more}
    transformations: {request: {set: {x-user: jwt.sub}}}
  backends: [{host: "127.0.0.1:${behind.port}"}]
`),
  );
  return { identity, gateway, url: new URL(`http://127.0.0.1:${gateway.port(80)}/mcp`) };
}

/** The first generation of clients, from nothing to the list of tools. */
async function withOld(url: URL, memory: Memory): Promise<unknown> {
  const info = { name: 'test', version: '1' };
  const first = new StreamableHTTPClientTransport(url, { authProvider: memory });
  // `as`: a class with optional members that may be undefined, where the interface has none.
  await expect(new Client(info).connect(first as Parameters<Client['connect']>[0])).rejects.toThrow(UnauthorizedError);
  await first.finishAuth((await loggedIn(memory)).get('code') ?? '');
  const client = cleanup.add(new Client(info));
  const second = new StreamableHTTPClientTransport(url, { authProvider: memory });
  await client.connect(second as Parameters<Client['connect']>[0]);
  return (await client.listTools()).tools[0]?.description;
}

/** The second one; `strict` also shows it who has answered. */
async function withNew(url: URL, memory: Memory, strict: boolean): Promise<unknown> {
  const info = { name: 'test', version: '1' };
  const first = new NewTransport(url, { authProvider: memory });
  await expect(new NewClient(info).connect(first)).rejects.toThrow(NewUnauthorized);
  const answer = await loggedIn(memory);
  await (strict ? first.finishAuth(answer) : first.finishAuth(answer.get('code') ?? ''));
  const client = cleanup.add(new NewClient(info));
  await client.connect(new NewTransport(url, { authProvider: memory }));
  return (await client.listTools()).tools[0]?.description;
}

const clients = [
  ['the first generation', withOld],
  ['the second generation', (url: URL, memory: Memory) => withNew(url, memory, false)],
] as const;

describe.each(clients)('a client of %s', (_name, walk) => {
  test('registers through the gateway, logs in and is let in', async () => {
    const { url, identity } = await site(KEYCLOAK, 'provider: {keycloak: {}}');
    const memory = new Memory();
    expect(await walk(url, memory)).toBe('alice without a token');
    expect(memory.client?.client_id).toMatch(/^[\w-]{20,}$/);
    expect(identity.asked).toContain('POST /realms/shop/clients-registrations/openid-connect');
    expect(memory.sentTo?.href).toContain(`${identity.issuer}/auth?`);
    expect(memory.sentTo?.searchParams.get('resource')).toBe(url.href);
  });

  test('gets the client of the configuration instead', async () => {
    const { url, identity } = await site(KEYCLOAK, 'provider: {keycloak: {}}\n      clientId: known');
    const memory = new Memory();
    expect(await walk(url, memory)).toBe('alice without a token');
    expect(memory.client?.client_id).toBe('known');
    expect(identity.asked.filter((line) => line.includes('registration'))).toEqual([]);
  });

  test('logs in at a provider that refuses resources and wants a secret', async () => {
    const { url, identity, gateway } = await site(
      ENTRA,
      `provider: {entra: {}}\n      clientId: known\n      clientSecret: ${ENTRA_SECRET}`,
    );
    const memory = new Memory();
    expect(await walk(url, memory)).toBe('alice without a token');
    expect(memory.sentTo?.href).toMatch(`${url.origin}${SERVER}/authorize?`);
    expect(memory.sentTo?.searchParams.get('resource')).toBe(url.href);
    expect(identity.asked.filter((line) => line.startsWith('POST /tenant/v2.0/token'))).toHaveLength(1);
    expect(JSON.stringify(memory.client)).not.toContain(ENTRA_SECRET);
    expect(gateway.log.join('\n')).not.toContain(ENTRA_SECRET);
  });
});

test('a strict client is sent to the provider itself, where nothing is done in its place', async () => {
  const layout: Layout = { path: '/tenant', routes: { jwks: '/.well-known/jwks.json' } };
  const { url, identity } = await site(layout, '');
  const memory = new Memory();
  expect(await withNew(url, memory, true)).toBe('alice without a token');
  expect(identity.asked.some((line) => line.startsWith('POST /tenant/reg'))).toBe(true);
});

test.each([
  ['alice', 'alice'],
  ['bob', undefined],
] as const)('the section `mcp` has the same login, and its rules know who it was (for %s)', async (allowed, seen) => {
  const identity = cleanup.add(await startIdentity(KEYCLOAK));
  const behind = cleanup.add(await upstream(server));
  const gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
mcp:
  targets: [{name: one, mcp: {host: "http://127.0.0.1:${behind.port}/mcp"}}]
  policies:
    mcpAuthentication: {issuer: "${identity.issuer}", audiences: [${AUDIENCE}], provider: {keycloak: {}}, resourceMetadata: {scopesSupported: [mcp]}}
    mcpAuthorization: {rules: ['jwt.sub == "${allowed}"']}
`),
  );
  const memory = new Memory();
  const url = new URL(`http://127.0.0.1:${gateway.port(80)}/mcp`);
  const listed = await withOld(url, memory);
  expect(typeof listed === 'string' ? 'alice' : undefined).toBe(seen);
});

test('a client whose token has run out gets another one by the way that it knows', async () => {
  const { url } = await site(
    ENTRA,
    `provider: {entra: {}}\n      clientId: known\n      clientSecret: ${ENTRA_SECRET}`,
  );
  const memory = new Memory();
  await withOld(url, memory);
  const { kept } = memory;
  expect(kept?.refresh_token).toEqual(expect.any(String));
  if (kept !== undefined) memory.kept = { ...kept, access_token: 'x.y.z' };
  memory.sentTo = null;
  const client = cleanup.add(new Client({ name: 'test', version: '1' }));
  const transport = new StreamableHTTPClientTransport(url, { authProvider: memory });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  expect((await client.listTools()).tools).toHaveLength(1);
  expect(memory.sentTo).toBeNull();
});
