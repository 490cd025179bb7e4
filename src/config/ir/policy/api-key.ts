import type { CredentialLocation } from './credential-location.ts';
import type { AuthMode } from './jwt-auth.ts';

/** Keys that may call. */
export interface ApiKeyAuth {
  readonly mode: AuthMode;
  readonly location: CredentialLocation;
  readonly keys: ApiKeys;
}

/** Keys as a file may list them by the hundred thousand: `src/config/api-keys.ts` packs and finds them. */
export interface ApiKeys {
  readonly count: number;
  /** Their SHA-256; the keys themselves are not kept. Shared, so that every thread reads the same memory. */
  readonly table: SharedArrayBuffer;
  /** What is known of the keys; equal facts stand here once. */
  readonly owners: readonly KeyOwner[];
}

export interface KeyOwner {
  readonly metadata?: Metadata | undefined;
  /** Models that the key may ask for; undefined: all. */
  readonly allowedModels?: readonly string[] | undefined;
}

/** JSON. */
export interface Metadata {
  readonly [name: string]: MetadataValue;
}
type MetadataValue = null | boolean | number | string | readonly MetadataValue[] | Metadata;
