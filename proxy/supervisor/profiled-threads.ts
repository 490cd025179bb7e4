import { messageOf } from '../../src/shared/errors.ts';
import type { ThreadAnswer } from '../admin/pprof/merge.ts';
import type { ProfiledThreads } from '../admin/pprof/pprof-endpoints.ts';
import { ThreadProfiler } from '../admin/pprof/thread-profiler.ts';
import type { ThreadHandle } from './thread-handle.ts';

const TIMEOUT_MS = 30_000;

/** Profiles of every thread of the process: the control thread's own and, over their channels, the data threads'. */
export function profiledThreads(threads: () => readonly ThreadHandle[]): ProfiledThreads {
  const own = new ThreadProfiler();
  // A data plane beside the supervisor shares its thread, and so its profile.
  const workers = (): readonly ThreadHandle[] => threads().filter((thread) => thread.worker !== null);
  return {
    startCpu: async (frequency) => {
      await own.startCpu(frequency);
      await Promise.all(workers().map((thread) => thread.call('startCpu', frequency, TIMEOUT_MS).catch(() => null)));
    },
    stopCpu: () =>
      Promise.all([
        answer('control', own.stopCpu()),
        ...workers().map((thread) => answer(thread.name, thread.call('stopCpu', null, TIMEOUT_MS))),
      ]),
    heap: () =>
      Promise.all([
        answer('control', own.heap()),
        ...workers().map((thread) => answer(thread.name, thread.call('heapProfile', null, TIMEOUT_MS))),
      ]),
  };
}

async function answer<P>(thread: string, profile: Promise<P>): Promise<ThreadAnswer<P>> {
  try {
    return { kind: 'profile', thread, profile: await profile };
  } catch (error) {
    return { kind: 'failed', thread, reason: messageOf(error) };
  }
}
