import type { FilterMoment } from '../telemetry/trace-filters.ts';
import type { ExplainQuestion, Explanation } from '../../src/admin/protocol/explanation.ts';
import { servesMcp } from '../../src/config/all-backends.ts';
import type { GatewayConfig, ProcessConfig } from '../../src/config/ir/index.ts';
import { configDumpEndpoint } from '../admin/config-dump/endpoint.ts';
import { configStatusEndpoint } from '../admin/config-status.ts';
import type { Endpoint } from '../admin/endpoint.ts';
import { explainEndpoint } from '../admin/explain.ts';
import { indexEndpoint } from '../admin/index-page.ts';
import type { LogLevels } from '../admin/log-levels.ts';
import { loggingEndpoint } from '../admin/logging.ts';
import { memoryEndpoint } from '../admin/memory.ts';
import { pprofEndpoints } from '../admin/pprof-mount.ts';
import { quitEndpoint } from '../admin/quit.ts';
import { tasksEndpoint } from '../admin/tasks.ts';
import { traceEndpoint } from '../admin/trace.ts';
import type { TraceHub } from '../admin/trace-hub.ts';
import { McpLive } from '../mcp/records/live.ts';
import type { RemoteResources } from '../resources/remote-resources.ts';
import { processMetrics } from '../telemetry/process-metrics.ts';
import { trafficFamilies, withoutRemoved } from '../telemetry/traffic-families.ts';
import type { BucketRows } from './bucket-state.ts';
import type { ConfigHistory } from './config-history.ts';
import type { DataThreads } from './data-threads.ts';
import type { EndpointRows } from './endpoint-state.ts';
import { profiledThreads } from './profiled-threads.ts';
import type { RuntimeFacts } from './runtime-facts.ts';
import type { SeriesTotals } from './shared-metrics.ts';
import { versionFacts, type BuildFacts } from './version-facts.ts';

const RUNTIME_TIMEOUT_MS = 1000;

/** What a gateway consists of, as far as somebody may look at it. */
export interface GatewayParts {
  readonly build: BuildFacts;
  readonly process: ProcessConfig;
  readonly history: ConfigHistory;
  readonly threads: DataThreads;
  /** The data plane runs in the thread of the caller. */
  readonly inThread: boolean;
  readonly rows: EndpointRows;
  readonly buckets: BucketRows;
  readonly resources: RemoteResources;
  readonly hub: TraceHub;
  readonly levels: LogLevels;
  readonly totals: SeriesTotals;
  readonly runtime: RuntimeFacts;
  /** The first configuration is live. */
  readonly started: () => boolean;
  readonly quit: () => Promise<void>;
}

/** What the local servers show of a gateway, and what they may ask of it. */
export class AdminView {
  readonly #parts: GatewayParts;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
  }

  /** Of the admin interface, the page that lists them first. */
  endpoints(): Endpoint[] {
    const { build, history, hub, levels, quit, threads } = this.#parts;
    const endpoints = [
      configDumpEndpoint(() => this.#dumpFacts()),
      configStatusEndpoint(() => history.status()),
      traceEndpoint(hub, (expression) => this.#checkFilter(expression)),
      loggingEndpoint(levels),
      memoryEndpoint(() => this.#runtimes()),
      tasksEndpoint(() =>
        threads.all.map((thread) => ({
          name: thread.name,
          tasks: (timeoutMs) => thread.call('tasks', null, timeoutMs),
        })),
      ),
      ...pprofEndpoints(this.#profiles()),
      explainEndpoint((question) => this.#explain(question)),
      quitEndpoint(quit),
    ];
    return [indexEndpoint(endpoints, build.version), ...endpoints];
  }

  /** Of the stats server. */
  async metrics() {
    const { build, history, process, totals } = this.#parts;
    const facts = {
      version: build.version,
      configSynchronized: history.synchronized,
      runtimes: await this.#runtimes(),
    };
    const labels = process.metrics.add.map(([label]) => label);
    const families = [...(await processMetrics(facts)), ...trafficFamilies(totals, labels)];
    return withoutRemoved(families, process.metrics.remove);
  }

  /** The engine is loaded with the first question; it looks at copies, so that nothing live is changed. */
  async #explain(question: ExplainQuestion): Promise<Explanation | null> {
    if (!this.#parts.started()) return null;
    const { explainRequest } = await import('../explain/explain.ts');
    const { history, process, resources, rows, buckets } = this.#parts;
    const config = { ...history.live.config, process };
    return explainRequest(config, question, {
      contents: resources.contents(config),
      endpoints: rows.copy(config),
      buckets: buckets.copy(config),
    });
  }

  async #checkFilter(expression: string): Promise<FilterMoment> {
    const { filterMoment } = await import('../expression/filter-moment.ts');
    return filterMoment(expression, this.#parts.process);
  }

  #profiles() {
    const { threads } = this.#parts;
    let loading: Promise<import('../admin/pprof/pprof-endpoints.ts').PprofEndpoints> | undefined;
    return () => {
      loading ??= import('../admin/pprof/pprof-endpoints.ts').then(
        ({ PprofEndpoints }) => new PprofEndpoints(profiledThreads(() => threads.all)),
      );
      return loading;
    };
  }

  async #dumpFacts() {
    const { build, history, process, rows, threads, started } = this.#parts;
    if (!started()) return null;
    const { config, revision } = history.live;
    const mcp = await this.#mcp(config);
    const ports = new Map(threads.addresses.map(({ bindKey, port }) => [bindKey, port]));
    return {
      config: { ...config, process },
      revision,
      live: rows.live(Date.now()),
      mcp,
      portOf: (bindKey: string) => ports.get(bindKey) ?? 0,
      version: versionFacts(build),
      threads: threads.all.length,
    };
  }

  /** Data threads are only asked where they serve MCP. */
  async #mcp(config: GatewayConfig): Promise<McpLive | undefined> {
    if (!servesMcp(config)) return undefined;
    return new McpLive(await this.#parts.threads.mcp(RUNTIME_TIMEOUT_MS), Date.now());
  }

  async #runtimes() {
    const { inThread, runtime, threads } = this.#parts;
    const workers = inThread ? [] : await threads.runtimes(RUNTIME_TIMEOUT_MS);
    return [runtime.read(), ...workers];
  }
}
