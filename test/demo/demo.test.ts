import { afterEach, expect, test } from '@jest/globals';

import { startTraffic } from '../../src/demo/traffic.ts';
import { eventually } from '../e2e/clients.ts';
import { ask, Cleanup } from '../e2e/gateway.ts';
import { startDemo } from './demo.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

test('the demo shows policies that refuse, limit and change', async () => {
  const demo = await startDemo(cleanup);
  const orders = (key?: string, method = 'GET') =>
    ask(demo.port(80), '/orders', { method, headers: key === undefined ? {} : { 'x-api-key': key } });
  expect((await orders()).headers['x-gw-reason']).toBe('APIKeyAuth');
  expect((await orders('web-key', 'DELETE')).headers['x-gw-reason']).toBe('Authorization');
  const answer = await orders('web-key');
  expect(answer.headers).toMatchObject({ 'x-plan': 'free', 'x-ratelimit-remaining': '5' });
  expect(JSON.parse(answer.body).headers).toMatchObject({ 'x-team': 'web' });
  expect(answer.body).not.toContain('web-key');
});

/** What the metrics say of calls of MCP servers and the agent. */
const CALLS = [
  ['gw_mcp_requests_total', 'server="shop"', 'resource="search"'],
  ['gw_mcp_requests_total', 'server="shop"', 'resource="restock"'],
  ['gw_mcp_requests_total', 'server="delivery"', 'resource="quote"'],
  ['gw_a2a_requests_total', 'method="SendMessage"', 'outcome="success"'],
  ['gw_a2a_requests_total', 'method="SendStreamingMessage"'],
];

test('the traffic of the demo meets each of them, a limit that is used up too', async () => {
  const demo = await startDemo(cleanup);
  const stop = startTraffic({ port: demo.port(80), modelPort: demo.port(81) }, 5);
  cleanup.add({ close: stop });
  const reasons = ['APIKeyAuth', 'Authorization', 'RateLimit', 'Timeout', 'NotFound'];
  await eventually('every reason is counted', async () => {
    const metrics = await (await fetch(`${demo.stats}/metrics`)).text();
    return (
      reasons.every((reason) => metrics.includes(`reason="${reason}"`)) &&
      CALLS.every((call) => metrics.split('\n').some((line) => call.every((part) => line.includes(part))))
    );
  });
  expect((await ask(demo.port(80), '/orders', { headers: { 'x-api-key': 'web-key' } })).status).toBe(429);
});
