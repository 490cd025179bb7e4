import { isMainThread, MessageChannel, type MessagePort } from 'node:worker_threads';

import { unseal } from '../../src/config/transfer.ts';
import { LogFilter, Logger } from '../../src/shared/log.ts';
import { messageOf } from '../../src/shared/errors.ts';
import { ThreadProfiler } from '../admin/pprof/thread-profiler.ts';
import { ThreadResources } from '../resources/thread-resources.ts';
import { AccessLog } from '../telemetry/access-log.ts';
import { Outbox } from '../telemetry/outbox.ts';
import { Redaction } from '../telemetry/redaction.ts';
import { ThreadMetrics } from '../telemetry/thread-metrics.ts';
import { TraceTap, type TraceItem } from '../telemetry/trace-tap.ts';
import { Channel, type ChannelPort } from './channel.ts';
import type { CreateDataPlane, DataPlane } from './data-plane.ts';
import type { ControlToData, DataToControl, PrepareArgument, ThreadInit } from './messages.ts';
import { RuntimeFacts } from './runtime-facts.ts';
import { returnMemory } from './return-memory.ts';
import { TraceGate } from './trace-gate.ts';

const HEARTBEAT_MS = 1000;
const ADMIN_TIMEOUT_MS = 30_000;

/** Runs one data plane behind a channel; in a worker thread, or beside the supervisor in its own thread. */
export async function runDataThread(port: ChannelPort, init: ThreadInit, loaded?: CreateDataPlane): Promise<void> {
  const thread = new DataThread(port, init);
  // A defect in one request must not take the others of a worker with it; an embedding program decides for itself.
  if (!isMainThread) process.on('unhandledRejection', (reason) => thread.reportDefect(reason));
  await thread.start(loaded);
}

class DataThread {
  readonly #init: ThreadInit;
  readonly #channel: Channel<DataToControl, ControlToData>;
  readonly #lines: Outbox<string>;
  readonly #traces: Outbox<TraceItem>;
  readonly #accessLog: AccessLog;
  readonly #logger: Logger;
  readonly #runtime: RuntimeFacts;
  readonly #profiler = new ThreadProfiler();
  readonly #tap: TraceTap;
  readonly #resources = new ThreadResources((key, timeoutMs) => this.#channel.call('refetch', key, timeoutMs));
  #plane: DataPlane | null = null;
  /** Nothing has been prepared, so that nothing can be served yet. */
  #fresh = true;
  /** Fields to leave out of the access log once the prepared configuration is live. */
  #nextHidden: readonly string[] = [];
  /** Fetched documents that the prepared configuration needs. */
  #nextResources: ReadonlySet<string> = new Set();
  #heartbeat: NodeJS.Timeout | null = null;
  #met: (port: MessagePort) => void = (port) => port.close();

  constructor(port: ChannelPort, init: ThreadInit) {
    this.#init = init;
    this.#runtime = new RuntimeFacts(`data-${init.threadIndex}`);
    this.#lines = new Outbox<string>({
      post: (batch) => this.#channel.note('log', batch),
      sizeOf: (line) => line.length,
      maxItems: 20_000,
      maxBytes: 8 * 2 ** 20,
      batchBytes: 64 * 2 ** 10,
      delayMs: 20,
    });
    this.#traces = new Outbox<TraceItem>({
      post: (batch) => this.#channel.note('trace', batch),
      sizeOf: (item) => (item.kind === 'event' ? item.json.length : 64),
      maxItems: 10_000,
      maxBytes: 16 * 2 ** 20,
      batchBytes: 64 * 2 ** 10,
      delayMs: 2,
    });
    this.#tap = new TraceTap(new TraceGate(init.traceGate), this.#traces);
    const write = (line: string): void => void this.#lines.push(line);
    this.#logger = new Logger({ filter: filterOf(init.logFilter), format: init.logFormat, write });
    this.#accessLog = new AccessLog({ format: init.logFormat, write });
    this.#applyFilter(this.#logger.filter);
    this.#channel = new Channel(port, { calls: this.#calls(), notes: this.#notes() });
  }

  async start(loaded: CreateDataPlane | undefined): Promise<void> {
    // Early, so that a heap profile knows where long-lived memory came from; a failure comes up again when one is asked for.
    if (loaded === undefined) await this.#profiler.startHeap().catch(() => undefined);
    try {
      const create = loaded ?? (await loadModule(this.#init.module));
      this.#plane = create(this.#planeInit());
    } catch (error) {
      this.#channel.note('broken', messageOf(error));
      return;
    }
    const beats = new Int32Array(this.#init.heartbeats);
    this.#heartbeat = setInterval(() => Atomics.add(beats, this.#init.threadIndex, 1), HEARTBEAT_MS).unref();
    this.#channel.note('ready', null);
  }

  reportDefect(reason: unknown): void {
    const stack = reason instanceof Error ? reason.stack : undefined;
    this.#logger
      .scope('engine')
      .error('a promise was rejected and nobody waited for it', { error: messageOf(reason), stack });
  }

  #planeInit() {
    const { threadIndex, threadCount, reusePort, version, endpoints, buckets, ticketSecret, sensitiveHeaders } =
      this.#init;
    return {
      threadIndex,
      threadCount,
      version,
      reusePort,
      shared: { endpoints, buckets, ticketSecret },
      log: this.#logger,
      telemetry: {
        metrics: new ThreadMetrics((registration) => this.#channel.note('series', registration)),
        accessLog: this.#accessLog,
        traces: this.#tap,
        redaction: new Redaction(sensitiveHeaders),
      },
      resources: this.#resources,
      peers: {
        meet: (index: number) => this.#meet(index),
        onMet: (listener: (port: MessagePort) => void) => {
          this.#met = listener;
        },
      },
      admin: (call: DataToControl['calls']['admin']['argument']) => this.#channel.call('admin', call, ADMIN_TIMEOUT_MS),
    };
  }

  #meet(thread: number): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#channel.note('meet', { thread, port: port2 }, [port2]);
    return port1;
  }

  #calls() {
    return {
      prepare: (argument: PrepareArgument) => this.#prepare(argument),
      commit: () => {
        this.#started().commit();
        this.#accessLog.setHidden(this.#nextHidden);
        this.#resources.retainOnly(this.#nextResources);
        return null;
      },
      rollback: () => {
        this.#started().rollback();
        return null;
      },
      drain: async ({ closing }: ControlToData['calls']['drain']['argument']) => {
        await this.#started().drain(closing);
        this.#flush();
        return null;
      },
      destroy: () => this.#destroy(),
      tasks: () => this.#started().liveTasks(),
      mcp: () => this.#started().mcp(),
      traceFilters: async (set: ControlToData['calls']['traceFilters']['argument']) => {
        await this.#tap.filters.replace(set);
        return null;
      },
      startCpu: async (frequency: number) => {
        await this.#profiler.startCpu(frequency);
        return null;
      },
      stopCpu: () => this.#profiler.stopCpu(),
      heapProfile: () => this.#profiler.heap(),
      runtime: () => this.#runtime.read(),
    };
  }

  #notes() {
    return {
      logFilter: (text: string) => this.#applyFilter(filterOf(text)),
      logWritten: () => this.#lines.acknowledge(),
      traceTaken: () => this.#traces.acknowledge(),
      resources: (contents: ControlToData['notes']['resources']) => this.#resources.update(contents),
      met: (port: MessagePort) => this.#met(port),
    };
  }

  async #prepare({ config, revision, rows, resources }: PrepareArgument) {
    const plane = this.#started();
    this.#resources.update(resources);
    const opened = unseal(config);
    await plane.prepare(opened, revision, rows);
    if (this.#fresh && !isMainThread) returnMemory();
    this.#fresh = false;
    const { add, remove } = opened.frontend.accessLog;
    this.#nextHidden = [...remove, ...add.map(([name]) => name)];
    this.#nextResources = new Set(resources.map(({ key }) => key));
    return plane.addresses();
  }

  async #destroy(): Promise<null> {
    await this.#plane?.destroy();
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
    this.#runtime.close();
    this.#profiler.close();
    this.#flush();
    this.#lines.close();
    this.#traces.close();
    return null;
  }

  #flush(): void {
    this.#lines.flush();
    this.#traces.flush();
  }

  #applyFilter(filter: LogFilter): void {
    this.#logger.setFilter(filter);
    this.#accessLog.setLevel({ info: filter.enabled('request', 'info'), debug: filter.enabled('request', 'debug') });
  }

  #started(): DataPlane {
    if (this.#plane === null) throw new Error('the data plane has not started');
    return this.#plane;
  }
}

async function loadModule(url: string): Promise<CreateDataPlane> {
  const loaded: unknown = await import(url);
  if (typeof loaded === 'object' && loaded !== null && 'createDataPlane' in loaded) {
    const { createDataPlane } = loaded;
    // `as`: a module named by the embedding program; a wrong one fails at its first call.
    if (typeof createDataPlane === 'function') return createDataPlane as CreateDataPlane;
  }
  throw new TypeError(`${url} does not export createDataPlane`);
}

/** The control thread has checked the text; anything else would be a defect. */
function filterOf(text: string): LogFilter {
  const filter = LogFilter.parse(text);
  if (typeof filter === 'string') throw new TypeError(filter);
  return filter;
}
