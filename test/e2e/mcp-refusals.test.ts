import { afterEach, describe, expect, test } from '@jest/globals';

import { Cleanup } from './gateway.ts';
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
