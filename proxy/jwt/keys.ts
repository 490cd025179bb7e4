import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';

import { algorithmsOf, asJsonWebKey } from '../../src/config/documents/key-set.ts';
import type { PublicJwk } from '../../src/config/ir/index.ts';

/** A key and what it may verify. */
export interface VerificationKey {
  readonly kid: string;
  /** Algorithm names; an algorithm that is not there is refused, whatever the token says (RFC 8725 section 3.1). */
  allows(alg: string): boolean;
  /** Whether the signature (base64url) over `signed` was made with this key. */
  verifies(alg: string, signed: string, signature: string): boolean;
}

interface Algorithm {
  readonly hash: string | null;
  readonly padding?: number;
  readonly saltLength?: number;
  /** Bytes that a signature has to have; others are of another form. */
  readonly signatureBytes?: number;
}

const PKCS1 = { padding: constants.RSA_PKCS1_PADDING } as const;
// The salt is as long as the hash (RFC 7518 section 3.5).
const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } as const;

const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  ['RS256', { hash: 'sha256', ...PKCS1 }],
  ['RS384', { hash: 'sha384', ...PKCS1 }],
  ['RS512', { hash: 'sha512', ...PKCS1 }],
  ['PS256', { hash: 'sha256', ...PSS }],
  ['PS384', { hash: 'sha384', ...PSS }],
  ['PS512', { hash: 'sha512', ...PSS }],
  ['ES256', { hash: 'sha256', signatureBytes: 64 }],
  ['ES384', { hash: 'sha384', signatureBytes: 96 }],
  ['EdDSA', { hash: null, signatureBytes: 64 }],
  ['Ed25519', { hash: null, signatureBytes: 64 }],
]);

/** Makes a key ready for use. Throws for one that `readKeySet` would not have let through. */
export function verificationKey(jwk: PublicJwk): VerificationKey {
  const key = createPublicKey({ key: asJsonWebKey(jwk), format: 'jwk' });
  const allowed = new Set(algorithmsOf(jwk));
  return {
    kid: jwk.kid,
    allows: (alg) => allowed.has(alg),
    verifies: (alg, signed, signature) => {
      const algorithm = allowed.has(alg) ? ALGORITHMS.get(alg) : undefined;
      return algorithm !== undefined && check(algorithm, key, { signed, signature });
    },
  };
}

function check(
  { hash, padding, saltLength, signatureBytes }: Algorithm,
  key: KeyObject,
  { signed, signature }: { readonly signed: string; readonly signature: string },
): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  if (signatureBytes !== undefined && bytes.length !== signatureBytes) return false;
  const options = { key, padding, saltLength, dsaEncoding: 'ieee-p1363' } as const;
  try {
    return verify(hash, Buffer.from(signed), options, bytes);
  } catch {
    // OpenSSL throws on some signatures that cannot be of the key, instead of saying no.
    return false;
  }
}
