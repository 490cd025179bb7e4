import { Worker } from 'node:worker_threads';

import type { HashScheme } from '../../../src/config/ir/index.ts';
import { messageOf } from '../../../src/shared/errors.ts';

export interface HashJob {
  readonly password: string;
  readonly hash: string;
  readonly scheme: HashScheme;
}

export interface HashVerdict {
  readonly matches: boolean;
}

interface Waiting {
  readonly job: HashJob;
  readonly settle: (matches: boolean) => void;
  readonly fail: (error: Error) => void;
}

/** Those that wait are a burst of logins or somebody who guesses; more would wait longer than clients do. */
const MOST_WAITING = 128;
const IDLE_MS = 10_000;

/**
 * Checks passwords in a thread of its own, one after the other: a hash that is slow on purpose must not hold up requests.
 * The thread exists while there is something to do, and keeps nothing alive.
 */
export class HashThread {
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | null = null;
  readonly #waiting: Waiting[] = [];
  #running: Waiting | null = null;

  /** Null when too many wait already. Rejects when the thread breaks. */
  check(job: HashJob): Promise<boolean> | null {
    if (this.#waiting.length >= MOST_WAITING) return null;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.#waiting.push({ job, settle: resolve, fail: reject });
    this.#next();
    return promise;
  }

  /** Takes back a check that has not begun, whose promise then never settles; false when it has. */
  forget(job: HashJob): boolean {
    const at = this.#waiting.findIndex((waiting) => waiting.job === job);
    if (at !== -1) this.#waiting.splice(at, 1);
    return at !== -1;
  }

  #next(): void {
    if (this.#running !== null) return;
    this.#running = this.#waiting.shift() ?? null;
    if (this.#running === null) this.#rest();
    else this.#thread().postMessage(this.#running.job);
  }

  #thread(): Worker {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    if (this.#worker !== null) return this.#worker;
    const name = import.meta.url.endsWith('.ts') ? './hash-thread-main.ts' : './hash-thread-main.js';
    const worker = new Worker(new URL(name, import.meta.url), { name: 'password-hashes' });
    worker.on('message', (verdict: HashVerdict) => this.#finished((running) => running.settle(verdict.matches)));
    worker.on('error', (error) => this.#broke(worker, error));
    worker.on('exit', () => this.#broke(worker, new Error('the thread has ended')));
    // Last: a listener of messages would hold the process again.
    worker.unref();
    this.#worker = worker;
    return worker;
  }

  #rest(): void {
    this.#idle ??= setTimeout(() => {
      const worker = this.#worker;
      this.#worker = null;
      void worker?.terminate();
    }, IDLE_MS).unref();
  }

  #finished(tell: (running: Waiting) => void): void {
    const running = this.#running;
    this.#running = null;
    if (running !== null) tell(running);
    this.#next();
  }

  /** The check that was running fails; the next one gets a new thread. */
  #broke(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#finished((running) => running.fail(error instanceof Error ? error : new Error(messageOf(error))));
  }
}
