import { afterEach, describe, expect, test } from '@jest/globals';

import { type Ask, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';
import { authorizing, policy } from './authorization-service.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { service, gatewayWith } = authorizing(cleanup);

describe('remembered answers', () => {
  const cache = (key = 'request.headers["authorization"]', ttl = '1h') => `cache: {key: ['${key}'], ttl: '${ttl}'}`;
  const as = (authorization: string): Ask => ({ headers: { authorization } });

  test('are given again to requests with the same key: headers, values and all', async () => {
    const { asked, port } = await service((one, response) => {
      response.setHeader('x-user', one.headers.authorization ?? '');
      response.end();
    });
    const gateway = await gatewayWith({
      host: port,
      http: `{includeResponseHeaders: [x-user], metadata: {user: "response.headers['x-user']"}}`,
      more: cache(),
      policies: `authorization: {rules: ["extauthz.user == request.headers['authorization']"]}`,
    });
    for (const user of ['alice', 'bob', 'alice', 'bob', 'alice']) {
      const answer = await gateway.ask('/', as(user));
      expect(JSON.parse(answer.body).headers['x-user']).toBe(user);
    }
    expect(asked.map(({ headers }) => headers.authorization)).toEqual(['alice', 'bob']);
  });

  test.each([
    [401, 1],
    [403, 1],
    [200, 1],
    [404, 2],
    [500, 2],
    [302, 2],
    [204, 2],
  ])('with status %i are asked for %i times in two requests', async (status, times) => {
    const { asked, port } = await service((_one, response) => response.writeHead(status).end());
    const gateway = await gatewayWith({ host: port, more: cache() });
    const first = await gateway.ask('/', as('a'));
    const second = await gateway.ask('/', as('a'));
    expect(second.status).toBe(first.status);
    expect(asked).toHaveLength(times);
  });

  test('of redirects are given again', async () => {
    const { asked, port } = await service((_one, response) => response.writeHead(401).end());
    const gateway = await gatewayWith({ host: port, http: `{redirect: "'/login'"}`, more: cache() });
    for (let i = 0; i < 2; i++) expect((await gateway.ask('/', as('a'))).headers.location).toBe('/login');
    expect(asked).toHaveLength(1);
  });

  test.each(['request.headers["x-none"]', '[1]', 'jwt.sub'])('do not exist for the key %s', async (key) => {
    const { asked, port } = await service();
    const gateway = await gatewayWith({ host: port, more: `cache: {key: ['${key}'], ttl: 1h}` });
    for (let i = 0; i < 2; i++) expect((await gateway.ask('/')).status).toBe(200);
    expect(asked).toHaveLength(2);
  });

  test.each([
    ['1h', 1],
    ['duration("1h")', 1],
    ['timestamp("2100-01-01T00:00:00Z")', 1],
    ['4102444800', 1],
    ['duration(response.headers["x-ttl"])', 1],
    ['extauthz.until', 1],
    ['duration("-1h")', 2],
    ['timestamp("2000-01-01T00:00:00Z")', 2],
    ['"1h"', 2],
    ['jwt.exp', 2],
    ['0', 2],
  ])('hold for %s', async (ttl, times) => {
    const { asked, port } = await service((_one, response) => {
      response.setHeader('x-ttl', '60s');
      response.end();
    });
    const http = '{metadata: {until: "4102444800"}}';
    const gateway = await gatewayWith({ host: port, http, more: cache('"all"', ttl) });
    for (let i = 0; i < 2; i++) expect((await gateway.ask('/')).status).toBe(200);
    expect(asked).toHaveLength(times);
  });

  test('are not made of failures', async () => {
    let healthy = false;
    const { asked, port } = await service((_one, response) => {
      if (healthy) response.end();
      else response.destroy();
    });
    const gateway = await gatewayWith({ host: port, more: cache() });
    expect((await gateway.ask('/', as('a'))).status).toBe(403);
    healthy = true;
    expect((await gateway.ask('/', as('a'))).status).toBe(200);
    expect(asked).toHaveLength(2);
    await gateway.logged('info', 'ext_authz', 'the service answers again');
  });

  test('outlive a reload that does not change the policy, and no other', async () => {
    const { asked, port } = await service();
    const backend = cleanup.add(await upstream(echo));
    const file = (more: string, other: string): string => `gateways: {default: {port: 80}}
routes:
- name: one
  policies: {extAuthz: ${policy({ host: port, more })}}
  backends: [{host: "127.0.0.1:${backend.port}"}]
- name: other
  matches: [{path: {exact: ${other}}}]
  policies: {directResponse: {status: 200}}
`;
    const gateway = cleanup.add(await startGateway(file(cache(), '/x')));
    const go = () => ask(gateway.port(80), '/', as('a'));
    await go();
    expect(await gateway.reload(file(cache(), '/y'))).toMatchObject({ kind: 'live' });
    await go();
    expect(asked).toHaveLength(1);
    expect(await gateway.reload(file(cache('request.headers["authorization"]', '2h'), '/y'))).toMatchObject({
      kind: 'live',
    });
    await go();
    expect(asked).toHaveLength(2);
  });
});
