import type { Bucket, Candidate } from './balance.ts';

/** 64 bits in two halves, each a signed 32-bit number. */
export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

/** A hash of a text that is the same in every thread, process and release. */
export function hash64(text: string): Hash64 {
  // Two lanes with multipliers of their own over the code units, each stirred at the end with what the other has.
  let high = 0x9e3779b9 | 0;
  let low = 0x7f4a7c15;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x01000193) + i;
    low = Math.imul((low << 5) | (low >>> 27), 0x2c1b3c6d) ^ Math.imul(unit + 1, 0x297a2d39);
  }
  const stirred = stir(high ^ text.length);
  return { high: stirred, low: stir(low ^ stirred) };
}

/** Spreads every bit of a 32-bit number over all of them; reversible, so nothing is lost. */
function stir(bits: number): number {
  let mixed = bits;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return mixed ^ (mixed >>> 16);
}

/** How much an endpoint draws a value: 53 bits, independent for every pair. */
function attraction(value: Hash64, endpoint: Hash64): number {
  const first = stir(value.high ^ stir(endpoint.low));
  const second = stir(value.low ^ endpoint.high ^ first);
  return (first >>> 0) * 2 ** 21 + (second >>> 11);
}

export interface Bound extends Candidate {
  /** Of the endpoint's identity. */
  readonly hash: Hash64;
}

export interface Binding<C extends Bound> {
  readonly isEvicted: (candidate: C) => boolean;
  /** Whether this request can be sent there at all. */
  readonly viable: ((candidate: C) => boolean) | null;
}

/**
 * The endpoint that a value is bound to (rendezvous hashing): when one goes, only its own values move. The first bucket
 * with an active endpoint counts; evicted ones only when no bucket has any.
 */
export function chooseBound<C extends Bound>(
  buckets: readonly Bucket<C>[],
  value: string,
  binding: Binding<C>,
): C | undefined {
  const hash = hash64(value);
  return (
    strongest(buckets, hash, { ...binding, evicted: false }) ?? strongest(buckets, hash, { ...binding, evicted: true })
  );
}

function strongest<C extends Bound>(
  buckets: readonly Bucket<C>[],
  value: Hash64,
  { isEvicted, viable, evicted }: Binding<C> & { readonly evicted: boolean },
): C | undefined {
  for (const { candidates } of buckets) {
    let best: C | undefined;
    let most = -1;
    for (const candidate of candidates) {
      if (isEvicted(candidate) !== evicted || (viable !== null && !viable(candidate))) continue;
      const draw = attraction(value, candidate.hash);
      if (draw > most) {
        best = candidate;
        most = draw;
      }
    }
    if (best !== undefined) return best;
  }
  return undefined;
}
