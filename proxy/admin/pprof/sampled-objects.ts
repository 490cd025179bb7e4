const WORD_BYTES = 8;
const USUAL_SMALLEST_BYTES = 24;
const FEWEST_BYTES = 16;

/**
 * How many objects a sample of the sampling heap profiler stands for. V8 tells only `size × count`, where count is
 * `1 / (1 - e^(-size / interval))` rounded; the object's size is the smallest usual one that gives that product, so the
 * answer is an estimate for small objects and exact for large ones.
 */
export function sampledObjects(sampleBytes: number, intervalBytes: number): number {
  for (let count = mostObjects(sampleBytes, intervalBytes); count > 1; count -= 1) {
    if (sampleBytes % count !== 0) continue;
    const size = sampleBytes / count;
    if (size % WORD_BYTES === 0 && countFor(size, intervalBytes) === count) return count;
  }
  return 1;
}

function mostObjects(sampleBytes: number, intervalBytes: number): number {
  return Math.min(Math.floor(sampleBytes / USUAL_SMALLEST_BYTES), countFor(FEWEST_BYTES, intervalBytes));
}

function countFor(size: number, intervalBytes: number): number {
  return Math.round(1 / (1 - Math.exp(-size / intervalBytes)));
}
