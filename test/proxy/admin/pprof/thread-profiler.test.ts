import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from '@jest/globals';
import { cpuToPprof, heapToPprof } from '../../../../proxy/admin/pprof/merge.ts';
import { ThreadProfiler } from '../../../../proxy/admin/pprof/thread-profiler.ts';
import type { CpuProfile, HeapProfile } from '../../../../proxy/admin/pprof/thread-profiler.ts';
import { readProfile } from '../../../../src/profile/read-profile.ts';

describe('the profiles of a thread', () => {
  test('name the functions, files and lines of a worker that is busy', async () => {
    const worker = new Worker(new URL('./profiled-worker.ts', import.meta.url));
    const [taken] = (await once(worker, 'message')) as [{ cpu: CpuProfile; heap: HeapProfile }];
    await worker.terminate();

    const run = { frequency: 1000, startedAtMs: 1_700_000_000_000, durationMs: 100 };
    const cpu = readProfile(await cpuToPprof([{ kind: 'profile', thread: 'worker-0', profile: taken.cpu }], run));
    const burning = cpu.samples.find((sample) => sample.frames[0]?.name === 'burnInWorker');
    expect(burning?.frames[0]?.file).toMatch(/\/profiled-worker\.ts$/);
    expect([7, 8, 9, 10]).toContain(burning?.frames[0]?.line);
    expect(burning?.labels).toEqual({ thread: 'worker-0' });
    expect(cpu.samples.some((sample) => sample.frames.some((frame) => frame.name === '(idle)'))).toBe(false);

    const heap = readProfile(await heapToPprof([{ kind: 'profile', thread: 'worker-0', profile: taken.heap }], 0));
    const bytes = heap.samples.reduce((sum, sample) => sum + (sample.values[1] ?? 0), 0);
    expect(heap.sampleTypes[1]).toEqual({ type: 'inuse_space', unit: 'bytes' });
    expect(bytes).toBeGreaterThan(1_000_000);
  });

  test('are refused while one is being taken, and when none was begun', async () => {
    const profiler = new ThreadProfiler();
    await expect(profiler.stopCpu()).rejects.toMatchObject({ code: 'GW_PROFILE_NOT_RUNNING' });
    await profiler.startCpu(100);
    await expect(profiler.startCpu(100)).rejects.toMatchObject({ code: 'GW_PROFILE_RUNNING' });
    await profiler.stopCpu();
    await profiler.startCpu(100);
    await profiler.stopCpu();
    profiler.close();
  });
});
