/** What MCP clients are told on the way to a token. */
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { forged, type Signer, signer, token } from '../proxy/jwt/tokens.ts';
import { RawClient } from './clients.ts';
import { ask, type Ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';
import { IdentityProvider } from './identity-provider.ts';
import { bearer, json, RESOURCE, SERVER, type Setup, type Site, startSite, JSON_RPC } from './mcp-site.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let key: Signer;
let stranger: Signer;

beforeAll(async () => {
  key = await signer('key');
  stranger = await signer('key');
});

const site = (kind: string, setup?: Setup): Promise<Site> => startSite({ cleanup, key }, kind, setup);

describe('a request', () => {
  test('with a token reaches the server, without the token', async () => {
    const { get, provider, issuer } = await site('keycloak');
    const answer = await get('/mcp', bearer(await provider.token(issuer)));
    expect(answer.status).toBe(200);
    expect(answer.body).not.toContain('authorization');
    expect(answer.body).toContain('tools/list');
  });

  test('without a good one learns where to get it, and nothing of it reaches the server', async () => {
    const { get, provider, issuer, origin, reached, gateway } = await site('keycloak');
    const good = await provider.token(issuer);
    const bad: readonly Ask[] = [
      { method: 'POST', body: JSON_RPC },
      { headers: { authorization: 'Basic YTpi' } },
      { headers: { authorization: good } },
      { headers: { cookie: `token=${good}` } },
      bearer(''),
      bearer('x.y.z'),
      bearer(good.slice(0, -3)),
      bearer(await token(stranger, { claims: { iss: issuer, aud: 'api' } })),
      bearer(await provider.token(issuer, { claims: { aud: 'other' } })),
      bearer(await provider.token(`${issuer}/`)),
      bearer(await provider.token(issuer, { claims: { exp: 1 } })),
      bearer(await provider.token(issuer, { header: { kid: undefined } })),
      bearer(forged({ alg: 'none', kid: 'key' }, { iss: issuer, aud: 'api', exp: 9_999_999_999 })),
    ];
    for (const each of bad) {
      const answer = await get('/mcp?a=1', each);
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe(`Bearer resource_metadata="${origin}${RESOURCE}/mcp"`);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.headers['x-gw-reason']).toBe('JwtAuth');
      expect(answer.body).toBe('{"error":"unauthorized","error_description":"JWT token required"}');
    }
    expect((await get(`/mcp?access_token=${good}`)).status).toBe(401);
    expect(reached()).toBe(0);
    await gateway.logged('http.status=401');
    expect(gateway.log.join('\n')).not.toContain(good);
  });

  test.each([
    ['optional', [200, 401, 200]],
    ['permissive', [200, 200, 200]],
  ] as const)('may come without one where the mode is %s', async (mode, statuses) => {
    const { get, provider, issuer } = await site('keycloak', { more: `mode: ${mode}` });
    const seen = [
      await get('/mcp', { method: 'POST', body: JSON_RPC }),
      await get('/mcp', bearer('x.y.z')),
      await get('/mcp', bearer(await provider.token(issuer))),
    ];
    expect(seen.map(({ status }) => status)).toEqual(statuses);
    expect((await get(`${RESOURCE}/mcp`)).status).toBe(200);
  });

  test('has its token where the policy says', async () => {
    const { get, provider, issuer } = await site('keycloak', {
      more: 'authorizationLocation: {cookie: {name: token}}',
    });
    const good = await provider.token(issuer);
    expect((await get('/mcp', { headers: { cookie: `token=${good}` } })).status).toBe(200);
    expect((await get('/mcp', bearer(good))).status).toBe(401);
  });
});

describe('the address that clients are sent to', () => {
  const challenge = async ({ get }: Site, path: string, headers: Record<string, string> = {}): Promise<unknown> =>
    (await get(path, { headers })).headers['www-authenticate'];

  test('is the one that they have asked for', async () => {
    const own = await site('keycloak');
    const at = (base: string, path = '/mcp'): string => `Bearer resource_metadata="${base}${RESOURCE}${path}"`;
    expect(await challenge(own, '/mcp', { host: 'mcp.example.com' })).toBe(at('http://mcp.example.com'));
    const proto = (value: string) => ({ host: 'mcp.example.com', 'x-forwarded-proto': value });
    expect(await challenge(own, '/mcp', proto('https'))).toBe(at('https://mcp.example.com'));
    expect(await challenge(own, '/mcp', proto('HTTPS, http'))).toBe(at('https://mcp.example.com'));
    expect(await challenge(own, '/mcp', proto('javascript'))).toBe(at('http://mcp.example.com'));
    expect(await challenge(own, '/mcp', proto('https://evil.test/x'))).toBe(at('http://mcp.example.com'));
    expect(await challenge(own, '/a%20b/"c"?q="')).toBe(at(own.origin, '/a%20b/%22c%22'));
    expect(await challenge(own, '/mcp', { 'x-forwarded-host': 'evil.test' })).toBe(at(own.origin));
  });

  test('is that of the configuration, where it names one', async () => {
    const resourceMetadata = '{resource: "https://public.example.com/mcp"}';
    const own = await site('keycloak', { resourceMetadata });
    expect(await challenge(own, '/mcp', { host: 'evil.test' })).toBe(
      `Bearer resource_metadata="https://public.example.com${RESOURCE}/mcp"`,
    );
    const document = json(await own.get(`${RESOURCE}/mcp`, { headers: { host: 'evil.test' } }));
    expect(document['authorization_servers']).toEqual(['https://public.example.com/mcp']);
  });

  test('keeps the prefix that was taken away before the route was chosen', async () => {
    const rest = `policies:
- name: {name: strip, namespace: default}
  target: {gateway: {gatewayName: default, gatewayNamespace: default}}
  phase: gateway
  policy: {transformations: {request: {set: {":path": 'request.path.startsWith("/tools/") ? request.path.substring(6) : request.path'}}}}`;
    const own = await site('keycloak', { rest });
    expect(await challenge(own, '/tools/mcp')).toBe(`Bearer resource_metadata="${own.origin}/tools${RESOURCE}/mcp"`);
    const document = json(await own.get(`/tools${RESOURCE}/mcp`));
    expect(document['resource']).toBe(`${own.origin}/tools/mcp`);
    const server = json(await own.get(`/tools${SERVER}/mcp`));
    expect(server['issuer']).toBe(`${own.origin}/tools/mcp`);
    expect(server['registration_endpoint']).toBe(`${own.origin}/tools${SERVER}/mcp/client-registration`);
  });

  test('is none for a client that names no host', async () => {
    const own = await site('keycloak');
    const raw = async (path: string): Promise<string> => {
      const client = cleanup.add(new RawClient(own.gateway.port(80)));
      client.write(`GET ${path} HTTP/1.0\r\n\r\n`);
      await client.closed;
      return client.text;
    };
    expect(await raw('/mcp')).toMatch(/ 401 [\s\S]*\r\nwww-authenticate: Bearer\r\n/);
    expect(await raw(`${RESOURCE}/mcp`)).toMatch(/ 400 [\s\S]*the request names no host/);
  });

  test('cannot be changed by a hostile host', async () => {
    const own = await site('keycloak');
    for (const host of [
      'evil"x',
      'a b',
      'evil.test/path',
      'evil.test\\x',
      'user@evil.test',
      'evil.test?x',
      'evil.test#x',
    ]) {
      const client = cleanup.add(new RawClient(own.gateway.port(80)));
      client.write(`GET /mcp HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      await client.closed;
      expect(client.text).toMatch(/^HTTP\/1\.1 400 /);
      expect(client.text).not.toContain('resource_metadata');
    }
  });
});

describe('protected resource metadata', () => {
  test('name the server that was asked for and where it is logged in, for everybody', async () => {
    const { get, origin, reached, provider } = await site('okta');
    const before = provider.asked.length;
    for (const [path, resource] of [
      ['/mcp', `${origin}/mcp`],
      ['', origin],
      ['/a/b', `${origin}/a/b`],
    ] as const) {
      const answer = await get(RESOURCE + path);
      expect(answer.status).toBe(200);
      expect(json(answer)).toEqual({
        resource,
        authorization_servers: [resource],
        mcp_protocol_version: '2025-06-18',
        resource_type: 'mcp-server',
      });
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json',
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, OPTIONS',
        'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
      });
    }
    expect((await get(`${RESOURCE}/mcp`, { method: 'OPTIONS' })).status).toBe(200);
    expect((await get(`${RESOURCE}/mcp`, { method: 'POST', body: '{}' })).status).toBe(200);
    expect(json(await get(`/mcp${RESOURCE}`))['resource']).toBe(`${origin}/mcp`);
    expect(reached()).toBe(0);
    expect(provider.asked).toHaveLength(before);
  });

  test('name the issuer itself, where nothing is done in its place', async () => {
    const { get, issuer } = await site('none');
    expect(json(await get(`${RESOURCE}/mcp`))['authorization_servers']).toEqual([issuer]);
  });

  test('hold what the configuration says, in their own spelling and above everything else', async () => {
    const resourceMetadata =
      '{resource: "https://public.example.com/mcp", scopesSupported: [read, write], bearerMethodsSupported: [header], mcpProtocolVersion: "2025-11-25", nested: {camelCase: {a: [1, null]}}}';
    const { get } = await site('keycloak', { resourceMetadata });
    expect(json(await get(`${RESOURCE}/mcp`))).toEqual({
      resource: 'https://public.example.com/mcp',
      authorization_servers: ['https://public.example.com/mcp'],
      mcp_protocol_version: '2025-11-25',
      resource_type: 'mcp-server',
      scopes_supported: ['read', 'write'],
      bearer_methods_supported: ['header'],
      nested: { camelCase: { a: [1, null] } },
    });
  });

  test('are not to be had by paths that only look like theirs', async () => {
    const { get } = await site('keycloak');
    for (const path of [
      `${RESOURCE}s`,
      `/x${RESOURCE}/mcp`,
      `/.well-known//oauth-protected-resource/mcp`,
      `/.well-known/oauth-protected%2Dresource`,
      `/mcp?x=${RESOURCE}/mcp`,
      '/mcp/client-registration',
    ])
      expect((await get(path)).status).toBe(401);
  });
});

describe('jwtAuth with mcp', () => {
  test('does the same before routing, and beside other policies', async () => {
    const provider = cleanup.add(await IdentityProvider.start(key));
    provider
      .keysAt('/tenant/protocol/openid-connect/certs')
      .metadataAt('/tenant/.well-known/openid-configuration', 'x');
    const behind = cleanup.add(await upstream(echo));
    const issuer = `${provider.origin}/tenant`;
    const gateway = cleanup.add(
      await startGateway(`gateways:
  default:
    port: 80
    cors: {allowOrigins: ["https://page.test"], allowMethods: [POST], exposeHeaders: [www-authenticate]}
    jwtAuth: {issuer: "${issuer}", audiences: [api], preserveToken: true, mcp: {provider: {keycloak: {}}}}
    authorization: {rules: ['jwt.sub == "alice"']}
routes:
- matches: [{path: {pathPrefix: /mcp}}]
  backends: [{host: "127.0.0.1:${behind.port}"}]
`),
    );
    const port = gateway.port(80);
    const refused = await ask(port, '/mcp', { headers: { origin: 'https://page.test' } });
    expect(refused.status).toBe(401);
    expect(refused.headers).toMatchObject({
      'access-control-allow-origin': 'https://page.test',
      'access-control-expose-headers': 'www-authenticate',
    });
    const document = await ask(port, `${RESOURCE}/mcp`, { headers: { origin: 'https://other.test' } });
    expect([document.status, document.headers['access-control-allow-origin']]).toEqual([200, '*']);
    const good = await provider.token(issuer);
    const passed = await ask(port, '/mcp', bearer(good));
    expect(passed.status).toBe(200);
    expect(passed.body).toContain(good);
    const bob = await provider.token(issuer, { claims: { sub: 'bob' } });
    expect((await ask(port, '/mcp', bearer(bob))).status).toBe(403);
  });

  test('tells in the trace who said what', async () => {
    const { gateway, get, origin } = await site('keycloak');
    const watch = await TraceWatch.open(gateway.admin);
    await get('/mcp');
    const trace = await watch.finished();
    expect(trace).toContain('token missing (from route');
    expect(trace).toContain(`client sent to ${origin}${RESOURCE}/mcp (from route`);
  });
});
