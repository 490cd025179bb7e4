import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';

import type { JwtProvider, PublicJwk } from '../../../src/config/ir/index.ts';
import { readKeySet } from '../../../src/config/documents/key-set.ts';

/** A key pair of an issuer, as a JOSE library makes it. */
export interface Signer {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  /** As a key set holds it. */
  readonly jwk: PublicJwk;
}

export const ISSUER = 'https://issuer.test';

/** Epoch seconds. */
export function seconds(fromNow = 0): number {
  return Math.floor(Date.now() / 1000) + fromNow;
}

export async function signer(kid: string, alg = 'ES256'): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const read = readKeySet(JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid }] }), { strict: true });
  if (read.kind === 'problem' || read.keys[0] === undefined) throw new Error('no key');
  return { kid, alg, privateKey, jwk: read.keys[0] };
}

export interface Changes {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Record<string, unknown>;
}

/** A token of `ISSUER` for `alice` that is good for five minutes; `undefined` takes a claim away. */
export function token({ kid, alg, privateKey }: Signer, { claims = {}, header = {} }: Changes = {}): Promise<string> {
  const payload: JWTPayload = { iss: ISSUER, sub: 'alice', exp: seconds(300), ...claims };
  return new SignJWT(payload).setProtectedHeader({ alg, kid, typ: 'JWT', ...header }).sign(privateKey);
}

/** A token put together by hand. */
export function forged(header: unknown, payload: unknown, signature = ''): string {
  const part = (value: unknown): string =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  return `${part(header)}.${part(payload)}.${signature}`;
}

export function provider(keys: readonly Signer[], changes: Partial<JwtProvider> = {}): JwtProvider {
  return {
    issuer: ISSUER,
    audiences: [],
    requiredClaims: ['exp'],
    keys: { kind: 'inline', keys: keys.map(({ jwk }) => jwk) },
    ...changes,
  };
}
