import { afterEach, expect, test } from '@jest/globals';

import { Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A server that says yes to everything, and what it was sent. */
async function server() {
  const bodies: string[] = [];
  const targets: string[] = [];
  const listening = await upstream((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      bodies.push(text);
      targets.push(request.url ?? '');
      const { id, method } = text === '' ? { id: 0, method: '' } : JSON.parse(text);
      const result = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: {} } : { content: [] };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result)}}`);
    });
  });
  cleanup.add(listening);
  return { bodies, targets, port: listening.port };
}

async function calling(target: string, args: string) {
  const fields = `config: {logging: {fields: {add: {
    shown: 'string(mcp.tool.arguments.id)', kind: 'type(mcp.tool.arguments.id) == int ? "int" : string(type(mcp.tool.arguments.id) == double)',
    next: 'string(mcp.tool.arguments.id + mcp.tool.arguments.one)', all: 'toJson(mcp.tool.arguments)'}}}}`;
  const gateway = cleanup.add(
    await startGateway(
      `${fields}\ngateways: {default: {port: 80}}\nmcp: {targets: [${target}], statefulMode: stateless}\n`,
    ),
  );
  const response = await fetch(`http://127.0.0.1:${gateway.port(80)}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","arguments":${args}}}`,
  });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"result"')]);
  return gateway;
}

test.each([
  ['9223372036854775806', 'int'],
  ['9007199254740993', 'int'],
  ['-9223372036854775808', 'int'],
])('%s reaches the server with all of its digits, and expressions as what it is', async (id, kind) => {
  const { bodies, port } = await server();
  const target = `{name: one, mcp: {host: "http://127.0.0.1:${port}/mcp"}}`;
  const gateway = await calling(target, `{"id":${id},"one":1,"deep":[{"x":${id}}]}`);
  expect(bodies.at(-1)).toContain(`"arguments":{"id":${id},"one":1,"deep":[{"x":${id}}]}`);
  const line = await gateway.logged('mcp.method.name=tools/call');
  expect(line).toContain(`shown=${id}`);
  expect(line).toContain(`kind=${kind}`);
  expect(line).toContain(`next=${BigInt(id) + 1n}`);
});

test.each(['123456789012345678901234567890', '0.1234567890123456789', '1e400'])(
  '%s reaches the server as it is, and is a double to expressions',
  async (id) => {
    const { bodies, port } = await server();
    const gateway = await calling(`{name: one, mcp: {host: "http://127.0.0.1:${port}/mcp"}}`, `{"id":${id},"one":1.5}`);
    expect(bodies.at(-1)).toContain(`"arguments":{"id":${id},"one":1.5}`);
    expect(await gateway.logged('mcp.method.name=tools/call')).toContain('kind=true');
  },
);

test('numbers of 64 bits reach an API with all of their digits, wherever they stand', async () => {
  const { targets, port } = await server();
  const number = { type: 'integer', format: 'int64' };
  const parameters = ['path', 'query'].map((place) => ({ name: place, in: place, required: true, schema: number }));
  const schema = {
    openapi: '3.0.0',
    info: { title: 'x', version: '1' },
    paths: { '/things/{path}': { get: { operationId: 'get', parameters, responses: {} } } },
  };
  const target = `{name: one, openapi: {host: "127.0.0.1", port: ${port}, path: "/", schema: ${JSON.stringify(JSON.stringify(schema))}}}`;
  await calling(target, '{"path":{"path":9223372036854775807},"query":{"query":9223372036854775806}}');
  expect(targets.at(-1)).toBe('/things/9223372036854775807?query=9223372036854775806');
});
