import { MessageChannel, Worker } from 'node:worker_threads';

import { GwError, messageOf } from '../../src/shared/errors.ts';
import { Channel, type ChannelHandlers, type ChannelPort } from './channel.ts';
import type { CreateDataPlane } from './data-plane.ts';
import { runDataThread } from './data-thread.ts';
import type { ControlToData, DataToControl, ThreadInit } from './messages.ts';

const START_TIMEOUT_MS = 30_000;
const DESTROY_TIMEOUT_MS = 2000;

export type DataNoteHandlers = Omit<ChannelHandlers<DataToControl>['notes'], 'ready' | 'broken'>;

export interface ThreadOptions {
  /** Unique over the life of the process: a restarted thread has another one. */
  readonly id: number;
  readonly init: ThreadInit;
  /** Run beside the supervisor instead of in a worker. */
  readonly inThread: boolean;
  /** The data plane itself, for `inThread`; else the module of `init` is loaded. */
  readonly create?: CreateDataPlane | undefined;
  readonly admin: ChannelHandlers<DataToControl>['calls']['admin'];
  /** Fetches a document again for a data thread that misses something in it. */
  readonly refetch: (key: string) => Promise<void>;
  readonly notes: (thread: ThreadHandle) => DataNoteHandlers;
  /** Called once when the thread has ended without being asked to. */
  readonly onCrash: (thread: ThreadHandle, reason: Error) => void;
}

/** The control thread's end of one data thread. */
export class ThreadHandle {
  readonly id: number;
  readonly index: number;
  /** Bind keys of port 0 that this thread opened itself. */
  readonly firstBinder = new Set<string>();
  readonly worker: Worker | null;
  readonly #channel: Channel<ControlToData, DataToControl>;
  readonly #ready: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #closePort: () => void;
  #ending = false;
  #gone = false;

  private constructor(options: ThreadOptions) {
    this.id = options.id;
    this.index = options.init.threadIndex;
    // A failure that nobody waits for any more must not count as unhandled.
    this.#ready.promise.catch(() => {});
    const { port, worker, close } = options.inThread
      ? inThreadPort(options, this.#ready.reject)
      : workerPort(options.init);
    this.worker = worker;
    this.#closePort = close;
    this.#channel = new Channel<ControlToData, DataToControl>(port, {
      calls: {
        admin: options.admin,
        refetch: async (key) => {
          await options.refetch(key);
          return null;
        },
      },
      notes: {
        ready: () => this.#ready.resolve(),
        broken: (reason) => this.#ready.reject(new GwError(reason, { code: 'GW_THREAD_BROKEN' })),
        ...options.notes(this),
      },
    });
    if (worker !== null) this.#watch(worker, options.onCrash);
  }

  /** Starts a thread; resolves when its data plane exists. */
  static async start(options: ThreadOptions): Promise<ThreadHandle> {
    const thread = new ThreadHandle(options);
    const timer = setTimeout(() => {
      thread.#ready.reject(new GwError(`data thread ${thread.index} did not start`, { code: 'GW_THREAD_TIMEOUT' }));
    }, START_TIMEOUT_MS);
    try {
      await thread.#ready.promise;
      return thread;
    } catch (error) {
      await thread.end();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get name(): string {
    return `data-${this.index}`;
  }

  /** The thread has ended, however it came to that. */
  get gone(): boolean {
    return this.#gone;
  }

  get call(): Channel<ControlToData, DataToControl>['call'] {
    return this.#channel.call.bind(this.#channel);
  }

  get note(): Channel<ControlToData, DataToControl>['note'] {
    return this.#channel.note.bind(this.#channel);
  }

  /** Closes every socket of the thread and ends it. */
  async end(): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    if (!this.#gone) await this.#channel.call('destroy', null, DESTROY_TIMEOUT_MS).catch(() => null);
    this.#gone = true;
    this.#channel.close(new GwError(`${this.name} has ended`, { code: 'GW_THREAD_GONE' }));
    this.#closePort();
    await this.worker?.terminate();
  }

  /** Ends a thread that does not answer; it counts as crashed. */
  async kill(): Promise<void> {
    await this.worker?.terminate();
  }

  #watch(worker: Worker, onCrash: ThreadOptions['onCrash']): void {
    let failure: Error | null = null;
    worker.on('error', (error) => {
      failure = error instanceof Error ? error : new Error(messageOf(error));
    });
    worker.on('exit', (code) => {
      this.#gone = true;
      const reason = failure ?? new Error(`the thread exited with code ${code}`);
      this.#channel.close(
        new GwError(`${this.name} has ended: ${reason.message}`, { code: 'GW_THREAD_GONE', cause: reason }),
      );
      this.#ready.reject(reason);
      if (!this.#ending) onCrash(this, reason);
    });
  }
}

interface Opened {
  readonly port: ChannelPort;
  readonly worker: Worker | null;
  readonly close: () => void;
}

function workerPort(init: ThreadInit): Opened {
  const entry = new URL(
    import.meta.url.endsWith('.ts') ? './data-thread-main.ts' : './data-thread-main.js',
    import.meta.url,
  );
  const worker = new Worker(entry, { workerData: init, name: `data-${init.threadIndex}` });
  return { port: worker, worker, close: () => {} };
}

/** The same messages over a channel inside one thread, so that both ways of running are one code. */
function inThreadPort(options: ThreadOptions, fail: (error: unknown) => void): Opened {
  const { port1, port2 } = new MessageChannel();
  runDataThread(port2, options.init, options.create).catch(fail);
  return {
    port: port1,
    worker: null,
    close: () => {
      port1.close();
      port2.close();
    },
  };
}
