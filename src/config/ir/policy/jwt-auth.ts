import type { KeySetSource } from '../document.ts';
import type { CredentialLocation } from './credential-location.ts';
import type { McpOAuth } from './mcp-oauth.ts';

/** Whether a request needs a credential, may come without one, or passes whatever it brings. */
export type AuthMode = 'strict' | 'optional' | 'permissive';

export type RequiredClaim = 'exp' | 'nbf' | 'aud' | 'iss' | 'sub';

/** An issuer of tokens. */
export interface JwtProvider {
  /** Compared with the claim `iss`, byte for byte. */
  readonly issuer: string;
  /** One of them has to be in the claim `aud`; empty: any. */
  readonly audiences: readonly string[];
  readonly requiredClaims: readonly RequiredClaim[];
  readonly keys: KeySetSource;
}

export interface JwtAuth {
  readonly mode: AuthMode;
  readonly location: CredentialLocation;
  readonly preserveToken: boolean;
  readonly providers: readonly JwtProvider[];
  /** For MCP clients, which are told where to get a token. */
  readonly mcp?: McpOAuth | undefined;
}
