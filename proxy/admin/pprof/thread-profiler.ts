import type { HeapProfiler, Profiler, Runtime } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { GwError } from '../../../src/shared/errors.ts';

export type CpuProfile = Profiler.Profile;

/** A node of V8's tree of allocation stacks; `selfSize` is in bytes. */
export interface HeapNode {
  readonly id: number;
  readonly callFrame: Runtime.CallFrame;
  readonly selfSize: number;
  readonly children: readonly HeapNode[];
}

/** V8's sampling heap profile; Node's own types leave out `samples` and the nodes' ids. */
export interface HeapProfile {
  readonly head: HeapNode;
  readonly samples: readonly { readonly size: number; readonly nodeId: number }[];
}

/**
 * Average bytes between two allocation samples, as Go has it. A sample costs about 6 µs: under 1 % of a core for a thread that
 * allocates half a gigabyte a second, as a proxy under full load does (measured with `bench/`).
 */
export const HEAP_SAMPLE_BYTES = 512 * 1024;

/**
 * Profiles the thread it was made in. Each thread of a proxy has one, for its whole life; what it returns is plain data that
 * can be sent to another thread.
 */
export class ThreadProfiler {
  #cpu: Session | undefined;
  #heap: Session | undefined;

  /** Begins to look at the stack `frequency` times a second; refuses while it already does. */
  async startCpu(frequency: number): Promise<void> {
    if (this.#cpu !== undefined) throw new GwError('a CPU profile is being taken', { code: 'GW_PROFILE_RUNNING' });
    const session = connect();
    this.#cpu = session;
    try {
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: Math.round(1e6 / frequency) });
      await session.post('Profiler.start');
    } catch (error) {
      this.#cpu = undefined;
      session.disconnect();
      throw error;
    }
  }

  /** Ends what `startCpu` began and returns what it saw. */
  async stopCpu(): Promise<CpuProfile> {
    const session = this.#cpu;
    if (session === undefined) throw new GwError('no CPU profile is being taken', { code: 'GW_PROFILE_NOT_RUNNING' });
    this.#cpu = undefined;
    try {
      return (await session.post('Profiler.stop')).profile;
    } finally {
      session.disconnect();
    }
  }

  /** Begins to sample allocations; called once, early, so that a heap profile knows where long-lived memory came from. */
  async startHeap(): Promise<void> {
    if (this.#heap !== undefined) return;
    const session = connect();
    this.#heap = session;
    try {
      await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_SAMPLE_BYTES });
    } catch (error) {
      this.#heap = undefined;
      session.disconnect();
      throw error;
    }
  }

  /** The sampled memory that is alive now; sampling begins here when `startHeap` has not been called. */
  async heap(): Promise<HeapProfile> {
    await this.startHeap();
    const session = this.#heap;
    if (session === undefined) throw new GwError('the profiler is closed', { code: 'GW_PROFILE_NOT_RUNNING' });
    const { profile } = await session.post('HeapProfiler.getSamplingProfile');
    return heapProfileOf(profile);
  }

  /** Ends all sampling. */
  close(): void {
    this.#cpu?.disconnect();
    this.#heap?.disconnect();
    this.#cpu = undefined;
    this.#heap = undefined;
  }
}

function heapProfileOf(profile: HeapProfiler.SamplingHeapProfile): HeapProfile {
  // The protocol's own description has the fields that the types lack.
  return profile as HeapProfiler.SamplingHeapProfile & HeapProfile;
}

function connect(): Session {
  const session = new Session();
  session.connect();
  return session;
}
