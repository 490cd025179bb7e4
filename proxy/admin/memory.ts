import type { MemoryDump } from '../../src/admin/protocol/status.ts';
import type { ThreadRuntime } from '../supervisor/messages.ts';
import { readCgroup, readSmaps } from '../telemetry/system-memory.ts';
import { json, type Endpoint } from './endpoint.ts';

/** `/memory`: what the process, its threads and its control group use. */
export function memoryEndpoint(runtimes: () => Promise<readonly ThreadRuntime[]>): Endpoint {
  return {
    path: '/memory',
    methods: ['GET'],
    summary: 'Memory of the process, its threads and its control group',
    handle: async () => json(await memoryDump(await runtimes())),
  };
}

async function memoryDump(runtimes: readonly ThreadRuntime[]): Promise<MemoryDump> {
  const [cgroup, smaps] = await Promise.all([readCgroup(), readSmaps()]);
  const usage = process.memoryUsage();
  return {
    captured_at_unix_ms: Date.now(),
    capture_mode: 'runtime',
    allocation_stats: null,
    pprof: null,
    allocator: {
      name: 'v8',
      process: {
        rss: usage.rss,
        heap_total: usage.heapTotal,
        heap_used: usage.heapUsed,
        external: usage.external,
        array_buffers: usage.arrayBuffers,
      },
      threads: runtimes.map(({ thread, heap }) => ({
        thread,
        used: heap.used,
        total: heap.total,
        limit: heap.limit,
        external: heap.external,
        array_buffers: heap.arrayBuffers,
      })),
    },
    cgroup,
    smaps,
  };
}
