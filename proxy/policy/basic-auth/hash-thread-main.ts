import { parentPort } from 'node:worker_threads';

import type { HashJob, HashVerdict } from './hash-thread.ts';
import { verify } from './verify.ts';

/** Checks one password after the other, away from the thread that serves. */
parentPort?.on('message', ({ password, hash, scheme }: HashJob) => {
  const verdict: HashVerdict = { matches: verify(password, hash, scheme) };
  parentPort?.postMessage(verdict);
});
