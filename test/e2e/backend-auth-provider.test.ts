import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';
import type { ClientMetadata } from 'oidc-provider';

import { type AuthorizationServer, authorizationServer, bare, type ServerOptions } from './authorization-server.ts';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const SECRET = 'p%s:w+rd & more, long enough to be a secret';
const CALLER = { client_id: 'caller', client_secret: 'the secret of the caller', ...bare(['client_credentials']) };

const gatewayClient = (more: ClientMetadata): ClientMetadata => ({ ...bare([EXCHANGE, JWT_BEARER]), ...more });
const withSecret = (method: 'client_secret_basic' | 'client_secret_post'): ClientMetadata =>
  gatewayClient({ client_id: 'the gateway', client_secret: SECRET, token_endpoint_auth_method: method });

function server(client: ClientMetadata, more: Partial<ServerOptions> = {}): Promise<AuthorizationServer> {
  return authorizationServer(cleanup, { clients: [CALLER, client], audiences: ['backend'], ...more });
}

function callerToken({ token }: AuthorizationServer): Promise<string> {
  return token({ client: 'caller', secret: CALLER.client_secret, scope: 'read' });
}

/** A backend that asks the authorization server about the token that comes. */
async function gateway(auth: string, judge: AuthorizationServer) {
  const seen: string[] = [];
  const backend = cleanup.add(
    await upstream((request, response) => {
      const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
      seen.push(token);
      void judge.introspect(token).then((told) => response.end(JSON.stringify(told)));
    }),
  );
  const running = cleanup.add(
    await startGateway(`
gateways: {default: {port: 80}}
routes:
- backends: [{host: "127.0.0.1:${backend.port}", policies: {backendAuth: ${auth}}}]
`),
  );
  const call = (token: string) => ask(running.port(80), '/', { headers: { authorization: `Bearer ${token}` } });
  return { ...running, call, seen };
}

function exchange({ port }: AuthorizationServer, clientAuth: string, more = ''): string {
  return `{oauthTokenExchange: {host: "127.0.0.1:${port}", path: /token, audiences: [backend], scopes: [read, write], clientAuth: ${clientAuth}${more}}}`;
}

describe('a real authorization server', () => {
  test.each([
    ['client_secret_basic', 'clientSecretBasic'],
    ['client_secret_post', 'clientSecretPost'],
  ] as const)('exchanges tokens for a client that shows itself by %s', async (method, name) => {
    const as = await server(withSecret(method));
    const { call } = await gateway(
      exchange(as, `{method: ${name}, clientId: the gateway, clientSecret: "${SECRET}"}`),
      as,
    );
    const answer = await call(await callerToken(as));
    expect([answer.status, as.refused]).toEqual([200, []]);
    expect(JSON.parse(answer.body)).toMatchObject({ active: true, client_id: 'the gateway', scope: 'read write' });
  });

  test.each(['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384'] as const)(
    'exchanges tokens for a client that signs assertions with %s',
    async (alg) => {
      const { publicKey, privateKey } = alg.startsWith('ES')
        ? generateKeyPairSync('ec', { namedCurve: alg === 'ES256' ? 'P-256' : 'P-384' })
        : generateKeyPairSync('rsa', { modulusLength: 2048 });
      const as = await server(
        gatewayClient({
          client_id: 'gw',
          token_endpoint_auth_method: 'private_key_jwt',
          token_endpoint_auth_signing_alg: alg,
          jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg, use: 'sig' }] },
        } as ClientMetadata), // `as`: the library's types know fewer kinds of keys than the library
      );
      const folder = mkdtempSync(join(tmpdir(), 'oauth-'));
      cleanup.add({ close: () => rmSync(folder, { recursive: true }) });
      const file = join(folder, 'key.pem');
      writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }));
      const { call } = await gateway(
        exchange(
          as,
          `{method: privateKeyJwt, clientId: gw, signingKey: {file: ${file}}, alg: ${alg}, kid: k1, assertionAudience: "${as.issuer}"}`,
          ', cache: {maxEntries: 0}',
        ),
        as,
      );
      // Twice: the server takes no assertion a second time.
      for (const token of [await callerToken(as), await callerToken(as)]) {
        const answer = await call(token);
        expect([as.refused, answer.status]).toEqual([[], 200]);
        expect(JSON.parse(answer.body)).toMatchObject({ active: true, client_id: 'gw' });
      }
    },
  );

  test.each([
    ['a wrong secret of the gateway', 'another', 'backend', 500, 'invalid_client'],
    ['an audience that it does not know', SECRET, 'elsewhere', 400, 'invalid_target'],
  ])('refuses %s', async (_name, secret, audience, status, error) => {
    const as = await server(withSecret('client_secret_basic'));
    const auth = exchange(as, `{clientId: the gateway, clientSecret: "${secret}"}`).replace(
      '[backend]',
      `[${audience}]`,
    );
    const running = await gateway(auth, as);
    expect((await running.call(await callerToken(as))).status).toBe(status);
    expect(running.seen).toEqual([]);
    await running.logged('backend-auth', error);
  });

  test('refuses a token that it did not make, as a fault of the caller', async () => {
    const as = await server(withSecret('client_secret_basic'));
    const running = await gateway(exchange(as, `{clientId: the gateway, clientSecret: "${SECRET}"}`), as);
    const answer = await running.call('made-up');
    expect([answer.status, answer.body]).toEqual([400, 'invalid request']);
    await running.logged('backend-auth', 'invalid_grant: ');
  });
});

describe('access across applications', () => {
  const auth = `{clientId: the gateway, clientSecret: "${SECRET}"}`;

  async function applications() {
    const client = withSecret('client_secret_basic');
    const audiences: string[] = [];
    const identity = await server(client, { audiences });
    const resource = await authorizationServer(cleanup, { clients: [client], trusts: identity.issuer });
    audiences.push(resource.issuer);
    return { identity, resource };
  }

  function crossApp(
    { identity, resource }: Awaited<ReturnType<typeof applications>>,
    { more = '', audience = resource.issuer }: { more?: string; audience?: string } = {},
  ): string {
    const endpoint = ({ port }: AuthorizationServer): string =>
      `{host: "127.0.0.1:${port}", path: /token, clientAuth: ${auth}}`;
    return `{crossAppAccess: {identityProvider: ${endpoint(identity)}, resourceAuthorizationServer: ${endpoint(resource)}, audience: "${audience}", scopes: [chat], subjectToken: {tokenType: "urn:ietf:params:oauth:token-type:access_token"}${more}}}`;
  }

  test('is a token of the other application for an identity of the first', async () => {
    const servers = await applications();
    const running = await gateway(crossApp(servers), servers.resource);
    const token = await callerToken(servers.identity);
    for (const answer of [await running.call(token), await running.call(token)]) {
      expect([servers.identity.refused, servers.resource.refused, answer.status]).toEqual([[], [], 200]);
      expect(JSON.parse(answer.body)).toMatchObject({ active: true, client_id: 'the gateway', scope: 'chat' });
    }
    // Remembered: the same token again.
    expect(new Set(running.seen).size).toBe(1);
  });

  test('is refused where the other application does not take the assertion, which is no fault of the caller', async () => {
    const { identity } = await applications();
    const stranger = await authorizationServer(cleanup, {
      clients: [withSecret('client_secret_basic')],
      trusts: 'http://127.0.0.1:1',
    });
    const servers = { identity, resource: stranger };
    // An audience that the identity provider knows.
    const known = await applications();
    const running = await gateway(
      crossApp({ identity: known.identity, resource: stranger }, { audience: known.resource.issuer }),
      servers.resource,
    );
    const answer = await running.call(await callerToken(known.identity));
    expect([answer.status, answer.body]).toEqual([
      500,
      'backend authentication failed: the token endpoint answered 400',
    ]);
    await running.logged('backend-auth', 'invalid_grant');
  });

  test('is refused with 400 where the identity provider does not take what the caller brings', async () => {
    const servers = await applications();
    const running = await gateway(crossApp(servers), servers.resource);
    expect((await running.call('made-up')).status).toBe(400);
    expect(servers.resource.refused).toEqual([]);
  });
});
