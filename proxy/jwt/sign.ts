import { constants, createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

import type { SigningKey } from '../../src/config/ir/index.ts';
import { assertNever } from '../../src/shared/assert-never.ts';

/** Makes tokens of claims. A promise for RSA, whose signatures take long enough to be made on another thread. */
export type TokenSigner = (claims: object) => string | Promise<string>;

type Signature = (signed: Buffer) => Buffer | Promise<Buffer>;

/** Signs tokens with one key (RFC 7515, compact form); `header` goes beside `alg`, `typ` and `kid`. */
export function tokenSigner({ pem, alg, kid }: SigningKey, header: object = {}): TokenSigner {
  const signature = signatureOf(createPrivateKey(pem.reveal()), alg);
  const head = encode({ alg, typ: 'JWT', ...(kid === undefined ? {} : { kid }), ...header });
  return (claims) => {
    const signed = `${head}.${encode(claims)}`;
    const made = signature(Buffer.from(signed));
    return made instanceof Promise ? made.then((bytes) => join(signed, bytes)) : join(signed, made);
  };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function join(signed: string, signature: Buffer): string {
  return `${signed}.${signature.toString('base64url')}`;
}

const signElsewhere = promisify(sign);

/** RFC 7518 sections 3.3 to 3.5. */
function signatureOf(key: KeyObject, alg: SigningKey['alg']): Signature {
  const hash = `sha${alg.slice(2)}`;
  switch (alg) {
    case 'RS256':
    case 'RS384':
    case 'RS512':
      return async (signed) => signElsewhere(hash, signed, key);
    case 'PS256': {
      const padded = {
        key,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
      };
      return async (signed) => signElsewhere(hash, signed, padded);
    }
    case 'ES256':
    case 'ES384': {
      const plain = { key, dsaEncoding: 'ieee-p1363' } as const;
      return (signed) => sign(hash, signed, plain);
    }
    default:
      return assertNever(alg);
  }
}
