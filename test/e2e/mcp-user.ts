/** An application with a user, and the providers that it meets. */
import type { OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';

import { CALLBACK, type Layout } from './mcp-identity.ts';
import { Browser } from './openid.ts';

export const KEYCLOAK: Layout = {
  path: '/realms/shop',
  routes: { jwks: '/protocol/openid-connect/certs', registration: '/clients-registrations/openid-connect' },
};
export const ENTRA: Layout = {
  path: '/tenant/v2.0',
  moved: { '/tenant/discovery/v2.0/keys': '/tenant/v2.0/jwks' },
  likeEntra: true,
};

/** What an application remembers, and where it has to send its user. */
export class Memory {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = {
    client_name: 'tool',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  client: OAuthClientInformationMixed | undefined;
  kept: OAuthTokens | undefined;
  sentTo: URL | null = null;
  #verifier = '';
  #discovered: OAuthDiscoveryState | undefined;

  clientInformation = (): OAuthClientInformationMixed | undefined => this.client;
  saveClientInformation = (client: OAuthClientInformationMixed): void => void (this.client = client);
  tokens = (): OAuthTokens | undefined => this.kept;
  saveTokens = (tokens: OAuthTokens): void => void (this.kept = tokens);
  redirectToAuthorization = (url: URL): void => void (this.sentTo = url);
  saveCodeVerifier = (verifier: string): void => void (this.#verifier = verifier);
  codeVerifier = (): string => this.#verifier;
  saveDiscoveryState = (state: OAuthDiscoveryState): void => void (this.#discovered = state);
  discoveryState = (): OAuthDiscoveryState | undefined => this.#discovered;
}

/** The user logs in; what the application gets back. */
export async function loggedIn(memory: Memory): Promise<URLSearchParams> {
  const browser = new Browser();
  const isCallback = (next: string): boolean => next.startsWith(CALLBACK);
  const page = await browser.logIn(await browser.open(memory.sentTo?.href ?? '', isCallback), 'alice', isCallback);
  return new URL(page.headers.location ?? '').searchParams;
}
