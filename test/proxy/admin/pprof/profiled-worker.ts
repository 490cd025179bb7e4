import { parentPort } from 'node:worker_threads';
import { ThreadProfiler } from '../../../../proxy/admin/pprof/thread-profiler.ts';

/** Burns processor time until told to stop, then sends the profiles of its thread. */
function burnInWorker(): number {
  let sum = 0;
  for (let i = 0; i < 200_000; i += 1) sum += Math.sqrt(i);
  return sum;
}

const profiler = new ThreadProfiler();
await profiler.startHeap();
await profiler.startCpu(1000);
const kept = Array.from({ length: 200_000 }, (_, index) => ({ index, name: `name-${index}` }));
let stopped = false;
parentPort?.once('message', () => {
  stopped = true;
});
const turn = async (): Promise<void> => {
  burnInWorker();
  if (!stopped) {
    setImmediate(() => void turn());
    return;
  }
  parentPort?.postMessage({ cpu: await profiler.stopCpu(), heap: await profiler.heap(), kept: kept.length });
  profiler.close();
};
await turn();
parentPort?.postMessage('burning');
