/** What MCP clients are told on the way to a token, with simulated providers of every kind. */
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { forged, type Signer, signer, token } from '../proxy/jwt/tokens.ts';
import { eventually, RawClient } from './clients.ts';
import { ask, type Answer, type Ask, Cleanup, echo, type RunningGateway, startGateway, upstream } from './gateway.ts';
import { IdentityProvider } from './identity-provider.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let key: Signer;
let stranger: Signer;

beforeAll(async () => {
  key = await signer('key');
  stranger = await signer('key');
});

const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';
const JSON_RPC = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

interface Kind {
  /** Behind the origin. */
  readonly issuer: string;
  readonly metadata: string;
  readonly keys: string;
}

const KINDS: Readonly<Record<string, Kind>> = {
  none: { issuer: '/tenant', metadata: `${SERVER}/tenant`, keys: '/tenant/.well-known/jwks.json' },
  auth0: { issuer: '/', metadata: SERVER, keys: '/.well-known/jwks.json' },
  keycloak: {
    issuer: '/realms/shop',
    metadata: '/realms/shop/.well-known/openid-configuration',
    keys: '/realms/shop/protocol/openid-connect/certs',
  },
  okta: {
    issuer: '/oauth2/default',
    metadata: '/oauth2/default/.well-known/openid-configuration',
    keys: '/oauth2/default/.well-known/jwks.json',
  },
  descope: {
    issuer: '/v1/apps/agentic/P1/M1',
    metadata: '/v1/apps/agentic/P1/M1/.well-known/openid-configuration',
    keys: '/P1/.well-known/jwks.json',
  },
  authentik: {
    issuer: '/application/o/shop/',
    metadata: '/application/o/shop/.well-known/openid-configuration',
    keys: '/application/o/shop/jwks/',
  },
  entra: {
    issuer: '/tenant/v2.0',
    metadata: '/tenant/v2.0/.well-known/openid-configuration',
    keys: '/tenant/discovery/v2.0/keys',
  },
};

interface Setup {
  /** More keys of the policy. */
  readonly more?: string;
  /** More of the metadata. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly resourceMetadata?: string;
  /** More policies of the route. */
  readonly policies?: string;
  /** More of the file. */
  readonly rest?: string;
}

interface Site {
  readonly provider: IdentityProvider;
  readonly gateway: RunningGateway;
  readonly issuer: string;
  /** Where clients see the gateway. */
  readonly origin: string;
  readonly kind: Kind;
  readonly reached: () => number;
  readonly get: (path: string, asked?: Ask) => Promise<Answer>;
}

async function site(name: keyof typeof KINDS, setup: Setup = {}): Promise<Site> {
  const kind = KINDS[name];
  if (kind === undefined) throw new Error(`${name} is no kind`);
  const provider = cleanup.add(await IdentityProvider.start(key));
  const issuer = provider.origin + kind.issuer;
  provider.keysAt(kind.keys).metadataAt(kind.metadata, issuer, setup.metadata);
  let reached = 0;
  const behind = cleanup.add(
    await upstream((request, response) => {
      reached += 1;
      echo(request, response);
    }),
  );
  const { more = '', resourceMetadata = '{}', policies = '', rest = '' } = setup;
  const gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
routes:
- policies:
    ${policies}
    mcpAuthentication:
      issuer: "${issuer}"
      audiences: [api, second]
      resourceMetadata: ${resourceMetadata}
      ${name === 'none' ? '' : `provider: {${name}: {}}`}
      ${more}
  backends: [{host: "127.0.0.1:${behind.port}"}]
${rest}`),
  );
  const port = gateway.port(80);
  return {
    provider,
    gateway,
    issuer,
    // What `ask` calls the host.
    origin: 'http://shop.test',
    kind,
    reached: () => reached,
    get: (path, asked) => ask(port, path, asked),
  };
}

function json(answer: Answer): Record<string, unknown> {
  return JSON.parse(answer.body) as Record<string, unknown>; // every document here is an object
}

const bearer = (text: string): Ask => ({
  method: 'POST',
  headers: { authorization: `Bearer ${text}` },
  body: JSON_RPC,
});

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

describe('authorization server metadata', () => {
  const own = (origin: string) => ({
    issuer: `${origin}/mcp`,
    registration_endpoint: `${origin}${SERVER}/mcp/client-registration`,
  });
  const plain = (provider: string) => ({
    authorization_endpoint: `${provider}/authorize`,
    token_endpoint: `${provider}/token`,
    registration_endpoint: `${provider}/register`,
    response_types_supported: ['code'],
    jwks_uri: `${provider}/keys`,
  });

  test.each([
    ['none', (_origin: string, _provider: string) => ({})],
    [
      'auth0',
      (origin: string, provider: string) => ({
        issuer: `${origin}/mcp`,
        authorization_endpoint: `${provider}/authorize?audience=api`,
      }),
    ],
    ['keycloak', own],
    [
      'okta',
      (origin: string, provider: string) => ({
        ...own(origin),
        authorization_endpoint: `${provider}/authorize?audience=api`,
      }),
    ],
    ['descope', own],
    ['authentik', own],
    [
      'entra',
      (origin: string) => ({
        ...own(origin),
        authorization_endpoint: `${origin}${SERVER}/mcp/authorize`,
        token_endpoint: `${origin}${SERVER}/mcp/token`,
        code_challenge_methods_supported: ['S256'],
      }),
    ],
  ])('of a provider of kind %s are changed for what it needs', async (name, changes) => {
    const { get, issuer, origin, provider, kind } = await site(name);
    const answer = await get(`${SERVER}/mcp`);
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(json(answer)).toEqual({ issuer, ...plain(provider.origin), ...changes(origin, provider.origin) });
    const preflight = await get(`${SERVER}/mcp`, { method: 'OPTIONS' });
    expect([preflight.status, preflight.headers['access-control-allow-methods']]).toEqual([200, 'GET, OPTIONS']);
    // Further ones, also in the other spelling, ask nobody for a while.
    expect(json(await get(`/mcp${SERVER}`))['issuer']).toBe(name === 'none' ? issuer : `${origin}/mcp`);
    expect(provider.asksOf(kind.metadata)).toHaveLength(1);
  });

  test('leave what a provider tells of itself, but for what would not hold any more', async () => {
    const metadata = {
      signed_metadata: 'x.y.z',
      authorization_response_iss_parameter_supported: true,
      code_challenge_methods_supported: ['plain', 'S256'],
      authorization_endpoint: 'https://login.example.com/authorize?tenant=a%20b&audience=old',
    };
    const entra = json(await (await site('entra', { metadata })).get(`${SERVER}/mcp`));
    expect(entra).not.toHaveProperty('signed_metadata');
    expect(entra).not.toHaveProperty('authorization_response_iss_parameter_supported');
    expect(entra['code_challenge_methods_supported']).toEqual(['plain', 'S256']);
    const auth0 = json(await (await site('auth0', { metadata })).get(`${SERVER}/mcp`));
    const url = new URL(String(auth0['authorization_endpoint']));
    expect(Object.fromEntries(url.searchParams)).toEqual({ tenant: 'a b', audience: 'api' });
    const none = json(await (await site('none', { metadata })).get(`${SERVER}/mcp`));
    expect(none).toMatchObject(metadata);
  });

  test.each(['okta', 'descope'] as const)('of %s without registration offer none', async (name) => {
    const { get } = await site(name, { metadata: { registration_endpoint: undefined } });
    expect(json(await get(`${SERVER}/mcp`))).not.toHaveProperty('registration_endpoint');
  });

  test.each(['none', 'auth0', 'keycloak'] as const)(
    'of %s send clients here to register with a clientId',
    async (name) => {
      const { get, origin } = await site(name, {
        more: 'clientId: shop',
        metadata: { registration_endpoint: undefined },
      });
      expect(json(await get(`${SERVER}/mcp`))).toMatchObject(own(origin));
      expect(json(await get(`${RESOURCE}/mcp`))['authorization_servers']).toEqual([`${origin}/mcp`]);
    },
  );

  test.each<[string, Readonly<Record<string, unknown>> | string | number]>([
    ['is not JSON', '<html>'],
    ['is not an object', '[]'],
    ['is empty', ''],
    ['is not found', 404],
    ['redirects', 302],
    ['fails', 503],
    ['has no authorization endpoint', { authorization_endpoint: undefined }],
    ['has a token endpoint that is none', { token_endpoint: 'javascript:alert(1)' }],
    ['has no issuer', { issuer: 7 }],
    ['is huge', { padding: 'x'.repeat(300 * 1024) }],
  ])('are an empty 500 when the document of the provider %s', async (_what, document) => {
    const { get, provider, kind, issuer } = await site('keycloak');
    if (typeof document === 'object') provider.metadataAt(kind.metadata, issuer, document);
    else
      provider.answers.set(kind.metadata, (_asked, response) => {
        if (typeof document === 'number') response.writeHead(document, { location: '/elsewhere' });
        response.end(typeof document === 'string' ? document : '{}');
      });
    const answer = await get(`${SERVER}/mcp`);
    expect([answer.status, answer.body]).toEqual([500, '']);
    expect(answer.headers['x-gw-reason']).toBe('UpstreamFailure');
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    // Nothing of a failure is kept.
    provider.metadataAt(kind.metadata, issuer);
    expect((await get(`${SERVER}/mcp`)).status).toBe(200);
  });

  test('are an empty 500 where clients have to register and cannot', async () => {
    const { get } = await site('keycloak', { metadata: { registration_endpoint: undefined } });
    const answer = await get(`${SERVER}/mcp`);
    expect([answer.status, answer.body]).toEqual([500, '']);
  });

  test('are an empty 500 when the provider is gone or cuts its answer, and everything else goes on', async () => {
    const { get, provider, kind, issuer } = await site('keycloak');
    const good = await provider.token(issuer);
    provider.answers.set(kind.metadata, (_asked, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"issuer":');
      response.socket?.destroy();
    });
    expect((await get(`${SERVER}/mcp`)).status).toBe(500);
    await provider.close();
    expect((await get(`${SERVER}/mcp`)).status).toBe(500);
    expect((await get(`${RESOURCE}/mcp`)).status).toBe(200);
    expect((await get('/mcp', bearer(good))).status).toBe(200);
  });

  test('of a slow provider are waited for as long as the request may take', async () => {
    const { get, provider, kind } = await site('keycloak', { policies: 'timeout: {requestTimeout: 50ms}' });
    provider.answers.set(kind.metadata, () => {});
    const answer = await get(`${SERVER}/mcp`);
    expect([answer.status, answer.headers['x-gw-reason']]).toEqual([504, 'Timeout']);
  });

  test('are asked for once for all who wait', async () => {
    const { get, provider, kind, issuer } = await site('auth0');
    const { promise, resolve } = Promise.withResolvers<void>();
    const endpoints = { authorization_endpoint: 'https://a.test/', token_endpoint: 'https://a.test/' };
    provider.answers.set(kind.metadata, (_asked, response) => {
      void promise.then(() => response.end(JSON.stringify({ issuer, ...endpoints })));
    });
    const waiting = Array.from({ length: 10 }, () => get(`${SERVER}/mcp`));
    await eventually('the question', () => provider.asksOf(kind.metadata).length > 0);
    resolve();
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(statuses).toEqual(Array.from({ length: 10 }, () => 200));
    expect(provider.asksOf(kind.metadata)).toHaveLength(1);
  });

  test('of an issuer that is the gateway itself do not go round for ever', async () => {
    const { gateway } = await looping();
    const answer = await ask(gateway.port(80), `${SERVER}/mcp`);
    expect(answer.status).toBe(500);
    await gateway.logged('http.status=508');
  });
});

/** A gateway whose provider sends every question back to it. */
async function looping(): Promise<{ gateway: RunningGateway }> {
  let port = 0;
  const mirror = cleanup.add(
    await upstream((request, response) => {
      const { url = '/' } = request;
      if (url.startsWith('/.well-known/jwks')) return response.end(JSON.stringify({ keys: [key.jwk] }));
      return void ask(port, url, {
        headers: { 'cdn-loop': String(request.headers['cdn-loop'] ?? ''), accept: 'application/json' },
      }).then(({ status, body }) => response.writeHead(status).end(body));
    }),
  );
  const gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
routes:
- policies:
    mcpAuthentication: {issuer: "http://127.0.0.1:${mirror.port}/", audiences: [api], provider: {auth0: {}}, resourceMetadata: {}}
  backends: [{host: "127.0.0.1:${mirror.port}"}]
`),
  );
  port = gateway.port(80);
  return { gateway };
}

describe('the key set of a provider that has it elsewhere', () => {
  const config = (issuer: string, kind: string): string => `gateways: {default: {port: 80}}
routes:
- policies:
    mcpAuthentication: {issuer: "${issuer}", audiences: [api], provider: {${kind}: {}}, resourceMetadata: {}}
    directResponse: {status: 200}
`;

  test.each(['okta', 'keycloak', 'authentik'] as const)('is where its metadata say (%s)', async (name) => {
    const kind = KINDS[name];
    const provider = cleanup.add(await IdentityProvider.start(key));
    const issuer = provider.origin + kind?.issuer;
    provider.metadataAt(kind?.metadata ?? '', issuer).keysAt('/keys');
    // Some answer with a page where nothing is.
    if (name === 'keycloak') provider.answers.set(kind?.keys ?? '', (_asked, response) => response.end('<html>'));
    const { port } = cleanup.add(await startGateway(config(issuer, name)));
    expect((await ask(port(80), '/mcp', bearer(await provider.token(issuer)))).status).toBe(200);
  });

  test('has to be that of the issuer: the configuration is refused', async () => {
    const provider = cleanup.add(await IdentityProvider.start(key));
    const issuer = `${provider.origin}/oauth2/default`;
    const metadata = '/oauth2/default/.well-known/openid-configuration';
    provider.metadataAt(metadata, 'http://other.test').keysAt('/keys');
    const wanted = `cannot load the key set ${issuer}/.well-known/jwks.json: the server answered with status 404; by the metadata of its issuer: it is of the issuer "http://other.test"`;
    await expect(startGateway(config(issuer, 'okta'))).rejects.toThrow(wanted);
    provider.metadataAt(metadata, issuer, { jwks_uri: undefined });
    await expect(startGateway(config(issuer, 'okta'))).rejects.toThrow('it has no `jwks_uri`');
    provider.answers.delete(metadata);
    await expect(startGateway(config(issuer, 'okta'))).rejects.toThrow('by the metadata of its issuer: the server');
  });
});

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
