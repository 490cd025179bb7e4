import type { Secret } from '../../../shared/secret.ts';
import type { CredentialLocation } from './credential-location.ts';

/** Users with passwords. */
export interface BasicAuth {
  /** `optional`: a request without credentials passes. */
  readonly mode: 'strict' | 'optional';
  readonly realm: string;
  readonly location: CredentialLocation;
  /** By distinct names. */
  readonly users: readonly HtpasswdUser[];
}

export interface HtpasswdUser {
  readonly name: string;
  readonly scheme: HashScheme;
  /** As the line has it. */
  readonly hash: Secret;
}

/** `md5`: $apr1$ and $1$; `sha2`: $5$ and $6$; `des`: traditional crypt. */
export type HashScheme = 'bcrypt' | 'md5' | 'sha2' | 'sha1' | 'des';
