import { afterEach, describe, expect, test } from '@jest/globals';

import { type Ask, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A gateway on ports 80 and 81 with two data threads. */
async function gatewayWith(rest: string) {
  const server = cleanup.add(await upstream(echo));
  const yaml = (text: string) =>
    `gateways: {default: {port: 80}, other: {port: 81}}\n${text.replaceAll('BACKEND', `{host: "127.0.0.1:${server.port}"}`)}`;
  const running = cleanup.add(await startGateway(yaml(rest), { threads: 2 }));
  return {
    ...running,
    yaml,
    ask: (path: string, options?: Ask, port = 80) => ask(running.port(port), path, options),
  };
}

async function statuses(asks: readonly Promise<{ status: number }>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(asks)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

describe('local rate limits', () => {
  test('count exactly over all data threads', async () => {
    const { ask } = await gatewayWith(`
routes:
- backends: [BACKEND]
  policies: {localRateLimit: [{maxTokens: 40, tokensPerFill: 1, fillInterval: 10h}]}`);
    // Each on a connection of its own, so that both threads take part.
    expect(await statuses(many(100, () => ask('/')))).toEqual({ 200: 40, 429: 60 });
  });

  test('answer 429 with the numbers and the reason, and tell the budget on success', async () => {
    const { ask } = await gatewayWith(`
routes:
- backends: [BACKEND]
  policies: {localRateLimit: [{requests: 1, unit: Hours, burst: 1}]}`);
    expect((await ask('/')).headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' });
    await ask('/');
    const refused = await ask('/');
    expect(refused).toMatchObject({ status: 429, body: 'rate limit exceeded' });
    expect(refused.headers).toMatchObject({
      'x-gw-reason': 'RateLimit',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
    });
    expect(Number(refused.headers['x-ratelimit-reset'])).toBeGreaterThan(3500);
  });

  test('on a gateway count all its routes together, on a route attached twice both ways in', async () => {
    const { ask } = await gatewayWith(`
routes:
- {name: a, matches: [{path: {pathPrefix: /a}}], backends: [BACKEND]}
- {name: b, matches: [{path: {pathPrefix: /b}}], backends: [BACKEND]}
- name: c
  gateways: [default, other]
  matches: [{path: {pathPrefix: /c}}]
  backends: [BACKEND]
  policies: {localRateLimit: [{maxTokens: 3, fillInterval: 1h}]}
policies:
- name: {name: p, namespace: default}
  target: {gateway: {gatewayName: default, gatewayNamespace: default}}
  policy: {localRateLimit: [{maxTokens: 3, fillInterval: 1h}]}`);
    expect(await statuses([...many(4, () => ask('/a')), ...many(4, () => ask('/b'))])).toEqual({ 200: 3, 429: 5 });
    expect(await statuses([...many(4, () => ask('/c')), ...many(4, () => ask('/c', {}, 81))])).toEqual({
      200: 3,
      429: 5,
    });
  });

  test('keep what was spent over a reload that leaves them as they are', async () => {
    const routes = (limit: number, path: string): string => `
routes:
- backends: [BACKEND]
  matches: [{path: {pathPrefix: ${path}}}]
  policies: {localRateLimit: [{maxTokens: ${limit}, fillInterval: 1h}]}`;
    const { ask, yaml, reload } = await gatewayWith(routes(3, '/'));
    expect(await statuses(many(4, () => ask('/x')))).toEqual({ 200: 3, 429: 1 });
    await reload(yaml(routes(3, '/x')));
    expect((await ask('/x')).status).toBe(429);
    await reload(yaml(routes(4, '/x')));
    expect(await statuses(many(5, () => ask('/x')))).toEqual({ 200: 4, 429: 1 });
  });
});
