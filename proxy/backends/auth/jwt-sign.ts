import { createPrivateKey } from 'node:crypto';

import { type JWTPayload, SignJWT } from 'jose';

import type { JwtSign } from '../../../src/config/ir/index.ts';
import type { CredentialKind } from './contract.ts';
import { compileInserter } from './insert.ts';

/** How far back tokens begin, for backends whose clocks are late; seconds. */
export const CLOCK_LEEWAY_S = 10;

/** A token of the gateway's own, signed for each request. */
export function jwtSign(spec: JwtSign, now: () => number = Date.now): CredentialKind {
  const { signingKey, claims, ttlMs, location } = spec;
  const inserter = compileInserter(location);
  const key = createPrivateKey(signingKey.pem.reveal());
  const { alg, kid } = signingKey;
  const header = { alg, typ: 'JWT', ...(kid === undefined ? {} : { kid }) };
  const ttlS = Math.ceil(ttlMs / 1000);
  // `as`: claims were read from YAML, which knows nothing that JSON does not.
  const payload = claims as JWTPayload;
  return {
    details: `signed token (${alg}) in ${inserter.place}`,
    apply: async (exchange) => {
      const nowS = Math.floor(now() / 1000);
      const token = await new SignJWT({ ...payload, iat: nowS - CLOCK_LEEWAY_S, exp: nowS + ttlS })
        .setProtectedHeader(header)
        .sign(key);
      return inserter.insert(exchange, token);
    },
  };
}
