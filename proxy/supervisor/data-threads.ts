import type { MessagePort } from 'node:worker_threads';

import type { GatewayConfig } from '../../src/config/ir/index.ts';
import { seal } from '../../src/config/transfer.ts';
import type { McpReport } from '../mcp/records/report.ts';
import type { ResourceContent } from '../resources/content.ts';
import type { TraceFilterSet } from '../telemetry/trace-filters.ts';
import type { Log } from '../../src/shared/log.ts';
import { messageOf } from '../../src/shared/errors.ts';
import type { BoundAddress, SharedRows } from './data-plane.ts';
import type { ThreadInit, ThreadRuntime } from './messages.ts';
import { ThreadHandle, type ThreadOptions } from './thread-handle.ts';

const PREPARE_TIMEOUT_MS = 60_000;
const COMMIT_TIMEOUT_MS = 10_000;
const FILTERS_TIMEOUT_MS = 2000;
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;
/** A thread that lived this long starts again at the first backoff. */
const STABLE_MS = 60_000;

/** A whole configuration as every data thread gets it. */
export interface Generation {
  readonly config: GatewayConfig;
  readonly revision: string;
  readonly rows: SharedRows;
  /** What was fetched for the configuration, as it is when asked. */
  readonly resources: () => readonly ResourceContent[];
}

export interface DataThreadsOptions extends Omit<ThreadOptions, 'init' | 'onCrash' | 'id'> {
  readonly count: number;
  readonly init: (index: number) => ThreadInit;
  readonly log: Log;
  /** Runs work with no reload beside it. */
  readonly exclusively: (work: () => Promise<void>) => Promise<void>;
  readonly onGone: (thread: ThreadHandle) => void;
}

/** The data threads of a gateway: gives all of them the same configuration or none, and replaces those that die. */
export class DataThreads {
  readonly #options: DataThreadsOptions;
  readonly #threads = new Map<number, ThreadHandle>();
  readonly #startedAt = new Map<number, number>();
  readonly #crashes = new Map<number, number>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  /** Numbers that binds on port 0 got. */
  readonly #ports = new Map<string, number>();
  #live: Generation | null = null;
  #traceFilters: TraceFilterSet = { filters: [] };
  #ids = 0;
  #closing = false;

  constructor(options: DataThreadsOptions) {
    this.#options = options;
  }

  /** How many there should be. */
  get count(): number {
    return this.#options.count;
  }

  get all(): readonly ThreadHandle[] {
    const alive = [...this.#threads.values()].filter((thread) => !thread.gone);
    return alive.sort((a, b) => a.index - b.index);
  }

  get addresses(): readonly BoundAddress[] {
    const binds = this.#live?.config.binds ?? [];
    return binds.map((bind) => ({
      bindKey: bind.key,
      port: bind.port === 0 ? (this.#ports.get(bind.key) ?? 0) : bind.port,
    }));
  }

  async start(): Promise<void> {
    const indexes = Array.from({ length: this.#options.count }, (_, index) => index);
    await Promise.all(indexes.map((index) => this.#startOne(index)));
  }

  /** Prepares everywhere, then commits everywhere; if any thread cannot prepare, nothing changes and this throws. */
  async apply(generation: Generation): Promise<void> {
    const threads = this.all;
    const ports = new Map(this.#ports);
    try {
      await this.#prepareAll(threads, generation);
    } catch (error) {
      this.#ports.clear();
      for (const [key, port] of ports) this.#ports.set(key, port);
      await Promise.all(threads.map((thread) => thread.call('rollback', null, COMMIT_TIMEOUT_MS).catch(() => null)));
      throw error;
    }
    this.#live = generation;
    await Promise.all(threads.map((thread) => this.#commit(thread)));
    this.#forgetPorts(generation.config);
  }

  /**
   * Asks clients to leave; resolves when each thread had a moment in which no connection was open. With `closing`, none is
   * accepted any more.
   */
  async drain(options: { closing: boolean; timeoutMs: number }): Promise<void> {
    const { closing, timeoutMs } = options;
    await Promise.all(this.all.map((thread) => thread.call('drain', { closing }, timeoutMs).catch(() => null)));
  }

  async end(): Promise<void> {
    this.#closing = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    await Promise.all([...this.#threads.values()].map((thread) => thread.end()));
  }

  publish(contents: readonly ResourceContent[]): void {
    for (const thread of this.all) thread.note('resources', contents);
  }

  /** Hands a thread the end of a way that another has opened. */
  introduce(index: number, port: MessagePort): void {
    const thread = this.#threads.get(index);
    if (thread !== undefined && !thread.gone) thread.note('met', port, [port]);
    // Has an effect only where it was not handed over.
    port.close();
  }

  setLogFilter(text: string): void {
    for (const thread of this.all) thread.note('logFilter', text);
  }

  /** Resolves when every thread knows them; one that does not answer in time is not waited for. */
  async setTraceFilters(set: TraceFilterSet): Promise<void> {
    this.#traceFilters = set;
    await Promise.all(this.all.map((thread) => this.#giveTraceFilters(thread)));
  }

  async #giveTraceFilters(thread: ThreadHandle): Promise<void> {
    await thread.call('traceFilters', this.#traceFilters, FILTERS_TIMEOUT_MS).catch(() => null);
  }

  /** What each thread tells of itself; threads that do not answer in time are left out. */
  async runtimes(timeoutMs: number): Promise<readonly ThreadRuntime[]> {
    const told = await Promise.all(
      this.all.map((thread) => thread.call('runtime', null, timeoutMs).catch(() => undefined)),
    );
    return told.filter((runtime) => runtime !== undefined);
  }

  /** What each thread has seen of MCP; threads that do not answer in time are left out. */
  async mcp(timeoutMs: number): Promise<readonly McpReport[]> {
    const told = await Promise.all(
      this.all.map((thread) => thread.call('mcp', null, timeoutMs).catch(() => undefined)),
    );
    return told.filter((report) => report !== undefined);
  }

  async #startOne(index: number): Promise<ThreadHandle> {
    const { init, onCrash, ...rest } = { ...this.#options, onCrash: this.#crashed };
    this.#ids += 1;
    const thread = await ThreadHandle.start({ ...rest, id: this.#ids, init: init(index), onCrash });
    this.#threads.set(index, thread);
    this.#startedAt.set(index, Date.now());
    if (this.#traceFilters.filters.length > 0) await this.#giveTraceFilters(thread);
    return thread;
  }

  /** The first thread decides the numbers of binds on port 0, the others join it. */
  async #prepareAll(threads: readonly ThreadHandle[], generation: Generation): Promise<void> {
    const [first, ...others] = threads;
    if (first === undefined) return;
    const anyPort = generation.config.binds.filter((bind) => bind.port === 0 && !this.#ports.has(bind.key));
    if (anyPort.length === 0) {
      await Promise.all(threads.map((thread) => this.#prepare(thread, generation)));
      return;
    }
    for (const bind of anyPort) first.firstBinder.add(bind.key);
    const bound = await this.#prepare(first, generation);
    for (const { bindKey, port } of bound) {
      if (anyPort.some((bind) => bind.key === bindKey)) this.#ports.set(bindKey, port);
    }
    await Promise.all(others.map((thread) => this.#prepare(thread, generation)));
  }

  #prepare(thread: ThreadHandle, generation: Generation): Promise<readonly BoundAddress[]> {
    const config = this.#withPorts(thread, generation.config);
    const { revision, rows } = generation;
    const argument = { config: seal(config), revision, rows, resources: generation.resources() };
    return thread.call('prepare', argument, PREPARE_TIMEOUT_MS);
  }

  #withPorts(thread: ThreadHandle, config: GatewayConfig): GatewayConfig {
    const binds = config.binds.map((bind) => {
      const port = this.#ports.get(bind.key);
      return bind.port === 0 && port !== undefined && !thread.firstBinder.has(bind.key) ? { ...bind, port } : bind;
    });
    return { ...config, binds };
  }

  async #commit(thread: ThreadHandle): Promise<void> {
    try {
      await thread.call('commit', null, COMMIT_TIMEOUT_MS);
    } catch (error) {
      // It must not go on with the old configuration: its successor gets the live one.
      this.#options.log.error(`${thread.name} did not take the new configuration and is replaced`, {
        error: messageOf(error),
      });
      await thread.kill();
    }
  }

  #forgetPorts(config: GatewayConfig): void {
    const used = new Set(config.binds.map((bind) => bind.key));
    for (const key of this.#ports.keys()) if (!used.has(key)) this.#ports.delete(key);
    for (const thread of this.#threads.values()) {
      for (const key of thread.firstBinder) if (!used.has(key)) thread.firstBinder.delete(key);
    }
  }

  readonly #crashed = (thread: ThreadHandle, reason: Error): void => {
    if (this.#closing || this.#threads.get(thread.index) !== thread) return;
    this.#options.onGone(thread);
    const lived = Date.now() - (this.#startedAt.get(thread.index) ?? 0);
    const crashes = lived > STABLE_MS ? 0 : (this.#crashes.get(thread.index) ?? 0);
    this.#crashes.set(thread.index, crashes + 1);
    const delayMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** crashes);
    this.#options.log.error(`${thread.name} crashed and is started again`, {
      error: reason.stack ?? reason.message,
      inMs: delayMs,
    });
    this.#later(delayMs, () => this.#replace(thread.index));
  };

  #later(delayMs: number, work: () => Promise<void>): void {
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      void this.#options.exclusively(work);
    }, delayMs);
    this.#restarts.add(timer);
  }

  async #replace(index: number): Promise<void> {
    if (this.#closing) return;
    try {
      const thread = await this.#startOne(index);
      if (this.#live === null) return;
      await this.#prepare(thread, this.#live);
      await thread.call('commit', null, COMMIT_TIMEOUT_MS);
      this.#options.log.info(`${thread.name} is back`);
    } catch (error) {
      this.#options.log.error(`data-${index} could not be started again`, { error: messageOf(error) });
      await this.#threads.get(index)?.end();
      this.#later(MAX_BACKOFF_MS, () => this.#replace(index));
    }
  }
}
