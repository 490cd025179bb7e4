import { parentPort } from 'node:worker_threads';
import { ThreadProfiler } from '../../../../proxy/admin/pprof/thread-profiler.ts';

/** Enough work for the profiler to see at a thousand looks a second. */
const TURNS = 500;

function burnInWorker(): number {
  let sum = 0;
  for (let i = 0; i < 200_000; i += 1) sum += Math.sqrt(i);
  return sum;
}

const profiler = new ThreadProfiler();
await profiler.startHeap();
await profiler.startCpu(1000);
const kept = Array.from({ length: 200_000 }, (_, index) => ({ index, name: `name-${index}` }));
for (let turn = 0; turn < TURNS; turn += 1) burnInWorker();
parentPort?.postMessage({ cpu: await profiler.stopCpu(), heap: await profiler.heap(), kept: kept.length });
profiler.close();
