import type { Secret } from '../../../shared/secret.ts';
import type { CredentialLocation } from './credential-location.ts';
import type { AuthMode } from './jwt-auth.ts';

/** Keys that may call. */
export interface ApiKeyAuth {
  readonly mode: AuthMode;
  readonly location: CredentialLocation;
  readonly keys: readonly KnownApiKey[];
}

export interface KnownApiKey {
  /** SHA-256, 64 lower-case hexadecimal digits. The key itself is not kept. */
  readonly hash: Secret;
  readonly metadata?: Metadata | undefined;
  /** Models that the key may ask for; undefined: all. */
  readonly allowedModels?: readonly string[] | undefined;
}

/** JSON. */
export interface Metadata {
  readonly [name: string]: MetadataValue;
}
type MetadataValue = null | boolean | number | string | readonly MetadataValue[] | Metadata;
