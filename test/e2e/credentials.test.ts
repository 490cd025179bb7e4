import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';

import { run, withCurl } from './clients.ts';
import { type Ask, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A gateway with one route to a server that tells what it was asked. */
async function gatewayWith(policies: string, options: { threads?: number | undefined } = {}) {
  const server = cleanup.add(await upstream(echo));
  const backend = `backends: [{host: "127.0.0.1:${server.port}"}]`;
  const text = `gateways: {default: {port: 80}}\nroutes:\n- ${backend}\n  policies:\n${policies.replaceAll(/^/gm, '    ')}\n`;
  const { threads } = options;
  const running = cleanup.add(await startGateway(text, threads === undefined ? {} : { threads }));
  const port = running.port(80);
  return { ...running, text, port, ask: (path: string, wanted?: Ask) => ask(port, path, wanted) };
}

const APR1 = '$$apr1$$RVuXe5ck$$a7dMb7Dig1KVt0lLMchKN1';
const BCRYPT = '$$2y$$05$$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a';

const KEYS = `apiKey:
  keys:
  - {key: k1, metadata: {user: ann, groups: [admin]}}
  - {keyHash: "sha256:${createHash('sha256').update('k2').digest('hex').toUpperCase()}"}`;

describe('an API key', () => {
  test('lets its owner in and goes no further', async () => {
    const { ask } = await gatewayWith(KEYS);
    const answer = await ask('/', { headers: { authorization: 'bearer k1' } });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body).headers).not.toHaveProperty('authorization');
    expect((await ask('/', { headers: { authorization: 'Bearer k2' } })).status).toBe(200);
  });

  test('that is missing or wrong is refused, and the log says why', async () => {
    const { ask, logged } = await gatewayWith(KEYS);
    const missing = await ask('/');
    expect(missing).toMatchObject({
      status: 401,
      body: 'api key authentication failure: no API Key found',
      headers: { 'x-gw-reason': 'APIKeyAuth' },
    });
    const wrong = await ask('/', { headers: { authorization: `Bearer ${'x'.repeat(40_000)}` } });
    expect(wrong).toMatchObject({ status: 401, body: 'api key authentication failure: invalid credentials' });
    await logged('APIKeyAuth', '401');
  });

  test('decides with its metadata what its owner may do', async () => {
    const { ask } = await gatewayWith(`${KEYS}\nauthorization: {rules: ['"admin" in apiKey.groups']}`);
    expect((await ask('/', { headers: { authorization: 'Bearer k1' } })).status).toBe(200);
    expect(await ask('/', { headers: { authorization: 'Bearer k2' } })).toMatchObject({
      status: 403,
      body: 'authorization failed',
      headers: { 'x-gw-reason': 'Authorization' },
    });
  });

  test('is taken out of the query alone', async () => {
    const { ask } = await gatewayWith(`${KEYS}\n  location: {queryParameter: {name: key}}`);
    const answer = await ask('/p?a=%7e&key=k%31&b=+');
    expect(JSON.parse(answer.body).url).toBe('/p?a=%7e&b=+');
  });

  test('is taken out of the cookies alone', async () => {
    const { ask } = await gatewayWith(`${KEYS}\n  location: {cookie: {name: key}}`);
    const answer = await ask('/', { headers: { cookie: 'a=1; key=k1; b=2' } });
    expect(JSON.parse(answer.body).headers.cookie).toBe('a=1; b=2');
  });

  test('is hidden at the place that the configuration names, in traces and in the log', async () => {
    const running = await gatewayWith(`${KEYS}
  location: {queryParameter: {name: "my k"}}
basicAuth:
  mode: optional
  authorizationLocation: {header: {name: X-My-Token, prefix: "Mine "}}
  htpasswd: "ann:${APR1}"`);
    const trace = await fetch(`${running.admin}/debug/trace`);
    const [text] = await Promise.all([
      trace.text(),
      running.ask('/p?a=1&my+k=guess1', { headers: { 'x-my-token': 'guess2' } }),
    ]);
    await running.logged('/p?a=1');
    expect(text).toContain('my+k=<redacted>');
    expect(text + running.log.join('')).not.toMatch(/guess[12]/);
  });

  test('of the configuration is in no dump', async () => {
    const running = await gatewayWith(KEYS);
    const dump = await (await fetch(`${running.admin}/config_dump`)).text();
    expect(dump).not.toContain('k1"');
    expect(dump).not.toContain(createHash('sha256').update('k1').digest('hex'));
  });
});

describe('a login with a password', () => {
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

  test.each([undefined, 2])('lets in who knows it (threads: %p)', async (threads) => {
    const { ask } = await gatewayWith(`basicAuth: {htpasswd: "ann:${APR1}\\nbob:${BCRYPT}"}`, { threads });
    const answer = await ask('/', { headers: basic('bob:secret') });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body).headers).not.toHaveProperty('authorization');
    const logins = Array.from({ length: 20 }, (_, i) =>
      ask('/', { headers: basic(`ann:${i % 2 ? 'secret' : 'guess'}`) }),
    );
    const statuses = (await Promise.all(logins)).map(({ status }) => status);
    expect(statuses).toEqual(logins.map((_, i) => (i % 2 ? 200 : 401)));
  });

  test('asks browsers for it', async () => {
    const { ask, logged } = await gatewayWith(`basicAuth: {htpasswd: "ann:${APR1}", realm: 'the "shop"'}`);
    const answer = await ask('/');
    expect(answer).toMatchObject({
      status: 401,
      body: 'basic authentication failure: no basic authentication credentials found',
      headers: { 'www-authenticate': String.raw`Basic realm="the \"shop\""`, 'x-gw-reason': 'BasicAuth' },
    });
    await logged('BasicAuth', '401');
  });

  test('can be that of a proxy', async () => {
    const location = 'authorizationLocation: {header: {name: Proxy-Authorization, prefix: "Basic "}}';
    const { ask } = await gatewayWith(`basicAuth: {htpasswd: "ann:${APR1}", ${location}}`);
    expect(await ask('/')).toMatchObject({
      status: 407,
      headers: { 'proxy-authenticate': 'Basic realm="Restricted"' },
    });
    const headers = { 'proxy-authorization': basic('ann:secret').authorization };
    expect((await ask('/', { headers })).status).toBe(200);
  });

  test('does not hold up others while it is checked', async () => {
    const slow = `$$2y$$12$$${BCRYPT.slice(10)}`;
    const running = await gatewayWith(`basicAuth: {htpasswd: "ann:${slow}", mode: optional}`);
    const login = running.ask('/', { headers: basic('ann:guess') });
    let over = false;
    void login.then(() => (over = true));
    expect((await running.ask('/')).status).toBe(200);
    expect((await running.ask('/')).status).toBe(200);
    expect(over).toBe(false);
    expect((await login).status).toBe(401);
  });

  test('is another one as soon as the file has changed', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'gwctl-')), 'htpasswd');
    cleanup.add({ close: () => rm(file, { force: true }) });
    await writeFile(file, `ann:${APR1.replaceAll('$$', '$')}\n`);
    const { ask, reload, text } = await gatewayWith(`basicAuth: {htpasswd: {file: "${file}"}}`);
    expect((await ask('/', { headers: basic('ann:secret') })).status).toBe(200);
    await writeFile(file, `ann:${'abNANd1rDfiNx'}\n`);
    await reload(text);
    expect((await ask('/', { headers: basic('ann:secret') })).status).toBe(401);
  });

  test('is in no dump and no log', async () => {
    const running = await gatewayWith(`basicAuth: {htpasswd: "ann:${APR1}"}`);
    await running.ask('/', { headers: basic('ann:hunter2') });
    await running.logged('BasicAuth');
    const dump = await (await fetch(`${running.admin}/config_dump`)).text();
    expect(dump).toContain('basicAuth');
    expect(dump + running.log.join('')).not.toMatch(/RVuXe5ck|hunter2|aHVudGVyMg/);
  });
});

const CORS = `cors:
  allowOrigins: ["https://*.a.test"]
  allowMethods: [PUT]
  exposeHeaders: [x-seen]
  allowCredentials: true
  maxAge: 10m`;

describe('a page of another origin', () => {
  const origin = 'https://app.a.test';

  test('may read the answers of the gateway itself too', async () => {
    const { ask } = await gatewayWith(`${CORS}\n${KEYS}`);
    const answer = await ask('/', { headers: { origin } });
    expect(answer).toMatchObject({
      status: 401,
      headers: {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': 'x-seen',
        vary: 'Origin',
      },
    });
    expect((await ask('/', { headers: { origin: 'https://evil.test' } })).headers).not.toHaveProperty(
      'access-control-allow-origin',
    );
  });

  test('gets one set of headers, whatever the backend and two policies say', async () => {
    const server = cleanup.add(
      await upstream((_request, response) => {
        response.writeHead(200, { 'access-control-allow-origin': '*', vary: 'Accept' }).end();
      }),
    );
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80, listeners: [{name: main, protocol: HTTP, cors: {allowOrigins: ["*"], exposeHeaders: [x-all]}}]}}
routes: [{policies: {cors: {allowOrigins: ["${origin}"]}}, backends: [{host: "127.0.0.1:${server.port}"}]}]`,
      ),
    );
    const { headers } = await ask(running.port(80), '/', { headers: { origin } });
    expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Accept, Origin' });
    expect(headers).not.toHaveProperty('access-control-expose-headers');
  });

  test('is told by a preflight what it may do, without a key', async () => {
    const { ask } = await gatewayWith(`${CORS}\n${KEYS}`);
    const headers = { origin, 'access-control-request-method': 'PUT' };
    expect(await ask('/', { method: 'OPTIONS', headers })).toMatchObject({
      status: 200,
      body: '',
      headers: { 'access-control-allow-methods': 'PUT', 'access-control-max-age': '600' },
    });
    const foreign = await ask('/', { method: 'OPTIONS', headers: { ...headers, origin: 'https://a.test' } });
    expect(foreign.status).toBe(200);
    expect(Object.keys(foreign.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('cannot forge a request', async () => {
    const { ask } = await gatewayWith('csrf: {additionalOrigins: ["https://partner.test"]}');
    const post = (headers: Record<string, string>) => ask('/', { method: 'POST', headers });
    expect(await post({ origin })).toMatchObject({ status: 403, body: 'CSRF validation failed' });
    expect((await post({ origin: 'http://shop.test' })).status).toBe(200);
    expect((await post({ origin: 'https://partner.test', 'sec-fetch-site': 'cross-site' })).status).toBe(200);
    expect((await post({})).status).toBe(200);
  });
});

withCurl('curl', () => {
  test('finds its way in with what it is given', async () => {
    const { port } = await gatewayWith(KEYS);
    const base = ['-s', '-o', '/dev/null', '-w', '%{http_code}', `http://127.0.0.1:${port}/`];
    expect((await run('curl', [...base, '--oauth2-bearer', 'k1'])).stdout).toBe('200');
    expect((await run('curl', [...base, '-H', 'authorization: Bearer k3'])).stdout).toBe('401');
  });
});
