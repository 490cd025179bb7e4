import type { SimpleBackendRef } from '../backend.ts';
import type { BackendPolicies } from '../policy.ts';

/** The HTTP proxy that a backend is reached through. */
export interface BackendTunnel {
  readonly proxy: SimpleBackendRef;
  /** Of the connection to the proxy; `backendAuth` is a key in a header. */
  readonly policies: Pick<BackendPolicies, 'backendTLS' | 'tcp' | 'backendTunnel' | 'backendAuth'>;
}
