import { workerData } from 'node:worker_threads';

import { BucketView } from '../../../../proxy/policy/local-rate-limit/bucket-view.ts';
import type { RateLimitBucket } from '../../../../src/config/ir/policy/local-rate-limit.ts';

export interface HammerData {
  readonly memory: SharedArrayBuffer;
  readonly rows: ReadonlyMap<string, number>;
  readonly limit: RateLimitBucket;
  /** [0] counts who is ready, [1] lets all go, from [2] on what each thread was given. */
  readonly counters: SharedArrayBuffer;
  readonly thread: number;
  readonly tries: number;
  /** Time stands still for the tries. */
  readonly frozen: boolean;
}

/** `as`: the tests of this folder start it. */
const { memory, rows, limit, counters, thread, tries, frozen } = workerData as HammerData;
const bucket = new BucketView(memory).among(rows).open('b', limit);
const start = performance.now();
const counts = new Int32Array(counters);

Atomics.add(counts, 0, 1);
Atomics.notify(counts, 0);
Atomics.wait(counts, 1, 0);
for (let i = 0; i < tries; i++) {
  const now = frozen ? start : performance.now();
  if (bucket.take(now)) Atomics.add(counts, 2 + thread, 1);
}
