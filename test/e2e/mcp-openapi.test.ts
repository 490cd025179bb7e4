import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, test } from '@jest/globals';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const PET_SHOP = fileURLToPath(new URL('../proxy/mcp/targets/openapi/pet-shop.yaml', import.meta.url));

/** A shop that tells what it was asked. */
function shop(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url, headers } = request;
    if (url?.endsWith('/pets/13') === true) return response.writeHead(500).end('no such luck');
    response.setHeader('content-type', 'application/json');
    return response.end(
      JSON.stringify({
        line: `${method} ${url}`,
        tenant: headers['x-tenant'],
        secret: headers.authorization,
        body: Buffer.concat(chunks).toString(),
      }),
    );
  });
}

async function gateway() {
  const { port } = cleanup.add(await upstream(shop));
  const running = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}
routes:
- backends:
  - mcp:
      targets:
      - name: shop
        openapi: {host: "127.0.0.1", port: ${port}, path: /base, schema: {file: ${PET_SHOP}}}
        policies: {backendAuth: {key: k1}}`,
    ),
  );
  return { ...running, url: new URL(`http://127.0.0.1:${running.port(80)}/mcp`) };
}

const NAMES = ['listPets', 'addPet', 'getPet', 'removePet', 'setPortrait', 'order'];

describe('a service that an OpenAPI document describes', () => {
  test('is a server of tools for clients of the older protocol', async () => {
    const { url, logged } = await gateway();
    await logged('operations of an OpenAPI document are no tools', 'upload', 'multipart/mixed');
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url));
    expect(client.getServerVersion()).toMatchObject({ name: 'Pet shop', version: '1.4.0' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
    const added = await client.callTool({
      name: 'addPet',
      arguments: { header: { 'X-Tenant': 'acme' }, body: { name: 'Kitty' } },
    });
    expect(added['structuredContent']).toEqual({
      line: 'POST /base/live/v1/pets',
      tenant: 'acme',
      secret: 'Bearer k1',
      body: '{"name":"Kitty"}',
    });
    const unfit = await client.callTool({ name: 'addPet', arguments: {} });
    expect(unfit).toMatchObject({ isError: true, content: [{ text: '`body` is missing' }] });
    const failing = client.callTool({
      name: 'getPet',
      arguments: { path: { petId: '13' }, header: { 'X-Trace': 't' } },
    });
    await expect(failing).rejects.toThrow('upstream error 500: no such luck');
    await client.close();
  });

  test('is one for clients of the newer protocol', async () => {
    const { url } = await gateway();
    const client = new ModernClient(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(new ModernTransport(url));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(NAMES);
    const listed = await client.callTool({
      name: 'listPets',
      arguments: { header: { 'X-Tenant': 'a' }, query: { limit: 2 } },
    });
    expect(listed.structuredContent).toMatchObject({ line: 'GET /base/live/v1/pets?limit=2' });
    await client.close();
  });
});
