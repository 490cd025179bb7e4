import { afterEach, expect, test } from '@jest/globals';

import { Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A server whose stream has no head until there is something to say, which is never; tells when it is asked for one. */
async function silent(onStream: () => void): Promise<number> {
  let sessions = 0;
  const listening = await upstream((request, response) => {
    if (request.method === 'GET') return onStream();
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { id, method } = text === '' ? { id: undefined, method: '' } : JSON.parse(text);
      if (id === undefined) return response.writeHead(202).end();
      const result = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: {} } : {};
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${sessions++}` });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  return cleanup.add(listening).port;
}

test('a stream that ends with its session is no failure, in whatever data thread it is', async () => {
  let asked = Promise.withResolvers<void>();
  const port = await silent(() => asked.resolve());
  const target = `{name: one, mcp: {host: "http://127.0.0.1:${port}/mcp"}}`;
  const gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}\nmcp: {targets: [${target}]}\n`, { threads: 2 }),
  );
  const url = `http://127.0.0.1:${gateway.port(80)}/mcp`;
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  const posted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  for (let i = 0; i < 12; i++) {
    asked = Promise.withResolvers<void>();
    const begun = await fetch(url, { method: 'POST', headers: posted, body: JSON.stringify(initialize) });
    await begun.text();
    // Connections of their own reach any thread.
    const headers = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', connection: 'close' };
    const opening = fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
    await asked.promise;
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(202);
    const stream = await opening;
    expect([stream.status, await stream.text()]).toEqual([200, '']);
  }
  const lines = gateway.log.filter((line) => line.includes('http.method=GET'));
  expect(lines.filter((line) => line.includes('error=') || !line.includes('http.status=200'))).toEqual([]);
});
