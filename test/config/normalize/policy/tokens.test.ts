import { generateKeyPairSync } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import { ConfigError, loadConfig } from '../../../../src/config/index.ts';
import type { RoutePolicies } from '../../../../src/config/ir/index.ts';

const jwk = { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }), kid: 'k1' };
const keySet = JSON.stringify({ keys: [jwk] });
const OIDC_COOKIE_SECRET = '0f'.repeat(32);

const files: Readonly<Record<string, string>> = {
  '/etc/gw/keys.json': keySet,
  '/etc/gw/broken.json': '{',
  '/etc/gw/secret': '  s3cret\n',
  '/etc/gw/discovery.json': JSON.stringify({
    issuer: 'https://id.test',
    authorization_endpoint: 'https://id.test/auth',
    token_endpoint: 'https://id.test/token',
    jwks_uri: 'https://id.test/keys',
    token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_post'],
  }),
};

function load(policies: object, env: Record<string, string> = { OIDC_COOKIE_SECRET }) {
  const text = JSON.stringify({ gateways: { default: { port: 8080 } }, routes: [{ policies, backends: [] }] });
  return loadConfig(
    { kind: 'text', text, name: 'test.yaml' },
    {
      env,
      directory: '/etc/gw',
      readFile: async (path) => {
        const content = files[path];
        if (content === undefined) throw Object.assign(new Error('none'), { code: 'ENOENT' });
        return Buffer.from(content);
      },
    },
  );
}

async function policiesOf(policies: object): Promise<RoutePolicies> {
  const { config } = await load(policies);
  return config.binds[0]?.listeners[0]?.routes[0]?.policies ?? {};
}

async function issues(policies: object, env?: Record<string, string>): Promise<string[]> {
  try {
    await load(policies, env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.issues.map(({ path, message }) => `${path.replace('routes[0].policies.', '')}: ${message}`);
  }
}

describe('jwtAuth', () => {
  test('is the same whether its one provider is listed or not', async () => {
    const provider = { issuer: 'https://id.test', jwks: { file: 'keys.json' } };
    const { jwtAuth } = await policiesOf({ jwtAuth: provider });
    expect(jwtAuth).toEqual({
      mode: 'strict',
      location: { kind: 'header', name: 'authorization', prefix: 'Bearer ' },
      preserveToken: false,
      providers: [
        {
          issuer: 'https://id.test',
          audiences: [],
          requiredClaims: ['exp'],
          keys: { kind: 'inline', keys: [expect.objectContaining({ kid: 'k1', kty: 'EC', crv: 'P-256' })] },
        },
      ],
    });
    expect((await policiesOf({ jwtAuth: { providers: [provider] } })).jwtAuth).toEqual(jwtAuth);
  });

  test('watches the file of a key set', async () => {
    const policies = { jwtAuth: { issuer: 'https://id.test', jwks: { file: 'keys.json' } } };
    const loaded = await load(policies);
    expect(loaded.files).toContain('/etc/gw/keys.json');
  });

  test('remembers where a key set is fetched', async () => {
    const { jwtAuth } = await policiesOf({ jwtAuth: { issuer: 'a', jwks: { url: 'HTTPS://ID.test/keys' } } });
    expect(jwtAuth?.providers[0]?.keys).toEqual({ kind: 'remote', content: 'keySet', url: 'https://id.test/keys' });
  });

  test.each([
    [
      'nothing',
      {},
      ['jwtAuth: `jwtAuth` needs `issuer`, or `providers`', 'jwtAuth: `jwtAuth` needs `jwks`, or `providers`'],
    ],
    [
      'both forms',
      { issuer: 'a', providers: [{ issuer: 'a', jwks: keySet }] },
      ['jwtAuth.issuer: `jwtAuth` takes either `providers` or `issuer`: move it into a provider'],
    ],
    [
      'a text that is no key set',
      { issuer: 'a', jwks: 'secret' },
      ['jwtAuth.jwks: the key set in the text cannot be used: it is not JSON'],
    ],
    [
      'a broken file',
      { issuer: 'a', jwks: { file: 'broken.json' } },
      ['jwtAuth.jwks: the key set in /etc/gw/broken.json cannot be used: it is not JSON'],
    ],
    [
      'a missing file',
      { issuer: 'a', jwks: { file: 'none.json' } },
      ['jwtAuth.jwks.file: there is no file /etc/gw/none.json'],
    ],
    [
      'a relative address',
      { issuer: 'a', jwks: { url: '/keys' } },
      ['jwtAuth.jwks.url: "/keys" is not an absolute address, which begins with https:// or http://'],
    ],
    [
      'another scheme',
      { issuer: 'a', jwks: { url: 'file:///etc/passwd' } },
      ['jwtAuth.jwks.url: "file:///etc/passwd" is neither http:// nor https://'],
    ],
    [
      'credentials',
      { issuer: 'a', jwks: { url: 'https://u:hidden@id.test/?k=hidden' } },
      ['jwtAuth.jwks.url: "https://id.test/?…" holds credentials, which are not sent'],
    ],
  ])('refuses %s', async (_what, jwtAuth, expected) => {
    expect(await issues({ jwtAuth })).toEqual(expected);
  });
});

describe('oidc', () => {
  const spec = {
    issuer: 'https://id.test',
    clientId: 'shop',
    clientSecret: { file: 'secret' },
    redirectURI: 'https://shop.test/oauth/callback',
  };
  const endpoints = { authorizationEndpoint: 'https://id.test/a', tokenEndpoint: 'https://id.test/t', jwks: keySet };

  test('asks the issuer for its discovery document, with openid first among the scopes', async () => {
    const { oidc } = await policiesOf({ oidc: { ...spec, scopes: ['email profile', 'openid', 'email'] } });
    expect(oidc).toMatchObject({
      policyId: 'routes//default/route0/',
      issuer: 'https://id.test',
      redirectUri: 'https://shop.test/oauth/callback',
      scopes: ['openid', 'email', 'profile'],
      provider: { kind: 'remote', content: 'discovery', url: 'https://id.test/.well-known/openid-configuration' },
    });
    expect(oidc?.clientSecret.reveal()).toBe('s3cret');
    expect(oidc?.cookieKey.reveal()).toBe(OIDC_COOKIE_SECRET);
    const slash = await policiesOf({ oidc: { ...spec, issuer: 'https://id.test/tenant/' } });
    expect(slash.oidc?.provider).toMatchObject({
      issuer: 'https://id.test/tenant/',
      url: 'https://id.test/tenant/.well-known/openid-configuration',
    });
  });

  test('reads a discovery document from a file as the endpoints that it names', async () => {
    const { oidc } = await policiesOf({ oidc: { ...spec, discovery: { file: 'discovery.json' } } });
    expect(oidc?.provider).toEqual({
      kind: 'explicit',
      authorizationEndpoint: 'https://id.test/auth',
      tokenEndpoint: 'https://id.test/token',
      tokenEndpointAuth: 'clientSecretPost',
      keys: { kind: 'remote', content: 'keySet', url: 'https://id.test/keys' },
    });
  });

  test.each([
    [
      'a part of the endpoints',
      { tokenEndpoint: 'https://id.test/t' },
      /takes `authorizationEndpoint`, `tokenEndpoint` and `jwks` together/,
    ],
    [
      'endpoints and discovery',
      { ...endpoints, discovery: '{}' },
      /^oidc\.discovery: `oidc` takes either `discovery` or the endpoints/,
    ],
    ['a way to authenticate with discovery', { tokenEndpointAuth: 'clientSecretPost' }, /^oidc\.tokenEndpointAuth: /],
    [
      'a discovery document that is none',
      { discovery: '{}' },
      /^oidc\.discovery: the discovery document in the text cannot be used: it is of the issuer that it does not name/,
    ],
    [
      'an endpoint that is no address',
      { ...endpoints, tokenEndpoint: 'token' },
      /^oidc\.tokenEndpoint: the address is not an absolute address/,
    ],
    [
      'an endpoint of another scheme',
      { ...endpoints, authorizationEndpoint: 'javascript:alert(1)' },
      /^oidc\.authorizationEndpoint: the address is neither http/,
    ],
    ['an issuer that is no address', { issuer: 'me' }, /^oidc\.issuer: the address is not/],
    ['an empty secret', { clientSecret: ' ' }, /^oidc\.clientSecret: the client secret is empty/],
    ['a relative callback', { redirectURI: '/callback' }, /^oidc\.redirectURI: the address is not an absolute address/],
    ['a callback without a path', { redirectURI: 'https://shop.test' }, /needs a path of its own/],
    ['a callback at the root', { redirectURI: 'https://shop.test/' }, /needs a path of its own/],
    ['a callback with a query', { redirectURI: 'https://shop.test/a?b' }, /has a query or a fragment/],
    ['a callback with a fragment', { redirectURI: 'https://shop.test/a#b' }, /has a fragment/],
    ['a callback with credentials', { redirectURI: 'https://u:p@shop.test/a' }, /holds credentials/],
    ['a callback with dots', { redirectURI: 'https://shop.test/a/../b' }, /dot segment/],
    ['a callback with encoded dots', { redirectURI: 'https://shop.test/a/%2e%2E/b' }, /dot segment/],
    ['a callback with an encoded slash', { redirectURI: 'https://shop.test/a%2fb' }, /encoded slash/],
    ['a callback with a backslash', { redirectURI: 'https://shop.test/a\\b' }, /encoded slash or a backslash/],
    ['a callback with a space', { redirectURI: 'https://shop.test/a b' }, /percent-encoded/],
  ])('refuses %s', async (_what, changes, message) => {
    const found = await issues({ oidc: { ...spec, ...changes } });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(message);
  });

  test('needs the key of its cookies', async () => {
    expect(await issues({ oidc: spec }, {})).toEqual(['oidc: OIDC_COOKIE_SECRET is required when oidc is configured']);
    expect(await issues({ oidc: spec }, { OIDC_COOKIE_SECRET: 'x' })).toEqual([
      'oidc: OIDC_COOKIE_SECRET is not 64 hexadecimal digits',
    ]);
  });
});
