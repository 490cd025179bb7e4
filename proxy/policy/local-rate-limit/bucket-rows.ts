/**
 * The memory of the buckets: a cache line for each, so that threads which take from different buckets do not meet. 64-bit
 * words, changed by `Atomics`.
 */
export const ROW_WORDS = 8;

export const field = {
  /**
   * Tokens in the bucket, less what was filled since `epoch`: the tokens at a moment are this and `tokensPerFill` for each
   * interval that has passed, at most `maxTokens`. One word, so one compare-and-swap takes a token and fills at once.
   */
  level: 0,
  /** When the bucket was made: microseconds of the process's monotonic clock. */
  epoch: 1,
} as const;

export function wordOf(row: number, word: number): number {
  return row * ROW_WORDS + word;
}

/**
 * Milliseconds of the clock that all threads of the process share, on top of `performance.now()`, whose origin is each
 * thread's own. Of several readings the one with the shortest gap between the two clocks counts.
 */
export function threadOffsetMs(): number {
  let best = 0;
  let shortest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 8; i++) {
    const before = performance.now();
    const shared = Number(process.hrtime.bigint()) / 1e6;
    const after = performance.now();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = shared - (before + after) / 2;
  }
  return best;
}
