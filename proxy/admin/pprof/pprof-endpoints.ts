import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminReply } from '../admin-call.ts';
import { cpuToPprof, heapToPprof } from './merge.ts';
import type { ThreadAnswer } from './merge.ts';
import { cpuParameters } from './parameters.ts';
import type { CpuProfile, HeapProfile } from './thread-profiler.ts';

/** The threads of a proxy as the profiles see them. A thread that does not answer is told as a failed answer, in bounded time. */
export interface ProfiledThreads {
  startCpu(frequency: number): Promise<void>;
  stopCpu(): Promise<readonly ThreadAnswer<CpuProfile>[]>;
  heap(): Promise<readonly ThreadAnswer<HeapProfile>[]>;
}

export interface PprofEnvironment {
  readonly platform: NodeJS.Platform;
  readonly now: () => number;
  /** Resolves after `ms`; rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const HERE: PprofEnvironment = {
  platform: process.platform,
  now: Date.now,
  wait: (ms, signal) => sleep(ms, undefined, { signal }),
};

/** Answers `/debug/pprof/profile` and `/debug/pprof/heap` for all threads of a proxy. */
export class PprofEndpoints {
  readonly #threads: ProfiledThreads;
  readonly #environment: PprofEnvironment;
  #cpuBusy = false;

  constructor(threads: ProfiledThreads, environment: PprofEnvironment = HERE) {
    this.#threads = threads;
    this.#environment = environment;
  }

  /** A CPU profile of all threads at once. `signal` aborts when the client leaves: sampling then ends and this rejects. */
  async cpu(query: URLSearchParams, signal: AbortSignal): Promise<AdminReply> {
    if (this.#environment.platform !== 'linux') return text(404, 'CPU profiles are taken on Linux only');
    const parameters = cpuParameters(query);
    if ('refusal' in parameters) return text(400, parameters.refusal);
    if (this.#cpuBusy) return text(409, 'another CPU profile is being taken; try again when it is done');
    this.#cpuBusy = true;
    try {
      return await this.#sampleCpu(parameters.seconds, parameters.frequency, signal);
    } finally {
      this.#cpuBusy = false;
    }
  }

  /** The live memory of all threads by where it was allocated. */
  async heap(): Promise<AdminReply> {
    const answers = await this.#threads.heap();
    const atMs = this.#environment.now();
    return noneAnswered(answers) ?? file('heap', atMs, await heapToPprof(answers, atMs));
  }

  async #sampleCpu(seconds: number, frequency: number, signal: AbortSignal): Promise<AdminReply> {
    const startedAtMs = this.#environment.now();
    let answers: readonly ThreadAnswer<CpuProfile>[] = [];
    try {
      await this.#threads.startCpu(frequency);
      await this.#environment.wait(seconds * 1000, signal);
    } finally {
      answers = await this.#threads.stopCpu();
    }
    const durationMs = this.#environment.now() - startedAtMs;
    const run = { frequency, startedAtMs, durationMs };
    return noneAnswered(answers) ?? file('cpu', startedAtMs, await cpuToPprof(answers, run));
  }
}

function noneAnswered(answers: readonly ThreadAnswer<unknown>[]): AdminReply | undefined {
  if (answers.some((answer) => answer.kind === 'profile')) return undefined;
  const reasons = answers.flatMap((answer) => (answer.kind === 'failed' ? [`${answer.thread}: ${answer.reason}`] : []));
  return text(500, `no thread gave a profile${reasons.length > 0 ? `; ${reasons.join('; ')}` : ''}`);
}

function file(kind: 'cpu' | 'heap', atMs: number, body: Uint8Array): AdminReply {
  const stamp = new Date(atMs).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return {
    status: 200,
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="gw-${kind}-${stamp}.pb.gz"`,
      'x-content-type-options': 'nosniff',
    },
    body,
  };
}

function text(status: number, message: string): AdminReply {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${message}\n` };
}
