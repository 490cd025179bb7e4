import { afterEach, describe, expect, test } from '@jest/globals';

import { Cleanup, upstream } from './gateway.ts';
import { facing } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const PING = { jsonrpc: '2.0', id: 'a', method: 'initialize', params: { protocolVersion: '2025-11-25' } };
/** Nothing listens there. */
const NOWHERE = '{mcp: {targets: [{name: nowhere, mcp: {host: "http://127.0.0.1:9/mcp"}}]}}';

async function asks(port: number, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(PING),
  });
}

describe('what a client of MCP is refused', () => {
  test('is told in JSON-RPC where a policy refuses it', async () => {
    const limit = 'localRateLimit: [{maxTokens: 1, tokensPerFill: 1, fillInterval: 1h}]';
    const gateway = await facing(cleanup, `routes: [{policies: {${limit}}, backends: [${NOWHERE}]}]`);
    await asks(gateway.http);
    const answer = await asks(gateway.http);
    expect([answer.status, answer.headers.get('x-gw-reason')]).toEqual([429, 'RateLimit']);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_600 } });
  });

  test('is told with its id where the server cannot be reached', async () => {
    const gateway = await facing(cleanup, `routes: [{backends: [${NOWHERE}]}]`);
    const answer = await asks(gateway.http);
    expect(answer.status).toBeGreaterThanOrEqual(502);
    expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: 'a', error: { code: -32_603 } });
  });

  test('is told as text where no request can be told', async () => {
    const gateway = await facing(cleanup, `routes: [{backends: [${NOWHERE}]}]`);
    const answer = await asks(gateway.http, { accept: '*/*' });
    expect([answer.status, answer.headers.get('x-gw-reason')]).toEqual([406, 'MCP']);
    expect(answer.headers.get('content-type')).toBe('text/plain');
    expect((await gateway.logged('reason=MCP', '406')).length).toBeGreaterThan(0);
  });
});

test('what the only server says of its own login comes as it is', async () => {
  const target = await upstream((request, response) => {
    response.writeHead(request.url === '/.well-known/oauth-protected-resource/mcp' ? 200 : 404, { 'x-who': 'target' });
    response.end(`${request.method} ${request.url}`);
  });
  cleanup.add(target);
  const server = `{mcp: {targets: [{name: one, mcp: {host: "http://127.0.0.1:${target.port}/mcp"}}]}}`;
  const gateway = await facing(cleanup, `routes: [{backends: [${server}]}]`);
  const document = `http://127.0.0.1:${gateway.http}/.well-known/oauth-protected-resource/mcp`;
  const answer = await fetch(document);
  expect([answer.status, answer.headers.get('x-who')]).toEqual([200, 'target']);
  expect(await answer.text()).toBe('GET /.well-known/oauth-protected-resource/mcp');
  expect((await fetch(document, { method: 'PUT' })).status).toBe(405);
  expect((await fetch(document.replace('protected-resource', 'authorization-server'))).status).toBe(404);
});
