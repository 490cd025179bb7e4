import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, expect, test } from '@jest/globals';

import { eventually } from './clients.ts';
import { Cleanup, startGateway } from './gateway.ts';
import { post } from './mcp-raw.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A server with the tool `real`; of others it says in turn, with an error or with a result, that it does not have them. */
async function server(): Promise<number> {
  let said = 0;
  const listening = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { id, method, params } = JSON.parse(text);
      const missing = said++ % 2 === 0 ? { error: { code: -32602, message: 'no' } } : failed;
      const own = params?.name === 'real' ? { result: { content: [], resultType: 'complete' } } : missing;
      const answer = method === 'tools/call' ? own : { error: { code: -32601, message: 'no' } };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(method === 'server/discover' ? discovered : answer) }));
    });
  }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  cleanup.add(listening);
  return (listening.address() as AddressInfo).port;
}

const failed = { result: { content: [], isError: true, resultType: 'complete' } };
const discovered = { result: { supportedVersions: ['2026-07-28'], capabilities: {}, resultType: 'complete' } };

test('10,000 names that clients made up are one label', async () => {
  const target = `{name: one, mcp: {host: "http://127.0.0.1:${await server()}/mcp"}}`;
  const gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}\nmcp: {targets: [${target}], statefulMode: stateless}\n`),
  );
  const call = async (name: string): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${gateway.port(80)}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, _meta } }),
    });
    await response.text();
  };
  await call('real');
  for (let i = 0; i < 10_000; i += 100)
    await Promise.all(Array.from({ length: 100 }, (_, offset) => call(`made-up-${i + offset}`)));
  await call('real');
  const metrics = await (await fetch(`${gateway.stats}/metrics`)).text();
  const counted = metrics.split('\n').filter((line) => line.startsWith('gw_mcp_requests_total{'));
  expect(counted.map((line) => [/resource="([^"]*)"/.exec(line)?.[1], line.split(' ').at(-1)]).toSorted()).toEqual([
    ['OTHER', '10000'],
    ['real', '2'],
  ]);
}, 60_000);

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

test('names that are as long as messages are short in the log', async () => {
  const port = await server();
  const target = (name: string): string => `{name: ${name}, mcp: {host: "http://127.0.0.1:${port}/mcp"}}`;
  const gateway = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}\nmcp: {targets: [${target('one')}, ${target('two')}], statefulMode: stateless}\n`,
    ),
  );
  const long = 'x'.repeat(1_000_000);
  for (const [method, params] of [
    ['tools/call', { name: long }],
    ['tools/call', { name: `one_${long}` }],
    ['resources/read', { uri: `one+file:///${long}` }],
    [long, {}],
  ] as const)
    expect((await post(gateway.port(80), { id: 1, method, params })).messages).toMatchObject([{ id: 1 }]);
  await eventually('all are told', () => gateway.log.filter((line) => line.includes('protocol=mcp')).length === 4);
  for (const line of gateway.log) expect(line.length).toBeLessThan(5000);
});
