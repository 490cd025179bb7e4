import type { CredentialLocation, CredentialTarget } from '../../ir/policy/credential-location.ts';
import type { CredentialLocationSpec } from '../../schema/policy/credential-location.ts';

/** The authorization header with `Bearer `: tokens and keys. */
export const bearerLocation: CredentialTarget = { kind: 'header', name: 'authorization', prefix: 'Bearer ' };

/** The authorization header with `Basic `: user names with passwords. */
export const basicLocation: CredentialTarget = { kind: 'header', name: 'authorization', prefix: 'Basic ' };

/** Where a credential is read from; `fallback` when the file does not say. */
export function credentialLocation(
  spec: CredentialLocationSpec | undefined,
  fallback: CredentialTarget,
): CredentialLocation {
  if (spec?.expression !== undefined) return { kind: 'expression', expression: spec.expression };
  return credentialTarget(spec, fallback);
}

/** Where a credential is written to; `fallback` when the file does not say. */
export function credentialTarget(
  spec: Omit<CredentialLocationSpec, 'expression'> | undefined,
  fallback: CredentialTarget,
): CredentialTarget {
  if (spec?.header !== undefined)
    return { kind: 'header', name: spec.header.name.toLowerCase(), prefix: spec.header.prefix ?? '' };
  if (spec?.queryParameter !== undefined) return { kind: 'queryParameter', name: spec.queryParameter.name };
  if (spec?.cookie !== undefined) return { kind: 'cookie', name: spec.cookie.name };
  return fallback;
}
