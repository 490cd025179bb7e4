import type { JwtProvider } from '../../src/config/ir/index.ts';
import type { JsonObject, JsonValue } from '../exchange/attributes.ts';

/** Clocks differ: a token lives this much longer, and begins this much earlier. */
const LEEWAY_S = 60;

/** Who is trusted, and which claims are asked for. */
export type Expected = Pick<JwtProvider, 'issuer' | 'audiences' | 'requiredClaims'>;

export type ClaimsCheck =
  /** `expiresAtMs` has the leeway in it; infinite for a token that never expires. */
  { readonly kind: 'valid'; readonly expiresAtMs: number } | { readonly kind: 'invalid'; readonly name: string };

/** Checks what a token says of itself, once its signature is known to be right. */
export function checkClaims(claims: JsonObject, expected: Expected, nowMs: number): ClaimsCheck {
  const { issuer, audiences, requiredClaims } = expected;
  const missing = requiredClaims.find((name) => claims[name] === undefined);
  if (missing !== undefined) return invalid(`MissingRequiredClaim: ${missing}`);
  if (claims['iss'] === undefined) return invalid('MissingRequiredClaim: iss');
  if (claims['iss'] !== issuer) return invalid('InvalidIssuer');
  const { exp, nbf } = claims;
  if (exp !== undefined && !isTime(exp)) return invalid('InvalidClaimFormat: exp');
  if (nbf !== undefined && !isTime(nbf)) return invalid('InvalidClaimFormat: nbf');
  const expiresAtMs = exp === undefined ? Number.POSITIVE_INFINITY : (exp + LEEWAY_S) * 1000;
  if (nowMs > expiresAtMs) return invalid('ExpiredSignature');
  if (nbf !== undefined && nowMs < (nbf - LEEWAY_S) * 1000) return invalid('ImmatureSignature');
  if (audiences.length > 0) {
    if (claims['aud'] === undefined) return invalid('MissingRequiredClaim: aud');
    if (!isFor(claims['aud'], audiences)) return invalid('InvalidAudience');
  }
  return { kind: 'valid', expiresAtMs };
}

function invalid(name: string): ClaimsCheck {
  return { kind: 'invalid', name };
}

/** NumericDate, RFC 7519 section 2. */
function isTime(value: JsonValue): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isFor(aud: JsonValue, audiences: readonly string[]): boolean {
  if (typeof aud === 'string') return audiences.includes(aud);
  return Array.isArray(aud) && aud.some((each) => typeof each === 'string' && audiences.includes(each));
}
