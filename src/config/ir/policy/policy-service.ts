import type { SimpleBackendRef } from '../backend.ts';
import type { BackendPolicies } from '../policy.ts';

/** A service that a policy calls, and how it is connected to. */
export interface ServiceRef {
  readonly target: SimpleBackendRef;
  /** Of the connection; for a named backend those of the backend hold where these say nothing. */
  readonly policies: BackendPolicies;
}
