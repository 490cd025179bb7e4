import type { Cloud } from '../cloud.ts';
import type { Expiring } from '../token-cache.ts';

/** What a token is for. */
export type GcpWant =
  | { readonly kind: 'accessToken'; readonly scope: string }
  | { readonly kind: 'idToken'; readonly audience: string };

/** One credential of Google Cloud. Rejects with a `CredentialError`. */
export type GcpSource = (cloud: Cloud, want: GcpWant) => Promise<Expiring<string>>;

export const CLOUD_SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
