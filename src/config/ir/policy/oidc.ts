import type { Secret } from '../../../shared/secret.ts';
import type { KeySetSource, RemoteDiscovery } from '../document.ts';

export type TokenEndpointAuth = 'clientSecretBasic' | 'clientSecretPost';

/** Where an OpenID provider is reached. */
export interface OidcEndpoints {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly tokenEndpointAuth: TokenEndpointAuth;
  readonly keys: KeySetSource;
}

export interface Oidc {
  /** Identity of the policy; cookies of one policy are worthless to another. */
  readonly policyId: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** As sent to the provider. */
  readonly redirectUri: string;
  /** `openid` first, no duplicates. */
  readonly scopes: readonly string[];
  readonly provider: ({ readonly kind: 'explicit' } & OidcEndpoints) | RemoteDiscovery;
  /** 64 hexadecimal digits: the AES-256 key of the cookies. */
  readonly cookieKey: Secret;
}
