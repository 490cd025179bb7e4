import type { JsonObject } from '../../../exchange/attributes.ts';
import { CredentialError } from '../failure.ts';
import { claimedEnd, endOf, tokenIn } from '../token-answer.ts';
import type { Expiring } from '../token-cache.ts';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

/** What a token is asked for. */
export interface Wanted {
  readonly audiences: readonly string[];
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
}

export interface TypedToken {
  readonly token: string;
  readonly type: string;
}

/** RFC 8693 section 2.1. */
export function exchangeForm(tokens: {
  readonly subject: TypedToken;
  readonly actor: TypedToken | null;
  readonly requestedType: string | undefined;
}): URLSearchParams {
  const { subject, actor, requestedType } = tokens;
  const form = new URLSearchParams({
    grant_type: TOKEN_EXCHANGE,
    subject_token: subject.token,
    subject_token_type: subject.type,
  });
  if (actor !== null) {
    form.set('actor_token', actor.token);
    form.set('actor_token_type', actor.type);
  }
  if (requestedType !== undefined) form.set('requested_token_type', requestedType);
  return form;
}

/** RFC 7523 section 2.1. */
export function assertionForm(assertion: string): URLSearchParams {
  return new URLSearchParams({ grant_type: JWT_BEARER, assertion });
}

/** Audiences and resources are repeated, scopes stand together. */
export function addWanted(form: URLSearchParams, { audiences, scopes, resources }: Wanted): void {
  for (const audience of audiences) form.append('audience', audience);
  if (scopes.length > 0) form.set('scope', scopes.join(' '));
  for (const resource of resources) form.append('resource', resource);
}

/** Whose word counts for how long a token is good. */
export interface Lifetime {
  /** The token that it was made from: what comes of it ends no later. */
  readonly subject: string;
  readonly nowMs: number;
  readonly defaultTtlMs: number;
}

/** The access token of an answer (RFC 6749 section 5.1, RFC 8693 section 2.2.1). Throws a `CredentialError`. */
export function accessTokenIn(
  answer: JsonObject,
  requestedType: string | undefined,
  { subject, nowMs, defaultTtlMs }: Lifetime,
): Expiring<string> {
  const { token_type: type, issued_token_type: issued, expires_in: expiresIn } = answer;
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw new CredentialError('the token endpoint gave no bearer token');
  if (requestedType !== undefined && issued !== undefined && issued !== requestedType)
    throw new CredentialError('the token endpoint gave a token of another type');
  const value = tokenIn(answer, 'access_token', 'the token endpoint');
  const end = endOf(expiresIn, nowMs) ?? nowMs + defaultTtlMs;
  return { value, expiresAtMs: Math.min(end, claimedEnd(subject) ?? end) };
}

/** The assertion of an answer that no resource takes by itself. Throws a `CredentialError`. */
export function assertionIn(answer: JsonObject): string {
  const { token_type: type, issued_token_type: issued } = answer;
  if (issued !== ID_JAG) throw new CredentialError('the identity provider gave no assertion for another application');
  if (type !== undefined && (typeof type !== 'string' || type.toLowerCase() !== 'n_a'))
    throw new CredentialError('the identity provider gave an assertion that is a token');
  return tokenIn(answer, 'access_token', 'the identity provider');
}
