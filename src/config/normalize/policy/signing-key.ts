import type { KeyObject } from 'node:crypto';

import type { SigningAlgorithm, SigningKey } from '../../ir/policy/backend-auth.ts';
import type { Path } from '../../load/problem.ts';
import type { Context } from '../context.ts';
import { privateKey, type PemSpec } from '../pem.ts';

export interface SigningKeySpec {
  readonly signingKey: PemSpec;
  readonly alg: SigningAlgorithm;
  readonly kid?: string | undefined;
}

/** Least length of RSA keys (RFC 7518 sections 3.3 and 3.5). */
const MIN_RSA_BITS = 2048;

/** A key that fits its algorithm. Undefined after a problem, or while its file is not read yet. */
export function signingKey(
  context: Context,
  { signingKey: pem, alg, kid }: SigningKeySpec,
  path: Path,
): SigningKey | undefined {
  const at = [...path, 'signingKey'];
  const read = privateKey(context, pem, at);
  if (read === undefined) return undefined;
  const problem = misfit(read.key, alg);
  if (problem === null) return { pem: read.source.pem, alg, kid };
  context.report(at, 'GW_CONFIG_VALUE', `the key in ${read.name} cannot sign with ${alg}: ${problem}`);
  return undefined;
}

function misfit(key: KeyObject, alg: SigningAlgorithm): string | null {
  const type = key.asymmetricKeyType;
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  if (alg === 'ES256' || alg === 'ES384') {
    const curve = alg === 'ES256' ? 'prime256v1' : 'secp384r1';
    return type === 'ec' && namedCurve === curve ? null : `it has to be an EC key on the curve ${curve}`;
  }
  if (type !== 'rsa') return 'it has to be an RSA key';
  return (modulusLength ?? 0) >= MIN_RSA_BITS ? null : `it has to have at least ${MIN_RSA_BITS} bits`;
}
