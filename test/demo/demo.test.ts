import { afterEach, expect, test } from '@jest/globals';

import { demoConfig } from '../../src/demo/config.ts';
import { startTraffic } from '../../src/demo/traffic.ts';
import { startUpstreams } from '../../src/demo/upstreams.ts';
import { eventually } from '../e2e/clients.ts';
import { ask, Cleanup, startGateway } from '../e2e/gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function startDemo() {
  const upstreams = cleanup.add(await startUpstreams());
  const here = '127.0.0.1:1';
  const text = demoConfig(upstreams.ports, {
    port: 80,
    modelPort: 81,
    adminAddr: here,
    statsAddr: here,
    readinessAddr: here,
  });
  return cleanup.add(await startGateway(text));
}

test('the demo shows policies that refuse, limit and change', async () => {
  const demo = await startDemo();
  const orders = (key?: string, method = 'GET') =>
    ask(demo.port(80), '/orders', { method, headers: key === undefined ? {} : { 'x-api-key': key } });
  expect((await orders()).headers['x-gw-reason']).toBe('APIKeyAuth');
  expect((await orders('web-key', 'DELETE')).headers['x-gw-reason']).toBe('Authorization');
  const answer = await orders('web-key');
  expect(answer.headers).toMatchObject({ 'x-plan': 'free', 'x-ratelimit-remaining': '5' });
  expect(JSON.parse(answer.body).headers).toMatchObject({ 'x-team': 'web' });
  expect(answer.body).not.toContain('web-key');
});

test('the traffic of the demo meets each of them, a limit that is used up too', async () => {
  const demo = await startDemo();
  const stop = startTraffic({ port: demo.port(80), modelPort: demo.port(81) }, 5);
  cleanup.add({ close: stop });
  const reasons = ['APIKeyAuth', 'Authorization', 'RateLimit', 'Timeout', 'NotFound'];
  await eventually('every reason is counted', async () => {
    const metrics = await (await fetch(`${demo.stats}/metrics`)).text();
    return reasons.every((reason) => metrics.includes(`reason="${reason}"`));
  });
  expect((await ask(demo.port(80), '/orders', { headers: { 'x-api-key': 'web-key' } })).status).toBe(429);
});
