import type { ConfigStatus } from '../../src/admin/protocol/status.ts';
import type { GatewayConfig, ProcessConfig } from '../../src/config/ir/index.ts';
import { GwError, messageOf } from '../../src/shared/errors.ts';
import { Logger, type Log } from '../../src/shared/log.ts';
import { reserveAll } from '../shared-rows/reserved-rows.ts';
import { logControl, LogLevels } from '../admin/log-levels.ts';
import { AdminRouter } from '../admin/router.ts';
import { TraceHub } from '../admin/trace-hub.ts';
import { systemClock } from '../exchange/wait.ts';
import { ResourceFetchError } from '../resources/fetch-error.ts';
import { RemoteResources } from '../resources/remote-resources.ts';
import { LogWriter, type LogSink } from '../telemetry/log-writer.ts';
import { descriptorSink } from '../telemetry/stdout-sink.ts';
import { AdminView } from './admin-view.ts';
import { ConfigHistory } from './config-history.ts';
import type { ConfigProvider, ConfigWatch, ReadConfig } from './config-provider.ts';
import type { BoundAddress, CreateDataPlane } from './data-plane.ts';
import { DataThreads } from './data-threads.ts';
import { BucketRows } from './bucket-state.ts';
import { EndpointRows } from './endpoint-state.ts';
import { HeartbeatWatch } from './heartbeat.ts';
import { keepCode } from './keep-code.ts';
import { LocalServers, type LocalAddresses } from './local-servers.ts';
import { probePort } from './port-probe.ts';
import { ReloadQueue } from './reload-queue.ts';
import { returnMemory } from './return-memory.ts';
import { RuntimeFacts } from './runtime-facts.ts';
import { SeriesTotals } from './shared-metrics.ts';
import { engineModule, initialFilter, sharedRandom } from './start-values.ts';
import type { DataNoteHandlers, ThreadHandle } from './thread-handle.ts';
import { TraceGate } from './trace-gate.ts';
import type { BuildFacts } from './version-facts.ts';
import { aborted, pause } from './waiting.ts';

export interface GatewayOptions {
  readonly provider: ConfigProvider;
  /** Module that exports `createDataPlane`, loaded by every data thread; the engine's own when absent. */
  readonly dataPlane?: URL | undefined;
  readonly build: BuildFacts;
  /** One data plane beside the supervisor, in the caller's own thread: for embedding and tests. */
  readonly inThread?: boolean | undefined;
  /** The data plane itself, for `inThread`; spares the loading of the module. */
  readonly create?: CreateDataPlane | undefined;
  /** Takes log lines; standard output when absent. */
  readonly output?: LogSink | undefined;
}

export interface GatewayAddresses extends LocalAddresses {
  readonly binds: readonly BoundAddress[];
}

export type ReloadResult =
  | { readonly kind: 'live'; readonly revision: string }
  | { readonly kind: 'rejected'; readonly error: Error };

/** One running gateway: its data threads, its configuration over time, its local servers, its end. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #process: ProcessConfig;
  readonly #history: ConfigHistory;
  readonly #writer: LogWriter;
  readonly #logger: Logger;
  readonly #log: Log;
  readonly #levels: LogLevels;
  readonly #gate = new TraceGate();
  readonly #hub = new TraceHub(this.#gate, (filters) => {
    const { customFunctions, env } = this.#process;
    return this.#threads.setTraceFilters({ filters, customFunctions, env });
  });
  readonly #totals = new SeriesTotals();
  readonly #rows = new EndpointRows();
  readonly #buckets = new BucketRows();
  readonly #ticketSecret = sharedRandom(48);
  readonly #queue = new ReloadQueue();
  readonly #runtime = new RuntimeFacts('control');
  readonly #heartbeats: HeartbeatWatch;
  readonly #threads: DataThreads;
  readonly #resources: RemoteResources;
  readonly #view: AdminView;
  readonly #router: AdminRouter;
  readonly #stop = new AbortController();
  readonly #done: PromiseWithResolvers<void> = Promise.withResolvers();
  #local: LocalServers | null = null;
  #watching: ConfigWatch | null = null;
  #started = false;
  #closing: Promise<void> | null = null;

  private constructor(options: GatewayOptions, first: ReadConfig) {
    this.#options = options;
    this.#process = first.config.process;
    this.#history = new ConfigHistory(options.provider.source, first);
    const { format } = this.#process.logging;
    this.#writer = new LogWriter(options.output ?? descriptorSink(1), format);
    this.#logger = new Logger({
      filter: initialFilter(this.#process),
      format,
      write: (line) => this.#writer.line(line),
    });
    this.#log = this.#logger.scope('gateway');
    this.#levels = new LogLevels(
      logControl(this.#logger, (filter) => this.#threads.setLogFilter(filter)),
      systemClock,
    );
    const count = options.inThread === true ? 1 : this.#process.workerThreads;
    this.#heartbeats = new HeartbeatWatch(count);
    this.#threads = this.#makeThreads(count);
    this.#resources = RemoteResources.open(this.#logger.scope('resources'), (contents) =>
      this.#threads.publish(contents),
    );
    this.#view = new AdminView({
      build: options.build,
      process: this.#process,
      history: this.#history,
      threads: this.#threads,
      inThread: options.inThread === true,
      rows: this.#rows,
      buckets: this.#buckets,
      resources: this.#resources,
      hub: this.#hub,
      levels: this.#levels,
      totals: this.#totals,
      runtime: this.#runtime,
      started: () => this.#started,
      quit: () => this.#quit(),
    });
    this.#router = new AdminRouter(this.#view.endpoints(), this.#logger.scope('admin'));
  }

  /**
   * Reads the configuration, starts the data threads, opens every socket; rejects with a `GwError` and leaves nothing behind
   * when any of it fails.
   */
  static async start(options: GatewayOptions): Promise<Gateway> {
    const first = await options.provider.read();
    const gateway = new Gateway(options, first);
    try {
      await gateway.#start(first);
      return gateway;
    } catch (error) {
      await gateway.#end();
      throw error;
    }
  }

  /** Resolves when the gateway has ended, whatever asked it to. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  get addresses(): GatewayAddresses {
    const local = this.#local?.addresses ?? { admin: null, stats: null, readiness: null };
    return { binds: this.#threads.addresses, ...local };
  }

  /** It drains, or has ended. */
  get closing(): boolean {
    return this.#closing !== null;
  }

  get status(): ConfigStatus {
    return this.#history.status();
  }

  /** The process log, for what else runs in this process. */
  get log(): Logger {
    return this.#logger;
  }

  /** Reads the configuration again and makes it live in every thread, or nowhere. */
  reload(): Promise<ReloadResult> {
    return this.#queue.coalesced(() => this.#reload());
  }

  /**
   * Drains and ends: at the earliest after the minimum deadline, at the latest after the maximum. A second call ends at
   * once, whatever is in flight.
   */
  shutdown(): Promise<void> {
    if (this.#closing !== null) this.#stop.abort();
    this.#closing ??= this.#drainAndEnd();
    return this.#closing;
  }

  /** A data plane in this thread must not be stopped for it. */
  #tidy(): void {
    if (this.#options.inThread !== true) {
      returnMemory();
      keepCode();
    }
  }

  async #start(first: ReadConfig): Promise<void> {
    this.#local = await LocalServers.open({
      config: this.#process,
      router: this.#router,
      collect: () => this.#view.metrics(),
      pending: () => this.#pending(),
      log: this.#logger.scope('readiness'),
    });
    await this.#threads.start();
    await this.#apply(first);
    this.#started = true;
    this.#watching = this.#options.provider.watch(first.files, () => void this.reload());
    this.#warn(first);
    const { admin } = this.addresses;
    this.#log.info('configuration is live', { revision: first.revision, source: this.#options.provider.source, admin });
    this.#tidy();
  }

  async #reload(): Promise<ReloadResult> {
    const { provider } = this.#options;
    let read: ReadConfig | null = null;
    try {
      read = await provider.read();
      if (this.#closing !== null) throw new GwError('the gateway is shutting down', { code: 'GW_SHUTTING_DOWN' });
      // A touched file, or one that came back as it was, is no change.
      if (read.revision !== this.#history.live.revision) await this.#apply(read);
      this.#history.accept(read);
      this.#watching?.update(read.files);
      this.#warn(read);
      this.#log.info('configuration is live', { revision: read.revision });
      return { kind: 'live', revision: read.revision };
    } catch (error) {
      await this.#reject(read, error);
      return { kind: 'rejected', error: error instanceof Error ? error : new Error(messageOf(error)) };
    } finally {
      this.#tidy();
    }
  }

  async #reject(read: ReadConfig | null, error: unknown): Promise<void> {
    const diff = await this.#options.provider.diff(this.#history.live, read).catch(() => []);
    this.#history.reject(read?.revision ?? null, error, diff);
    this.#log.error('failed to reload the configuration, the previous one stays live', { error: messageOf(error) });
  }

  /** The `config` section is read at start only: what is live keeps the one that the process started with. */
  async #apply(read: ReadConfig): Promise<void> {
    const config: GatewayConfig = { ...read.config, process: this.#process };
    const held = new Set(this.#threads.addresses.map(({ port }) => port));
    for (const bind of config.binds) {
      if (bind.mode === 'standard' && bind.port !== 0 && !held.has(bind.port)) await probePort(bind);
    }
    const reserved = reserveAll({
      endpoints: () => this.#rows.reserve(config),
      buckets: () => this.#buckets.reserve(config),
    });
    try {
      await this.#fetchAll(config);
      const resources = () => this.#resources.contents(config);
      await this.#threads.apply({ config, revision: read.revision, rows: reserved.rows, resources });
      reserved.keep();
      this.#resources.retain(config);
    } catch (error) {
      reserved.giveBack();
      this.#resources.retain(this.#history.live.config);
      throw error;
    }
  }

  async #fetchAll(config: GatewayConfig): Promise<void> {
    try {
      await this.#resources.load(config);
    } catch (error) {
      if (!(error instanceof ResourceFetchError)) throw error;
      // A file that cannot be read any more has told all that there is.
      throw await error.placed((url) => this.#options.provider.placeOfUrl(url).catch(() => null));
    }
  }

  #warn(read: ReadConfig): void {
    for (const warning of read.warnings) this.#log.warn(warning);
  }

  #makeThreads(count: number): DataThreads {
    const { dataPlane, create, inThread } = this.#options;
    return new DataThreads({
      count,
      inThread: inThread === true,
      create,
      log: this.#log,
      admin: (call) => this.#router.call(call),
      refetch: (key) => this.#resources.refetch(key),
      notes: (thread) => this.#notes(thread),
      exclusively: (work) => this.#queue.exclusively(work),
      onGone: (thread) => {
        this.#totals.retire(thread.id);
        this.#hub.threadGone(thread.id);
      },
      init: (threadIndex) => ({
        module: (dataPlane ?? engineModule()).href,
        threadIndex,
        threadCount: count,
        reusePort: count > 1,
        version: this.#options.build.version,
        endpoints: this.#rows.buffer,
        buckets: this.#buckets.buffer,
        ticketSecret: this.#ticketSecret,
        traceGate: this.#gate.buffer,
        heartbeats: this.#heartbeats.buffer,
        logFilter: String(this.#logger.filter),
        logFormat: this.#process.logging.format,
        sensitiveHeaders: this.#process.sensitiveHeaders,
      }),
    });
  }

  #notes(thread: ThreadHandle): DataNoteHandlers {
    return {
      log: (batch) => this.#writer.batch(batch, () => thread.note('logWritten', null)),
      trace: (batch) => {
        this.#hub.take(thread.id, batch.items);
        thread.note('traceTaken', null);
      },
      series: (registration) => this.#totals.register(thread.id, registration),
      meet: ({ thread: index, port }) => this.#threads.introduce(index, port),
    };
  }

  #pending(): string[] {
    if (this.#closing !== null) return ['draining'];
    if (!this.#started) return ['state manager', 'proxy'];
    const running = new Set(this.#threads.all.map((thread) => thread.index));
    const lost = Array.from({ length: this.#threads.count }, (_, index) => index).filter(
      (index) => !running.has(index),
    );
    return [...new Set([...lost, ...this.#heartbeats.stale])].map((index) => `data thread ${index}`);
  }

  /** Answers once the minimum deadline has passed; what is open may go on to the maximum. Asked again, it is no hurry. */
  async #quit(): Promise<void> {
    if (!this.closing) void this.shutdown();
    await pause(this.#process.terminationMinDeadlineMs, this.#stop.signal);
  }

  async #drainAndEnd(): Promise<void> {
    const { terminationMinDeadlineMs, terminationMaxDeadlineMs } = this.#process;
    this.#log.info('draining', { atMost: `${terminationMaxDeadlineMs}ms` });
    this.#watching?.close();
    const limit = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(terminationMaxDeadlineMs)]);
    const timeoutMs = terminationMaxDeadlineMs + 1000;
    const minimumMs = Math.min(terminationMinDeadlineMs, terminationMaxDeadlineMs);
    if (minimumMs > 0) {
      void this.#threads.drain({ closing: false, timeoutMs });
      await pause(minimumMs, limit);
    }
    await Promise.race([this.#emptied(timeoutMs), aborted(limit)]);
    if (limit.aborted && !this.#stop.signal.aborted)
      this.#log.warn('the deadline has passed, what is still open is cut');
    await this.#end();
  }

  /**
   * Every thread accepts for as long as one is busy: the kernel resets connections that wait at a socket that is closed,
   * and it hands out new ones to all threads alike. Clients that came meanwhile are waited for, too.
   */
  async #emptied(timeoutMs: number): Promise<void> {
    await this.#threads.drain({ closing: false, timeoutMs });
    await this.#threads.drain({ closing: true, timeoutMs });
  }

  async #end(): Promise<void> {
    this.#watching?.close();
    this.#levels.close();
    this.#hub.close();
    this.#resources.close();
    await this.#threads.end();
    if (this.#started) this.#log.info('stopped');
    await this.#local?.close();
    this.#heartbeats.close();
    this.#runtime.close();
    await this.#writer.flush();
    this.#done.resolve();
  }
}
