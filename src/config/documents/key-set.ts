import { createPublicKey, type JsonWebKeyInput } from 'node:crypto';
import { messageOf } from '../../shared/errors.ts';
import type { PublicJwk } from '../ir/document.ts';

/** Largest key set, characters. */
const MAX_CHARACTERS = 1024 * 1024;
const MAX_KEYS = 1000;
/** RFC 7518 section 3.3. */
const MIN_RSA_BITS = 2048;

const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const;
const CURVE_ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  // RFC 9864 gives the algorithm of this curve a second name.
  Ed25519: ['EdDSA', 'Ed25519'],
};

export type KeySetResult =
  | { readonly kind: 'keys'; readonly keys: readonly PublicJwk[] }
  | { readonly kind: 'problem'; readonly message: string };

/**
 * Reads a JSON Web Key Set. Keys for encryption are left out. A key that no signature can be verified with is a problem
 * of a set that somebody wrote for this gateway (`strict`); in a set of a server, which has other readers too, it is left
 * out (RFC 7517 section 5). A key without `kid` is a problem of every set: no token could name it.
 */
export function readKeySet(text: string, options: { readonly strict: boolean }): KeySetResult {
  const entries = entriesOf(text);
  if (typeof entries === 'string') return problem(entries);
  const keys: PublicJwk[] = [];
  for (const [index, entry] of entries.entries()) {
    if (!isMap(entry)) return problem(`its key ${index} is not an object`);
    if (entry['use'] !== undefined && entry['use'] !== 'sig') continue;
    const { kid } = entry;
    if (typeof kid !== 'string' || kid === '')
      return problem(`its key ${index} has no \`kid\`, by which tokens name it`);
    const key = publicKey(kid, entry);
    if (typeof key !== 'string') keys.push(key);
    else if (options.strict) return problem(`its key ${JSON.stringify(kid.slice(0, 60))} ${key}`);
  }
  return keys.length === 0 && (options.strict || entries.length > 0)
    ? problem('it holds no key that signatures can be verified with')
    : { kind: 'keys', keys };
}

/** Algorithms that a key may be used with. */
export function algorithmsOf(key: PublicJwk): readonly string[] {
  const fitting = fittingAlgorithms(key.kty, key.crv);
  return key.alg === undefined ? fitting : fitting.filter((name) => name === key.alg);
}

function fittingAlgorithms(kty: string, crv: unknown): readonly string[] {
  if (kty === 'RSA') return RSA_ALGORITHMS;
  return typeof crv === 'string' && Object.hasOwn(CURVE_ALGORITHMS, crv) ? (CURVE_ALGORITHMS[crv] ?? []) : [];
}

function problem(message: string): KeySetResult {
  return { kind: 'problem', message };
}

function entriesOf(text: string): readonly unknown[] | string {
  if (text.length > MAX_CHARACTERS) return 'it is larger than 1 MiB';
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  const entries = isMap(parsed) ? parsed['keys'] : undefined;
  if (!Array.isArray(entries)) return 'it is no JSON Web Key Set: there is no list `keys`';
  return entries.length > MAX_KEYS ? `it holds more than ${MAX_KEYS} keys` : entries;
}

/** The public part of a key; a text says why it is of no use. */
function publicKey(kid: string, entry: Readonly<Record<string, unknown>>): PublicJwk | string {
  const { kty, crv, alg } = entry;
  if (kty === 'oct') return 'is symmetric, which is not supported: whoever verifies with it could sign with it';
  if (kty !== 'RSA' && kty !== 'EC' && kty !== 'OKP') return `is of the unsupported type ${shown(kty)}`;
  const fitting = fittingAlgorithms(kty, crv);
  if (fitting.length === 0) return `uses the unsupported curve ${shown(crv)}`;
  if (alg !== undefined && (typeof alg !== 'string' || !fitting.includes(alg)))
    return `is for the algorithm ${shown(alg)}, which is not supported or does not fit it`;
  const key: PublicJwk = {
    kid,
    kty,
    ...(typeof alg === 'string' ? { alg } : {}),
    ...texts(entry, kty === 'RSA' ? ['n', 'e'] : kty === 'EC' ? ['crv', 'x', 'y'] : ['crv', 'x']),
  };
  return importProblem(key) ?? key;
}

function importProblem(key: PublicJwk): string | undefined {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: asJsonWebKey(key), format: 'jwk' });
    const bits = asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS;
    return bits < MIN_RSA_BITS ? `has ${bits} bits, at least ${MIN_RSA_BITS} are needed` : undefined;
  } catch (error) {
    return `cannot be read: ${messageOf(error)}`;
  }
}

/** As `node:crypto` takes it. */
export function asJsonWebKey({ kty, crv, n, e, x, y }: PublicJwk): JsonWebKeyInput['key'] {
  return Object.fromEntries(Object.entries({ kty, crv, n, e, x, y }).filter(([, value]) => value !== undefined));
}

function texts(entry: Readonly<Record<string, unknown>>, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = entry[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : 'that it does not name';
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
