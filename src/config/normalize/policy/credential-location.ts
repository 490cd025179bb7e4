import type { CredentialLocation, CredentialSource, CredentialTarget } from '../../ir/policy/credential-location.ts';
import type { CredentialLocationSpec } from '../../schema/policy/credential-location.ts';

/** The authorization header with `Bearer `: tokens and keys. */
export const bearerLocation: CredentialTarget = { kind: 'header', name: 'authorization', prefix: 'Bearer ' };

/** Wherever libraries for language models put the key that they were given. */
export const modelKeyLocation: CredentialLocation = {
  kind: 'anyOf',
  targets: [
    bearerLocation,
    { kind: 'header', name: 'x-api-key', prefix: '' },
    { kind: 'header', name: 'api-key', prefix: '' },
    { kind: 'header', name: 'x-goog-api-key', prefix: '' },
    { kind: 'queryParameter', name: 'key' },
  ],
};

/** The authorization header with `Basic `: user names with passwords. */
export const basicLocation: CredentialTarget = { kind: 'header', name: 'authorization', prefix: 'Basic ' };

/** Where a credential is read from; `fallback` when the file does not say. */
export function credentialLocation(
  spec: CredentialLocationSpec | undefined,
  fallback: CredentialTarget,
): CredentialSource {
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
