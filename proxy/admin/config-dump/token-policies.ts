import { shownUrl } from '../../../src/config/documents/http-url.ts';
import type { CredentialLocation, JwtAuth, KeySetSource, Oidc, RoutePolicies } from '../../../src/config/ir/index.ts';
import { REDACTED } from '../../../src/shared/secret.ts';

type Shown = Readonly<Record<string, unknown>>;

/** Policies about tokens of issuers, in the words of the configuration. */
export function tokenPolicies(
  { oidc, jwtAuth }: RoutePolicies,
  place: (location: CredentialLocation) => Shown,
): [string, unknown][] {
  return [
    ['oidc', oidc && logins(oidc)],
    ['jwtAuth', jwtAuth && tokens(jwtAuth, place)],
  ];
}

function logins({ issuer, clientId, redirectUri, scopes, provider }: Oidc): Shown {
  const common = { issuer, clientId, clientSecret: REDACTED, redirectURI: redirectUri, scopes };
  if (provider.kind === 'remote') return { ...common, discovery: { url: shownUrl(provider.url) } };
  const { authorizationEndpoint, tokenEndpoint, tokenEndpointAuth, keys } = provider;
  return { ...common, authorizationEndpoint, tokenEndpoint, tokenEndpointAuth, jwks: keySet(keys) };
}

function tokens({ mode, location, preserveToken, providers }: JwtAuth, place: (location: CredentialLocation) => Shown) {
  return {
    mode,
    location: place(location),
    preserveToken,
    providers: providers.map(({ issuer, audiences, requiredClaims, keys }) => ({
      issuer,
      audiences,
      jwks: keySet(keys),
      jwtValidationOptions: { requiredClaims },
    })),
  };
}

function keySet(source: KeySetSource): Shown {
  return source.kind === 'inline' ? { keys: source.keys } : { url: shownUrl(source.url) };
}
