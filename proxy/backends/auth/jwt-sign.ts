import type { JwtSign } from '../../../src/config/ir/index.ts';
import { tokenSigner } from '../../jwt/sign.ts';
import type { CredentialKind } from './contract.ts';
import { compileInserter } from './insert.ts';

/** How far back tokens begin, for those whose clocks are late; seconds. */
export const CLOCK_LEEWAY_S = 10;

/** A token of the gateway's own, signed for each request. */
export function jwtSign(spec: JwtSign, now: () => number = Date.now): CredentialKind {
  const { signingKey, claims, ttlMs, location } = spec;
  const inserter = compileInserter(location);
  const sign = tokenSigner(signingKey);
  const ttlS = Math.ceil(ttlMs / 1000);
  return {
    details: `signed token (${signingKey.alg}) in ${inserter.place}`,
    apply: (exchange) => {
      const nowS = Math.floor(now() / 1000);
      const token = sign({ ...claims, iat: nowS - CLOCK_LEEWAY_S, exp: nowS + ttlS });
      return token instanceof Promise
        ? token.then((signed) => inserter.insert(exchange, signed))
        : inserter.insert(exchange, token);
    },
  };
}
