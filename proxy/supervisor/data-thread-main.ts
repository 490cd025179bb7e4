/** Entry of a worker thread: runs one data plane and nothing else. */
import { parentPort, workerData } from 'node:worker_threads';

import { runDataThread } from './data-thread.ts';
import type { ThreadInit } from './messages.ts';

if (parentPort === null) throw new Error('this module is the entry of a worker thread');
// `as`: the supervisor of the same build made it.
await runDataThread(parentPort, workerData as ThreadInit);
