import type { Secret } from '../../../shared/secret.ts';

/** Identity providers that need something of their own. */
export type McpProviderKind = 'auth0' | 'keycloak' | 'okta' | 'descope' | 'authentik' | 'entra';

/** How MCP clients come to their tokens, told to those that have none. */
export interface McpOAuth {
  /** The one issuer of the policy. */
  readonly issuer: string;
  readonly provider?: McpProviderKind | undefined;
  /** Named in a parameter to providers without resource indicators. */
  readonly audience?: string | undefined;
  /** Entries of the protected resource metadata, names as published. */
  readonly resourceMetadata: Readonly<Record<string, unknown>>;
  /** Where the metadata of the provider are fetched from. */
  readonly metadataUrl: string;
  /** Where registrations are passed on to; undefined for providers that take none. */
  readonly registrationUrl?: string | undefined;
  /** What every client is told that registers; nothing is passed on then. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: Secret | undefined;
}
