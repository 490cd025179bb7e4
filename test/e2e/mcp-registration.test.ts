/** How MCP clients register, and what the gateway does in place of the provider. */
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { type Signer, signer } from '../proxy/jwt/tokens.ts';
import { eventually, RawClient } from './clients.ts';
import { type Ask, Cleanup } from './gateway.ts';
import { json, SERVER, type Setup, type Site, startSite } from './mcp-site.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let key: Signer;

beforeAll(async () => {
  key = await signer('key');
});

const site = (kind: string, setup?: Setup): Promise<Site> => startSite({ cleanup, key }, kind, setup);

describe('a client that registers', () => {
  const at = `${SERVER}/mcp/client-registration`;
  const client = { redirect_uris: ['http://localhost:1/callback'], client_name: 'tool' };
  const post = (body: string): Ask => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer initial', cookie: 'a=b' },
    body,
  });

  test.each(['auth0', 'authentik', 'entra', 'keycloak', 'none'] as const)(
    'gets the client of the configuration (%s), and nobody else is asked',
    async (name) => {
      const { get, provider } = await site(name, { more: 'clientId: "shop \\"1\\""' });
      const before = provider.asked.length;
      const answer = await get(at, post(JSON.stringify(client)));
      expect(answer.status).toBe(201);
      expect(json(answer)).toEqual({
        client_id: 'shop "1"',
        client_id_issued_at: 0,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: client.redirect_uris,
      });
      for (const body of ['', '{}', '{"redirect_uris":"x"}'])
        expect(json(await get(at, post(body)))['redirect_uris']).toEqual([]);
      expect(provider.asked).toHaveLength(before);
    },
  );

  test.each([
    ['keycloak', '/realms/shop/clients-registrations/openid-connect'],
    ['okta', '/oauth2/v1/clients'],
    ['descope', '/v1/mgmt/mcp/client/P1/M1/register'],
  ] as const)('does so at the provider (%s), which sees the body and nothing else of it', async (name, path) => {
    const { get, provider } = await site(name);
    provider.json(path, { client_id: 'new', client_secret: 'its own' }, 201);
    const answer = await get(at, post(JSON.stringify(client)));
    expect([answer.status, json(answer)]).toEqual([201, { client_id: 'new', client_secret: 'its own' }]);
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' });
    const [asked] = provider.asksOf(path);
    expect(JSON.parse(asked?.body ?? '')).toEqual(client);
    expect(asked?.headers).not.toHaveProperty('authorization');
    expect(asked?.headers).not.toHaveProperty('cookie');
    provider.json(path, { error: 'invalid_redirect_uri' }, 400);
    const refused = await get(at, post(JSON.stringify(client)));
    expect([refused.status, json(refused)]).toEqual([400, { error: 'invalid_redirect_uri' }]);
  });

  test('is told when it cannot', async () => {
    const authentik = await site('authentik');
    const impossible = await authentik.get(at, post(JSON.stringify(client)));
    expect([impossible.status, json(impossible)['error']]).toEqual([500, 'server_error']);
    const { get, provider } = await site('keycloak');
    const path = '/realms/shop/clients-registrations/openid-connect';
    const wrong = async (body: string) => {
      const { status, body: text } = await get(at, post(body));
      return [status, (JSON.parse(text) as { error: string }).error];
    };
    expect(await wrong('{')).toEqual([400, 'invalid_client_metadata']);
    expect(await wrong('[]')).toEqual([400, 'invalid_client_metadata']);
    expect(await wrong(JSON.stringify({ padding: 'x'.repeat(70 * 1024) }))).toEqual([413, 'invalid_request']);
    expect(provider.asksOf(path)).toEqual([]);
    provider.answers.set(path, (_asked, response) => response.writeHead(302, { location: 'http://evil.test/' }).end());
    expect(await wrong('{}')).toEqual([502, 'server_error']);
    await provider.close();
    expect(await wrong('{}')).toEqual([502, 'temporarily_unavailable']);
  });

  test('posts, and a page may ask before', async () => {
    const { get } = await site('keycloak');
    const got = await get(at);
    expect([got.status, got.headers.allow]).toEqual([405, 'POST']);
    const preflight = await get(at, { method: 'OPTIONS' });
    expect([preflight.status, preflight.headers['access-control-allow-methods']]).toEqual([200, 'POST, OPTIONS']);
  });

  test('is told to come back when too many wait, and the others are served', async () => {
    const { get, provider } = await site('keycloak');
    const path = '/realms/shop/clients-registrations/openid-connect';
    const { promise, resolve } = Promise.withResolvers<void>();
    provider.answers.set(path, (_asked, response) => void promise.then(() => response.writeHead(201).end('{}')));
    const waiting = Array.from({ length: 128 }, () => get(at, post('{}')));
    await eventually('all calls', () => provider.asksOf(path).length === 128);
    const late = await get(at, post('{}'));
    expect([late.status, late.headers['retry-after'], json(late)['error']]).toEqual([
      503,
      '1',
      'temporarily_unavailable',
    ]);
    resolve();
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([201]));
    expect((await get(at, post('{}'))).status).toBe(201);
  });

  test('has left: the provider is not kept busy', async () => {
    const { provider, gateway } = await site('keycloak');
    const closed = Promise.withResolvers<void>();
    provider.answers.set('/realms/shop/clients-registrations/openid-connect', (_asked, response) => {
      response.on('close', closed.resolve);
      client.close();
    });
    const client = new RawClient(gateway.port(80));
    client.write(`POST ${at} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`);
    await closed.promise;
  });
});

describe('entra', () => {
  const authorizeAt = `${SERVER}/mcp/authorize`;
  const tokenAt = `${SERVER}/mcp/token`;
  const secret = { more: 'clientId: shop\n      clientSecret: the secret of the shop' };
  const form = (fields: Record<string, string> | string, headers: Record<string, string> = {}): Ask => ({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
  });
  const code = { grant_type: 'authorization_code', client_id: 'shop', code: 'c', resource: 'https://mcp.test/mcp' };

  test('gets authorization requests without the resource, and as they were written else', async () => {
    const { get, provider } = await site('entra');
    const answer = await get(
      `${authorizeAt}?client_id=shop&state=a%2Bb+c&resource=https%3A%2F%2Fx&re%73ource=y&scope=%20`,
    );
    expect([answer.status, answer.headers.location]).toEqual([
      302,
      `${provider.origin}/authorize?client_id=shop&state=a%2Bb+c&scope=%20`,
    ]);
    const posted = await get(authorizeAt, form({}));
    expect([posted.status, posted.headers.allow]).toEqual([405, 'GET']);
  });

  test('keeps what its endpoint has of a query', async () => {
    const metadata = { authorization_endpoint: 'https://login.example.com/a?p=policy' };
    const { get } = await site('entra', { metadata });
    expect((await get(`${authorizeAt}?resource=x&b=1`)).headers.location).toBe(
      'https://login.example.com/a?p=policy&b=1',
    );
  });

  test('gets token requests without the resource, with the secret of the client', async () => {
    const { get, provider, gateway } = await site('entra', secret);
    provider.json('/token', { access_token: 't', token_type: 'Bearer' });
    const watch = await TraceWatch.open(gateway.admin);
    const answer = await get(tokenAt, form(code));
    expect([answer.status, json(answer)]).toEqual([200, { access_token: 't', token_type: 'Bearer' }]);
    const trace = await watch.finished();
    expect(trace).toContain('token request: answered with 200');
    expect(trace).toContain('backendCallResult');
    expect(trace).not.toContain('the secret');
    const sent = new URLSearchParams(provider.asksOf('/token')[0]?.body);
    expect(Object.fromEntries(sent)).toEqual({
      grant_type: 'authorization_code',
      client_id: 'shop',
      code: 'c',
      client_secret: 'the secret of the shop',
    });
    const dump = await (await fetch(`${gateway.admin}/config_dump`)).text();
    expect(dump + gateway.log.join('\n')).not.toContain('the secret of the shop');
  });

  test.each<[string, Ask]>([
    ['another client', form({ ...code, client_id: 'other' })],
    ['no client', form({ grant_type: 'authorization_code', code: 'c' })],
    ['another grant', form({ ...code, grant_type: 'client_credentials' })],
    ['a secret of its own', form({ ...code, client_secret: 'mine' })],
    ['an assertion of its own', form({ ...code, client_assertion: 'x' })],
    ['an authorization header', form(code, { authorization: 'Basic c2hvcDptaW5l' })],
  ])('gets no secret for a token request with %s', async (_what, asked) => {
    const { get, provider } = await site('entra', secret);
    provider.json('/token', { error: 'invalid_client' }, 401);
    provider.answers.set('/token', (_asked, response) =>
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end('{"error":"invalid_client"}'),
    );
    const answer = await get(tokenAt, asked);
    expect([answer.status, answer.headers['www-authenticate'], json(answer)['error']]).toEqual([
      401,
      'Basic realm="x"',
      'invalid_client',
    ]);
    const [seen] = provider.asksOf('/token');
    expect(seen?.body).not.toContain('the+secret');
    expect(seen?.headers.authorization).toBe(asked.headers?.['authorization']);
  });

  test('gets no token requests that are none', async () => {
    const { get, provider } = await site('entra', secret);
    const got = await get(tokenAt);
    expect([got.status, got.headers.allow]).toEqual([405, 'POST']);
    const bad: readonly Ask[] = [
      form('client_id=shop&client_id=other&grant_type=refresh_token'),
      form('client_id=other&client_id=shop&grant_type=refresh_token'),
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(code) },
      { method: 'POST', body: 'client_id=shop' },
    ];
    for (const each of bad) {
      const answer = await get(tokenAt, each);
      expect([answer.status, json(answer)['error']]).toEqual([400, 'invalid_request']);
    }
    expect(provider.asksOf('/token')).toEqual([]);
  });

  test('is alone in having these endpoints', async () => {
    const { get } = await site('keycloak');
    expect((await get(`${SERVER}/mcp/token`, form(code))).status).toBe(200);
    expect(json(await get(`${SERVER}/mcp/token`))['issuer']).toMatch(/\/mcp\/token$/);
  });
});
