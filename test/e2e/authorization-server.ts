/** A real authorization server that knows token exchange, assertions and identity assertions for others. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';

import { createRemoteJWKSet, importJWK, jwtVerify, SignJWT } from 'jose';
import OidcProvider, { type ClientMetadata, errors, type TokenEndpointGrantContext } from 'oidc-provider';

import { type Cleanup, upstream } from './gateway.ts';
import { quietly } from './openid.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

// Copies of the runtime belong to another realm than tests, and the library does not take those for plain objects.
globalThis.structuredClone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T; // what was an object is one again

export interface AuthorizationServer {
  readonly issuer: string;
  readonly port: number;
  /** An access token for somebody. */
  token(options: { readonly client: string; readonly secret: string; readonly scope: string }): Promise<string>;
  /** What the server says of a token (RFC 7662). */
  introspect(token: string): Promise<Record<string, unknown>>;
  /** What the server has refused, and why. */
  readonly refused: string[];
}

export interface ServerOptions {
  readonly clients: readonly ClientMetadata[];
  /** Audiences that tokens may be exchanged for. */
  readonly audiences?: readonly string[];
  /** The server whose assertions are taken. */
  readonly trusts?: string | undefined;
}

const OPERATOR = { id: 'operator', secret: 'the secret of the operator' };
const basic = (id: string, secret: string): string => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

export async function authorizationServer(cleanup: Cleanup, options: ServerOptions): Promise<AuthorizationServer> {
  let handle: RequestListener = (_request, response) => response.end();
  const { port } = cleanup.add(await upstream((request, response) => handle(request, response)));
  const issuer = `http://127.0.0.1:${port}`;
  const provider = makeProvider(issuer, options);
  const refused: string[] = [];
  provider.on('grant.error', (_context, error) => refused.push(`${error.message}: ${error.error_description ?? ''}`));
  handle = provider.callback();
  const post = async (path: string, form: Record<string, string>, authorization: string) => {
    const response = await fetch(issuer + path, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams(form),
    });
    // `as`: both endpoints answer with an object.
    return (await response.json()) as Record<string, unknown>;
  };
  return {
    issuer,
    port,
    refused,
    token: async ({ client, secret, scope }) =>
      String(
        (await post('/token', { grant_type: 'client_credentials', scope }, basic(client, secret)))['access_token'],
      ),
    introspect: (token) => post('/token/introspection', { token }, basic(OPERATOR.id, OPERATOR.secret)),
  };
}

const signing = {
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  kid: 'as',
};

function makeProvider(issuer: string, { clients, audiences = [], trusts }: ServerOptions): OidcProvider {
  const operator = { client_id: OPERATOR.id, client_secret: OPERATOR.secret, ...bare(['client_credentials']) };
  const provider = quietly(
    () =>
      new OidcProvider(issuer, {
        clients: [...clients, operator],
        clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
        features: {
          clientCredentials: { enabled: true },
          introspection: { enabled: true, allowedPolicy: () => true },
          devInteractions: { enabled: false },
        },
        enabledJWA: { clientAuthSigningAlgValues: ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384'] },
        jwks: { keys: [{ ...signing, alg: 'RS256', use: 'sig' }] },
        cookies: { keys: ['a'] },
        scopes: ['openid', 'read', 'write', 'chat'],
        ttl: { ClientCredentials: 600 },
      }),
  );
  const exchange = (context: TokenEndpointGrantContext): Promise<void> =>
    exchanged(provider, context, { issuer, audiences });
  const parameters = ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'scope', 'resource'];
  provider.registerGrantType(EXCHANGE, exchange, parameters, ['audience', 'resource']);
  const asserted = (context: TokenEndpointGrantContext): Promise<void> =>
    fromAssertion(provider, context, { issuer, trusts });
  provider.registerGrantType(JWT_BEARER, asserted, ['assertion', 'scope']);
  return provider;
}

/** What a client needs to say when it sends nobody to log in. */
export function bare(grants: string[]): Pick<ClientMetadata, 'grant_types' | 'redirect_uris' | 'response_types'> {
  return { grant_types: grants, redirect_uris: [], response_types: [] };
}

async function exchanged(
  provider: OidcProvider,
  context: TokenEndpointGrantContext,
  { issuer, audiences }: { issuer: string; audiences: readonly string[] },
): Promise<void> {
  const { params, client } = context.oidc;
  const text = (name: string): string => (typeof params[name] === 'string' ? params[name] : '');
  if (text('subject_token_type') !== ACCESS_TOKEN) throw new errors.InvalidRequest('unknown subject_token_type');
  const subject = await provider.ClientCredentials.find(text('subject_token'));
  if (subject === undefined || !subject.isValid) throw new errors.InvalidGrant('the subject token is not active');
  const wanted = [params['audience']].flat().map(String);
  if (!wanted.every((audience) => audiences.includes(audience))) throw new errors.InvalidTarget('unknown audience');
  if (text('requested_token_type') === ID_JAG) {
    const claims = { client_id: client.clientId, jti: randomUUID(), scope: text('scope') };
    const assertion = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'as', typ: 'oauth-id-jag+jwt' })
      .setIssuer(issuer)
      .setSubject(subject.clientId ?? '')
      .setAudience(wanted[0] ?? '')
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(await importJWK(signing, 'RS256'));
    context.body = { access_token: assertion, issued_token_type: ID_JAG, token_type: 'N_A', expires_in: 300 };
    return;
  }
  await issue(provider, context, text('scope'));
}

async function fromAssertion(
  provider: OidcProvider,
  context: TokenEndpointGrantContext,
  { issuer, trusts }: { issuer: string; trusts: string | undefined },
): Promise<void> {
  const { assertion, scope } = context.oidc.params;
  try {
    const keys = createRemoteJWKSet(new URL(`${trusts}/jwks`));
    await jwtVerify(String(assertion), keys, { issuer: trusts ?? '', audience: issuer, typ: 'oauth-id-jag+jwt' });
  } catch (error) {
    throw new errors.InvalidGrant(String(error));
  }
  await issue(provider, context, typeof scope === 'string' ? scope : '');
}

async function issue(provider: OidcProvider, context: TokenEndpointGrantContext, scope: string): Promise<void> {
  const token = new provider.ClientCredentials({ client: context.oidc.client, scope });
  const value = await token.save();
  context.body = {
    access_token: value,
    issued_token_type: ACCESS_TOKEN,
    token_type: 'Bearer',
    expires_in: token.expiration,
    scope,
  };
}
