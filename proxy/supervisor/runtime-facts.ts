import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

import type { ThreadRuntime } from './messages.ts';

/** Watches the event loop and heap of the thread that it is made in. */
export class RuntimeFacts {
  readonly #thread: string;
  readonly #delay: ReturnType<typeof monitorEventLoopDelay>;

  constructor(thread: string) {
    this.#thread = thread;
    // The resolution is also the monitor's own cost: one timer each 50 ms.
    this.#delay = monitorEventLoopDelay({ resolution: 50 });
    this.#delay.enable();
  }

  read(): ThreadRuntime {
    const heap = getHeapStatistics();
    const { mean, max, count } = this.#delay;
    this.#delay.reset();
    return {
      thread: this.#thread,
      heap: {
        used: heap.used_heap_size,
        total: heap.total_heap_size,
        limit: heap.heap_size_limit,
        external: heap.external_memory,
        arrayBuffers: process.memoryUsage().arrayBuffers,
      },
      eventLoopUtilization: performance.eventLoopUtilization().utilization,
      eventLoopLag: count === 0 ? { mean: 0, max: 0 } : { mean: lagSeconds(mean), max: lagSeconds(max) },
    };
  }

  close(): void {
    this.#delay.disable();
  }
}

/** What the monitor measures includes its own interval of 50 ms. */
function lagSeconds(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - 0.05);
}
