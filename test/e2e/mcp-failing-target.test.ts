/** What clients hear of targets that fail: which one, and nothing of where it is. */
import { afterEach, expect, test } from '@jest/globals';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const OPENAPI =
  '{openapi: "3.0.0", info: {title: t, version: "1"}, paths: {/one: {get: {operationId: one, responses: {"200": {description: ok}}}}}}';

/** Where nobody listens any more. */
async function gone(): Promise<number> {
  const server = await upstream((_request, response) => response.end());
  await server.close();
  return server.port;
}

function openapi(port: number): string {
  return `{name: tickets, openapi: {host: "127.0.0.1:${port}", schema: ${JSON.stringify(OPENAPI)}}}`;
}

function streamable(port: number): string {
  return `{name: tickets, mcp: {host: "http://127.0.0.1:${port}/mcp"}}`;
}

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

async function call(targets: string, name: string) {
  const running = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}\nroutes: [{backends: [{mcp: {statefulMode: stateless, targets: ${targets}}}]}]`,
    ),
  );
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } });
  const headers = { ...json, 'mcp-protocol-version': '2025-11-25' };
  const answer = await ask(running.port(80), '/', { method: 'POST', headers, body });
  return /\{.*\}/s.exec(answer.body)?.[0] ?? answer.body;
}

test('a target whose host has no address is named, and its host is not', async () => {
  const answer = await call('[{name: tickets, mcp: {host: "http://nowhere.invalid:80/mcp"}}]', 'one');
  expect(JSON.parse(answer)).toMatchObject({
    error: { message: 'target tickets: its host name cannot be resolved' },
  });
  expect(answer).not.toContain('nowhere');
});

test.each([
  ['over HTTP', streamable],
  ['of an OpenAPI document', openapi],
])('a target %s that cannot be reached is named, alone or beside others', async (_, target) => {
  const port = await gone();
  const alone = await call(`[${target(port)}]`, 'one');
  const other = `{name: other, mcp: {host: "http://127.0.0.1:${port}/mcp"}}`;
  const beside = await call(`[${target(port)}, ${other}]`, 'tickets_one');
  for (const answer of [alone, beside]) {
    expect(JSON.parse(answer)).toMatchObject({ error: { message: 'target tickets: connection refused' } });
    expect(answer).not.toContain(String(port));
  }
});
