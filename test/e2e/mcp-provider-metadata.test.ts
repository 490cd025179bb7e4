/** What MCP clients are told of the provider of their tokens, for every kind. */
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { type Signer, signer } from '../proxy/jwt/tokens.ts';
import { eventually } from './clients.ts';
import { ask, Cleanup, type RunningGateway, startGateway, upstream } from './gateway.ts';
import { IdentityProvider } from './identity-provider.ts';
import { bearer, json, KINDS, RESOURCE, SERVER, type Setup, type Site, startSite } from './mcp-site.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let key: Signer;

beforeAll(async () => {
  key = await signer('key');
});

const site = (kind: string, setup?: Setup): Promise<Site> => startSite({ cleanup, key }, kind, setup);

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
