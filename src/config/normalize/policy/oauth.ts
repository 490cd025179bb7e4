import { createPrivateKey } from 'node:crypto';

import type {
  CrossAppAccess,
  OAuthClientAuth,
  OAuthTokenExchange,
  SigningKey,
  TokenCacheSettings,
  TokenEndpoint,
  TokenSource,
} from '../../ir/policy/backend-auth.ts';
import type { BackendPolicies } from '../../ir/policy.ts';
import type { Path } from '../../load/problem.ts';
import type { BackendAuthSettings, ClientAuthSpec } from '../../schema/policy/backend-auth.ts';
import type { PolicyServiceSpec } from '../../schema/policy/policy-service.ts';
import type { Context } from '../context.ts';
import { certificates } from '../pem.ts';
import { secretText } from '../secret-text.ts';
import type { Place } from '../simple-backend.ts';
import { bearerLocation, credentialLocation, credentialTarget } from './credential-location.ts';
import { policyService } from './policy-service.ts';
import { signingKey } from './signing-key.ts';

/** Where OAuth credentials are written, and how policies of connections to their endpoints are read. */
export interface OAuthPlace extends Place {
  readonly connection: (spec: unknown, place: Place) => BackendPolicies;
}

type TokenExchangeSpec = NonNullable<BackendAuthSettings['oauthTokenExchange']>;
type CrossAppSpec = NonNullable<BackendAuthSettings['crossAppAccess']>;

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';

export function oauthTokenExchange(
  context: Context,
  spec: TokenExchangeSpec,
  place: OAuthPlace,
): OAuthTokenExchange | undefined {
  const endpoint = tokenEndpoint(context, spec, place);
  if (endpoint === undefined) return undefined;
  const { grantType, actorToken, audiences, scopes, resources, requestedTokenType, additionalParams = {} } = spec;
  return {
    kind: 'oauthTokenExchange',
    endpoint,
    grantType,
    subject: tokenSource(spec.subjectToken, ACCESS_TOKEN),
    actor: actorToken && { ...tokenSource(actorToken, ACCESS_TOKEN), enforceMayAct: actorToken.enforceMayAct },
    audiences,
    scopes,
    resources,
    requestedTokenType,
    additionalParams: Object.entries(additionalParams).sort(([left], [right]) => (left < right ? -1 : 1)),
    location: credentialTarget(spec.authorizationLocation, bearerLocation),
    cache: cacheSettings(spec.cache),
  };
}

export function crossAppAccess(context: Context, spec: CrossAppSpec, place: OAuthPlace): CrossAppAccess | undefined {
  const at = (name: string): OAuthPlace => ({ ...place, path: [...place.path, name], key: `${place.key}/${name}` });
  const identityProvider = tokenEndpoint(context, spec.identityProvider, at('identityProvider'));
  const resourceAuthorizationServer = tokenEndpoint(
    context,
    spec.resourceAuthorizationServer,
    at('resourceAuthorizationServer'),
  );
  if (identityProvider === undefined || resourceAuthorizationServer === undefined) return undefined;
  const { audience, resources, scopes, accessTokenScopes } = spec;
  return {
    kind: 'crossAppAccess',
    identityProvider,
    resourceAuthorizationServer,
    audience,
    resources,
    scopes,
    accessTokenScopes,
    subject: tokenSource(spec.subjectToken, ID_TOKEN),
    cache: cacheSettings(spec.cache),
  };
}

function tokenSource(spec: TokenExchangeSpec['subjectToken'], tokenType: string): TokenSource {
  return {
    source: credentialLocation(spec?.source, bearerLocation),
    tokenType: spec?.tokenType ?? tokenType,
  };
}

function cacheSettings(spec: TokenExchangeSpec['cache']): TokenCacheSettings {
  return { maxEntries: spec?.maxEntries ?? 8192, defaultTtlMs: spec?.defaultTtl ?? 300_000 };
}

type EndpointSpec = PolicyServiceSpec & { readonly path: string; readonly clientAuth?: ClientAuthSpec | undefined };

function tokenEndpoint(context: Context, spec: EndpointSpec, place: OAuthPlace): TokenEndpoint | undefined {
  const service = policyService(context, { spec, policies: place.connection(spec.policies, place) }, place);
  const auth = spec.clientAuth && clientAuth(context, spec.clientAuth, [...place.path, 'clientAuth']);
  if (service === undefined || (spec.clientAuth !== undefined && auth === undefined)) return undefined;
  return { service, path: spec.path, clientAuth: auth };
}

function clientAuth(context: Context, spec: ClientAuthSpec, path: Path): OAuthClientAuth | undefined {
  const { clientId, clientSecret } = spec;
  if (spec.method === 'privateKeyJwt') return privateKeyJwt(context, spec, path);
  const secret = clientSecret && secretText(context, clientSecret, [...path, 'clientSecret']);
  if (clientSecret !== undefined && secret === undefined) return undefined;
  if (spec.method === 'clientSecretPost')
    return { kind: 'clientSecretPost', clientId, clientSecret: secret || undefined };
  return secret ? { kind: 'clientSecretBasic', clientId, clientSecret: secret } : undefined;
}

function privateKeyJwt(context: Context, spec: ClientAuthSpec, path: Path): OAuthClientAuth | undefined {
  const { clientId, signingKey: pem, assertionAudience, alg, kid } = spec;
  if (pem === undefined || assertionAudience === undefined) return undefined;
  const key = signingKey(context, { signingKey: pem, alg, kid }, path);
  if (key === undefined) return undefined;
  const certificate = assertionCertificate(context, spec, { path, key });
  if (certificate === null) return undefined;
  return { kind: 'privateKeyJwt', clientId, signingKey: key, assertionAudience, certificate };
}

/** Null after a problem, or while its file is not read yet. */
function assertionCertificate(
  context: Context,
  { certificate, certificateHeader }: ClientAuthSpec,
  { path, key }: { readonly path: Path; readonly key: SigningKey },
): (OAuthClientAuth & { kind: 'privateKeyJwt' })['certificate'] | null {
  if (certificate === undefined || certificateHeader === undefined) return undefined;
  const at = [...path, 'certificate'];
  const read = certificates(context, certificate, at);
  if (read === undefined) return null;
  if (read.chain[0]?.checkPrivateKey(createPrivateKey(key.pem.reveal())) !== true) {
    context.report(at, 'GW_CONFIG_TLS', 'the certificate does not belong to the signing key', {
      hint: 'the first certificate has to be the one that the key was made for',
    });
    return null;
  }
  return { header: certificateHeader, chain: read.chain.map(({ raw }) => raw.toString('base64')) };
}
