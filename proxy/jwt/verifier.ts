import type { JwtProvider, PublicJwk } from '../../src/config/ir/index.ts';
import { Secret } from '../../src/shared/secret.ts';
import type { VerifiedJwt } from '../exchange/attributes.ts';
import type { PolicyDeps } from '../policy/contract.ts';
import type { Live, Resources } from '../resources/contract.ts';
import { checkClaims } from './claims.ts';
import { readCompact, readObject, type CompactToken } from './compact.ts';
import { verificationKey, type VerificationKey } from './keys.ts';
import { VerifiedTokens } from './verified-tokens.ts';

const MAX_SHOWN_KID = 100;

export type Verification =
  | { readonly kind: 'valid'; readonly jwt: VerifiedJwt }
  /** `detail` is for the client. */
  | { readonly kind: 'invalid'; readonly detail: string }
  /** `refetch` asks for a newer key set; null when there is none that could know the key. */
  | { readonly kind: 'unknownKey'; readonly detail: string; readonly refetch: (() => Promise<void>) | null };

interface Trusted {
  readonly provider: JwtProvider;
  /** Null for keys that the configuration holds. */
  readonly live: Live<readonly PublicJwk[]> | null;
}

interface Candidate {
  readonly provider: JwtProvider;
  readonly key: VerificationKey;
}

/** Epoch milliseconds. */
export type WallClock = () => number;

/** Verifies tokens of some providers. */
export class TokenVerifier {
  readonly #trusted: readonly Trusted[];
  readonly #resources: Resources;
  readonly #now: WallClock;
  readonly #verified = new VerifiedTokens();
  #generation = -1;
  #versions = '';
  #keys: ReadonlyMap<string, readonly Candidate[]> = new Map();

  constructor(providers: readonly JwtProvider[], resources: Resources, now: WallClock = Date.now) {
    this.#resources = resources;
    this.#now = now;
    this.#trusted = providers.map((provider) => ({
      provider,
      live: provider.keys.kind === 'remote' ? resources.keySet(provider.keys) : null,
    }));
    this.#followKeys();
  }

  verify(token: string): Verification {
    if (this.#generation !== this.#resources.generation) this.#followKeys();
    const now = this.#now();
    const known = this.#verified.get(token, now);
    return known === null ? this.#verifyNew(token, now) : { kind: 'valid', jwt: known };
  }

  #verifyNew(text: string, now: number): Verification {
    const token = readCompact(text);
    if (typeof token === 'string') return { kind: 'invalid', detail: token };
    const candidates = this.#keys.get(token.kid);
    if (candidates === undefined) return this.#unknown(token);
    const { key, provider } = choose(candidates, token);
    if (!key.allows(token.alg)) return invalid('InvalidAlgorithm');
    if (!key.verifies(token.alg, token.signed, token.signature)) return invalid('InvalidSignature');
    const claims = readObject(token.payload);
    if (claims === null) return invalid('InvalidToken');
    const checked = checkClaims(claims, provider, now);
    if (checked.kind === 'invalid') return invalid(checked.name);
    const jwt = { claims, rawToken: new Secret(text) };
    this.#verified.add(text, jwt, checked.expiresAtMs);
    return { kind: 'valid', jwt };
  }

  /** Only the key set of the issuer that the token names is worth another look. */
  #unknown({ kid, payload }: CompactToken): Verification {
    const issuer = readObject(payload)?.['iss'];
    const stale = this.#trusted.flatMap(({ live, provider }) =>
      live !== null && provider.issuer === issuer ? [live] : [],
    );
    return {
      kind: 'unknownKey',
      detail: `token uses the unknown key ${JSON.stringify(kid.slice(0, MAX_SHOWN_KID))}`,
      refetch: stale.length === 0 ? null : async () => void (await Promise.all(stale.map((live) => live.refetch()))),
    };
  }

  /** Takes new key sets over; what older ones have verified is forgotten. */
  #followKeys(): void {
    this.#generation = this.#resources.generation;
    const versions = this.#trusted.map(({ live }) => live?.version ?? 0).join();
    if (versions === this.#versions) return;
    this.#versions = versions;
    this.#verified.clear();
    this.#keys = keysById(this.#trusted);
  }
}

/** The verifier of these providers: one for all policies of a thread that say the same, kept over reloads. */
export function tokenVerifier(providers: readonly JwtProvider[], deps: PolicyDeps): TokenVerifier {
  return deps.stores.get(
    `token verifier ${JSON.stringify(providers)}`,
    () => new TokenVerifier(providers, deps.resources),
  );
}

function keysById(trusted: readonly Trusted[]): ReadonlyMap<string, readonly Candidate[]> {
  const keys = new Map<string, Candidate[]>();
  for (const { provider, live } of trusted) {
    const set = provider.keys.kind === 'inline' ? provider.keys.keys : (live?.current ?? []);
    for (const jwk of set) {
      const candidate = { provider, key: verificationKey(jwk) };
      const same = keys.get(jwk.kid);
      if (same === undefined) keys.set(jwk.kid, [candidate]);
      else same.push(candidate);
    }
  }
  return keys;
}

/** Ids are only unique within an issuer: of several keys, one of the issuer that the token names and of its algorithm. */
function choose(candidates: readonly Candidate[], { payload, alg }: CompactToken): Candidate {
  const [first, ...others] = candidates;
  if (first === undefined) throw new TypeError('a key id without a key');
  if (others.length === 0) return first;
  const issuer = readObject(payload)?.['iss'];
  const own = candidates.filter(({ provider }) => provider.issuer === issuer);
  return own.find(({ key }) => key.allows(alg)) ?? own[0] ?? first;
}

function invalid(name: string): Verification {
  return { kind: 'invalid', detail: `the token is invalid or malformed: ${name}` };
}
