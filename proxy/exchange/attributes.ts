import type { Secret } from '../../src/shared/secret.ts';

/** JSON as it comes out of `JSON.parse`. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A token whose signature and claims were verified. */
export interface VerifiedJwt {
  readonly claims: JsonObject;
  readonly rawToken: Secret;
}

export interface VerifiedApiKey {
  readonly key: Secret;
  readonly metadata: JsonObject;
}

/** What policies find out about a request, for later policies, expressions and the log. Null until one does. */
export class Attributes {
  jwt: VerifiedJwt | null = null;
  apiKey: VerifiedApiKey | null = null;
  basicAuth: { readonly username: string } | null = null;
  /** Dynamic metadata of external authorization. */
  extauthz: JsonObject | null = null;
  /** Dynamic metadata of external processing. */
  extproc: JsonObject | null = null;
  /** `metadata` entries of transformations: values of expressions, opaque to everybody else. */
  metadata: Record<string, unknown> | null = null;
}
