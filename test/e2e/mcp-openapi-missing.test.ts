import { afterEach, describe, expect, test } from '@jest/globals';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const document = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Late', version: '1' },
  paths: { '/late': { get: { operationId: 'late' } } },
});

/** A service whose document is not there before it is told to be. */
async function lateService() {
  let here = false;
  const { port } = cleanup.add(
    await upstream((request, response) => {
      if (request.url?.startsWith('/openapi.json') !== true) return response.end(JSON.stringify({ at: request.url }));
      if (!here) response.statusCode = 503;
      return response.end(here ? document : 'down');
    }),
  );
  return { port, comes: () => void (here = true) };
}

const target = (name: string, port: number, schema: string): string =>
  `  - {name: ${name}, openapi: {host: "127.0.0.1", port: ${port}, path: /, schema: ${schema}}}\n`;
const remote = (port: number): string => `{url: "http://127.0.0.1:${port}/openapi.json?key=hidden"}`;
const inline = JSON.stringify(document.replaceAll('late', 'here'));

function config(mode: string, targets: string): string {
  return `gateways: {default: {port: 80}}\nmcp:\n  failureMode: ${mode}\n  targets:\n${targets}`;
}

async function started(mode: string, targets: string) {
  const gateway = cleanup.add(await startGateway(config(mode, targets), { threads: 2 }));
  return new URL(`http://127.0.0.1:${gateway.port(80)}/mcp`);
}

async function told(url: URL, comes: () => void): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  });
  const streaming = new Promise<void>((resolve) => {
    const transport = new StreamableHTTPClientTransport(url, {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (init?.method === 'GET') resolve();
        return response;
      },
    });
    void client.connect(transport);
  });
  await streaming;
  comes();
  await changed;
  return client;
}

describe('a document that is not there', () => {
  test('leaves its target out with failOpen, and sessions are told when it comes', async () => {
    const service = await lateService();
    const url = await started(
      'failOpen',
      target('a', service.port, inline) + target('b', service.port, remote(service.port)),
    );
    const before = new Client({ name: 'test', version: '1' });
    await before.connect(new StreamableHTTPClientTransport(url));
    expect((await before.listTools()).tools.map(({ name }) => name)).toEqual(['a_here']);
    await expect(before.callTool({ name: 'b_late', arguments: {} })).rejects.toThrow('has not come yet');
    const client = await told(url, service.comes);
    for (const each of [client, before]) {
      expect((await each.listTools()).tools.map(({ name }) => name)).toEqual(['a_here', 'b_late']);
      expect(await each.callTool({ name: 'b_late', arguments: {} })).toMatchObject({
        structuredContent: { at: '/late' },
      });
      await each.close();
    }
  });

  test('is told by the only target, and when it comes', async () => {
    const service = await lateService();
    const url = await started('failOpen', target('b', service.port, remote(service.port)));
    const before = new Client({ name: 'test', version: '1' });
    await before.connect(new StreamableHTTPClientTransport(url));
    await expect(before.listTools()).rejects.toThrow('the OpenAPI document of target b has not come yet');
    await before.close();
    const client = await told(url, service.comes);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['late']);
    await client.close();
  });

  test('is told of to clients of the newer protocol', async () => {
    const service = await lateService();
    const url = await started(
      'failOpen',
      target('a', service.port, inline) + target('b', service.port, remote(service.port)),
    );
    let tell = (_names: readonly string[]): void => {};
    const changed = new Promise<readonly string[]>((resolve) => (tell = resolve));
    const client = new ModernClient(
      { name: 'test', version: '1' },
      {
        versionNegotiation: { mode: { pin: '2026-07-28' } },
        listChanged: { tools: { onChanged: (_error, tools) => tell((tools ?? []).map(({ name }) => name)) } },
      },
    );
    await client.connect(new ModernTransport(url));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['a_here']);
    service.comes();
    expect(await changed).toEqual(['a_here', 'b_late']);
    await client.close();
  });

  test('refuses the configuration with failClosed, with the line and the key that name it', async () => {
    const service = await lateService();
    const both = target('a', service.port, inline) + target('b', service.port, remote(service.port));
    const starting = startGateway(config('failClosed', both));
    await expect(starting).rejects.toThrow(
      /test\.yaml:\d+:\d+: mcp\.targets\[1\]\.openapi\.schema\.url: cannot load the OpenAPI document http:.*\?…: .*503/,
    );
    await expect(starting).rejects.not.toThrow('hidden');
    const gateway = cleanup.add(await startGateway(config('failOpen', both)));
    expect(await gateway.reload(config('failClosed', both))).toMatchObject({
      kind: 'rejected',
      error: { message: expect.stringMatching(/^test\.yaml:\d+:\d+: mcp\.targets\[1\]/) },
    });
  });
});
