import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { fixture, fixturePath } from './clients.ts';
import { Cleanup, upstream } from './gateway.ts';
import { facing } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A server of MCP without sessions, and what requests it saw. */
function tools(): { readonly listener: RequestListener; readonly seen: IncomingMessage[] } {
  const seen: IncomingMessage[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const server = new McpServer({ name: 'tools', version: '1' });
    server.registerTool('where', { description: 'Says where it is.' }, () => ({
      content: [{ type: 'text', text: request.url ?? '' }],
    }));
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    // `as`: the library's own types differ in what may be undefined.
    await server.connect(transport as never);
    await transport.handleRequest(request, response);
  };
  const listener: RequestListener = (request, response) => {
    seen.push(request);
    void answer(request, response);
  };
  return { listener, seen };
}

async function overTls(listener: RequestListener): Promise<number> {
  const server = createHttpsServer({ key: fixture('a.key'), cert: fixture('a.crt') }, listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.add({ close: () => void server.close().closeAllConnections() });
  return (server.address() as AddressInfo).port; // listens on a port
}

async function connected(port: number, path = '/mcp'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  cleanup.add({ close: () => client.close() });
  // `as`: the library's own types differ in what may be undefined.
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}${path}`)) as never);
  return client;
}

const CA = `backendTLS: {root: ${fixturePath('ca.crt')}, hostname: a.example.com}`;

describe('the place of an MCP server', () => {
  test('is spoken to with TLS when its address says https, as policies of any level say how', async () => {
    const { listener } = tools();
    const host = `https://127.0.0.1:${await overTls(listener)}/some/path?a=1`;
    const gateway = await facing(cleanup, `mcp: {targets: [{name: t, mcp: {host: "${host}"}}], policies: {${CA}}}`);
    const client = await connected(gateway.http);
    const { content } = await client.callTool({ name: 'where' });
    expect(content).toEqual([{ type: 'text', text: '/some/path?a=1' }]);
  });

  test('is not trusted without its authority', async () => {
    const { listener, seen } = tools();
    const host = `https://127.0.0.1:${await overTls(listener)}/mcp`;
    const gateway = await facing(cleanup, `mcp: {targets: [{name: t, mcp: {host: "${host}"}}]}`);
    await expect(connected(gateway.http)).rejects.toThrow();
    expect(seen).toEqual([]);
  });

  test('is a named backend, with the policies of that', async () => {
    const { listener, seen } = tools();
    const server = cleanup.add(await upstream(listener));
    const gateway = await facing(
      cleanup,
      `
mcp: {targets: [{name: t, mcp: {backend: shared, path: /there}}]}
backends: [{name: shared, host: "127.0.0.1:${server.port}", policies: {requestHeaderModifier: {set: {x-inline: "1"}}}}]
policies:
- name: {name: p, namespace: default}
  target: {backend: {backend: {name: shared, namespace: default}}}
  policy: {backendAuth: {key: of-the-backend}}
`,
    );
    const client = await connected(gateway.http);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['where']);
    expect(seen.at(-1)).toMatchObject({
      url: '/there',
      headers: { 'x-inline': '1', authorization: 'Bearer of-the-backend' },
    });
  });

  test('is no named backend of another kind: that is refused at load', async () => {
    const text = `mcp: {targets: [{name: t, mcp: {backend: b}}]}\nbackends: [{name: b, internal: forward}]`;
    await expect(facing(cleanup, text)).rejects.toThrow('is of the kind `internal`, which is no server of MCP');
  });

  test('may be told by a document behind an address', async () => {
    const server = cleanup.add(
      await upstream((request, response) => {
        if (request.url !== '/openapi.yaml') {
          response.setHeader('content-type', 'application/json').end(JSON.stringify({ asked: request.url }));
          return;
        }
        response.end(`openapi: 3.0.3\npaths: {/pets: {get: {operationId: listPets, responses: {}}}}`);
      }),
    );
    const at = `http://127.0.0.1:${server.port}`;
    const config = (path: string): string =>
      `mcp: {targets: [{name: t, openapi: {host: "${at}/v1/", schema: {url: "${at}${path}"}}}]}`;
    const gateway = await facing(cleanup, config('/openapi.yaml'));
    const client = await connected(gateway.http);
    expect((await client.callTool({ name: 'listPets' })).structuredContent).toEqual({ asked: '/v1/pets' });
    const reloaded = await gateway.reload(`gateways: {default: {port: 80}}\n${config('/missing.yaml')}`);
    expect(reloaded).toMatchObject({ kind: 'rejected' });
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['listPets']);
  });

  test('may be one that nobody can describe: the configuration is refused', async () => {
    const server = cleanup.add(await upstream((_request, response) => response.end('[]')));
    const at = `http://127.0.0.1:${server.port}`;
    const text = `mcp: {targets: [{name: t, openapi: {host: "${at}", schema: {url: "${at}/x.json"}}}]}`;
    await expect(facing(cleanup, text)).rejects.toThrow(`cannot load the OpenAPI document ${at}/x.json`);
  });

  test('is found on a port of its own, whatever the path', async () => {
    const { listener } = tools();
    const server = cleanup.add(await upstream(listener));
    const gateway = await facing(
      cleanup,
      `mcp: {port: 81, targets: [{name: t, mcp: {host: "127.0.0.1:${server.port}"}}]}`,
    );
    const client = await connected(gateway.port(81), '/anything');
    expect((await client.callTool({ name: 'where' })).content).toEqual([{ type: 'text', text: '/mcp' }]);
  });
});
