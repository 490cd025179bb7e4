import type { EndpointView } from './endpoint-view.ts';
import { restoredHealth, type Endpoint } from './health.ts';

/** An endpoint that can be drawn. */
export interface Candidate {
  readonly endpoint: Endpoint;
  /** Share of the draws; 0 is drained and never drawn. */
  readonly capacity: number;
}

/** Candidates of one priority, drained ones left out. */
export interface Bucket<C extends Candidate> {
  readonly candidates: readonly C[];
  readonly totalCapacity: number;
  readonly evenCapacity: boolean;
}

export interface BalanceDeps<C extends Candidate> {
  readonly view: EndpointView;
  /** 0 ≤ x < 1 */
  readonly random: () => number;
  readonly nowMs: number;
  /** Whether this request can be sent there at all. */
  readonly viable: ((candidate: C) => boolean) | null;
}

/** Buckets in order of preference; those that are drained entirely vanish. */
export function compileBuckets<C extends Candidate>(groups: readonly (readonly C[])[]): Bucket<C>[] {
  return groups
    .map((group) => group.filter((candidate) => candidate.capacity > 0))
    .filter((group) => group.length > 0)
    .map(bucketOf);
}

function bucketOf<C extends Candidate>(candidates: readonly C[]): Bucket<C> {
  const first = candidates[0]?.capacity;
  return {
    candidates,
    totalCapacity: candidates.reduce((sum, candidate) => sum + candidate.capacity, 0),
    evenCapacity: candidates.every((candidate) => candidate.capacity === first),
  };
}

/**
 * The better of two random draws (with replacement) from the first bucket that has active endpoints; evicted ones only
 * when no bucket has any. Undefined: no endpoint can take the request.
 */
export function choose<C extends Candidate>(buckets: readonly Bucket<C>[], deps: BalanceDeps<C>): C | undefined {
  const bucket = deps.view.someEvicted() ? activeBucket(buckets, deps) : buckets[0];
  if (bucket === undefined) return undefined;
  return betterOfTwo(draw(bucket, deps), draw(bucket, deps), deps) ?? scan(buckets, deps);
}

/** The active part of the first bucket that has one; else the first bucket whole. */
function activeBucket<C extends Candidate>(buckets: readonly Bucket<C>[], deps: BalanceDeps<C>): Bucket<C> | undefined {
  for (const bucket of buckets) {
    const active = bucket.candidates.filter((candidate) => !isEvicted(candidate, deps));
    if (active.length === bucket.candidates.length) return bucket;
    if (active.length > 0) return bucketOf(active);
  }
  return buckets[0];
}

/** Whether the endpoint is taken out for now. */
export function isEvicted<C extends Candidate>(candidate: C, deps: BalanceDeps<C>): boolean {
  const { endpoint } = candidate;
  return deps.view.isEvicted(endpoint.row, deps.nowMs, restoredHealth(endpoint.health));
}

function draw<C extends Candidate>(bucket: Bucket<C>, deps: BalanceDeps<C>): C | undefined {
  const { candidates } = bucket;
  const drawn = bucket.evenCapacity
    ? candidates[Math.floor(deps.random() * candidates.length)]
    : weighted(bucket, deps);
  return drawn === undefined || deps.viable === null || deps.viable(drawn) ? drawn : undefined;
}

function weighted<C extends Candidate>(bucket: Bucket<C>, deps: BalanceDeps<C>): C | undefined {
  let left = deps.random() * bucket.totalCapacity;
  for (const candidate of bucket.candidates) {
    left -= candidate.capacity;
    if (left < 0) return candidate;
  }
  return bucket.candidates.at(-1);
}

/** A tie goes to the second. */
function betterOfTwo<C extends Candidate>(
  first: C | undefined,
  second: C | undefined,
  deps: BalanceDeps<C>,
): C | undefined {
  if (first === undefined || second === undefined || first === second) return second ?? first;
  return deps.view.score(first.endpoint.row) > deps.view.score(second.endpoint.row) ? first : second;
}

/** Both draws were of no use: the best of all that can take the request, active ones of all buckets first. */
function scan<C extends Candidate>(buckets: readonly Bucket<C>[], deps: BalanceDeps<C>): C | undefined {
  return scanFor(buckets, false, deps) ?? scanFor(buckets, true, deps);
}

function scanFor<C extends Candidate>(
  buckets: readonly Bucket<C>[],
  evicted: boolean,
  deps: BalanceDeps<C>,
): C | undefined {
  for (const bucket of buckets) {
    let best: C | undefined;
    for (const candidate of bucket.candidates) {
      if (isEvicted(candidate, deps) !== evicted || (deps.viable !== null && !deps.viable(candidate))) continue;
      if (best === undefined || deps.view.score(candidate.endpoint.row) > deps.view.score(best.endpoint.row)) {
        best = candidate;
      }
    }
    if (best !== undefined) return best;
  }
  return undefined;
}
