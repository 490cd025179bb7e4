import type { Duplex } from 'node:stream';

import { credentialPlaces } from '../../src/config/credential-places.ts';
import type { GatewayConfig, RouteBackend } from '../../src/config/ir/index.ts';
import { messageOf } from '../../src/shared/errors.ts';
import { SystemCloudAccess } from '../backends/auth/cloud-access.ts';
import { peerOf } from '../backends/connect.ts';
import { CachingResolver } from '../backends/dns.ts';
import { systemDnsSources } from '../backends/dns-sources.ts';
import { EndpointView } from '../backends/endpoint-view.ts';
import { TlsContexts } from '../backends/origin-tls.ts';
import { createUpstreamPools, type PoolSet } from '../backends/pools.ts';
import { Sweeper } from '../http1/sweeper.ts';
import { BoundPort } from '../listener/bind.ts';
import { compileBind, type CompiledBind } from '../listener/compiled.ts';
import type { ConnectionError, ListenerDependencies, TcpRecord, TunnelContext } from '../listener/contract.ts';
import { http1Service } from '../listener/http1.ts';
import { createServices } from '../services/services.ts';
import type { BoundAddress, DataPlane, DataPlaneInit, SharedRows } from '../supervisor/data-plane.ts';
import type { Engine, EngineDeps } from './engine.ts';
import type { McpReport } from '../mcp/records/report.ts';
import type { McpThread } from './mcp-backend.ts';
import { mcpThreadOf } from './mcp-thread.ts';
import { aiProviders, loadEngine } from './load.ts';
import { listenerMetrics } from './listener-metrics.ts';
import { handleRequest } from './run.ts';
import { Runtime } from './runtime.ts';
import { reportTcp } from './tcp-report.ts';
import { ConnectionTraces } from './tcp-trace.ts';
import { BucketView } from '../policy/local-rate-limit/bucket-view.ts';
import { admits } from '../policy/network/gates.ts';
import { connectionContext } from '../expression/connection-context.ts';
import { NamedStores } from '../policy/stores.ts';
import { expressionsOf } from './policy-deps.ts';
import { policySnapshots } from './tracing.ts';
import { systemClock } from '../exchange/wait.ts';
import { Exporters } from '../telemetry/otlp/exporters.ts';

/** What carries the traffic of one data thread: ports, engine and pools; see `DataPlane` for its life. */
export function createDataPlane(init: DataPlaneInit): DataPlane {
  return new GatewayDataPlane(init);
}

const SAMPLE_MS = 1000;
/** What is left of telemetry may keep a drain waiting this long, and an end. */
const DRAIN_EXPORT_MS = 3000;
const LAST_EXPORT_MS = 1000;

interface Prepared {
  readonly engine: Engine;
  readonly binds: readonly CompiledBind[];
  /** Ports that this configuration adds, open but not serving. */
  readonly opened: readonly BoundPort[];
}

class GatewayDataPlane implements DataPlane {
  readonly #init: DataPlaneInit;
  readonly #endpoints: EndpointView;
  readonly #buckets: BucketView;
  readonly #sweeper = new Sweeper();
  readonly #contexts = new TlsContexts();
  readonly #ticketSecret: Buffer;
  readonly #ports = new Map<string, BoundPort>();
  /** Ports of earlier configurations whose connections finish. */
  readonly #leaving = new Set<BoundPort>();
  readonly #listenerDeps: ListenerDependencies;
  readonly #connectionTraces: ConnectionTraces;
  readonly #stores = new NamedStores();
  readonly #cloud = new SystemCloudAccess();
  readonly #exporters: Exporters;
  readonly #mcp: McpThread;
  #runtime: Runtime | null = null;
  /** The last one is in use; calls of earlier ones finish. */
  readonly #pools: { readonly preserveCase: boolean; readonly set: PoolSet }[] = [];
  #prepared: Prepared | null = null;
  #connections = 0;
  /** Long connections would show in the byte counters only at their end. */
  readonly #sampling = setInterval(() => this.#sampleBytes(), SAMPLE_MS).unref();

  constructor(init: DataPlaneInit) {
    this.#init = init;
    this.#endpoints = new EndpointView(init.shared.endpoints);
    this.#buckets = new BucketView(init.shared.buckets);
    this.#ticketSecret = Buffer.from(Uint8Array.from(new Uint8Array(init.shared.ticketSecret)));
    this.#connectionTraces = new ConnectionTraces(init.telemetry.traces, () => this.#runtime?.nextRequestId() ?? '');
    this.#exporters = new Exporters({ clock: systemClock, log: init.log, metrics: init.telemetry.metrics });
    this.#mcp = mcpThreadOf(init, () => this.#current());
    this.#listenerDeps = this.#makeListenerDeps();
  }

  async prepare(config: GatewayConfig, revision: string, rows: SharedRows): Promise<void> {
    const engine = await loadEngine(config, { revision, rows: rows.endpoints, deps: this.#engineDeps(rows) });
    await engine.llm?.preloadEncodings(aiProviders(config));
    this.#init.telemetry.redaction.hide(credentialPlaces(config));
    const binds = config.binds
      .filter((bind) => bind.mode === 'standard')
      .map((bind) => compileBind(bind, config.frontend, this.#ticketSecret));
    const opened: BoundPort[] = [];
    this.#prepared = { engine, binds, opened };
    try {
      for (const bind of binds) {
        if (this.#ports.has(bind.key)) continue;
        const port = new BoundPort(bind, this.#listenerDeps);
        await port.open({ reusePort: this.#init.reusePort });
        opened.push(port);
      }
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  commit(): void {
    const prepared = this.#prepared;
    if (prepared === null) return;
    this.#prepared = null;
    const runtime = this.#swapEngine(prepared.engine);
    const wanted = new Set(prepared.binds.map((bind) => bind.key));
    for (const bind of prepared.binds) this.#ports.get(bind.key)?.update(bind);
    for (const [key, port] of this.#ports) if (!wanted.has(key)) this.#retire(key, port);
    for (const port of prepared.opened) {
      this.#ports.set(port.key, port);
      port.activate();
    }
    this.#stores.settle();
    prepared.engine.observability.connect(this.#exporters);
    runtime.pools.retainOnly(prepared.engine.backends.originKeys());
  }

  rollback(): void {
    for (const port of this.#prepared?.opened ?? []) port.destroy();
    this.#prepared = null;
  }

  async drain(closing: boolean): Promise<void> {
    const ports = [...this.#ports.values(), ...this.#leaving];
    for (const port of ports) port.drain();
    if (closing) await Promise.all(ports.map((port) => port.takeLast()));
    do {
      await Promise.all(ports.map((port) => port.empty()));
      await Promise.all(ports.map((port) => port.takeWaiting()));
    } while (ports.some((port) => port.connectionCount > 0));
    await this.#exporters.flush(DRAIN_EXPORT_MS);
  }

  async destroy(): Promise<void> {
    this.rollback();
    clearInterval(this.#sampling);
    for (const port of [...this.#ports.values(), ...this.#leaving]) port.destroy();
    this.#ports.clear();
    this.#leaving.clear();
    await Promise.all([this.#stores.close(), this.#exporters.flush(LAST_EXPORT_MS)]);
    this.#exporters.close();
    for (const { set } of this.#pools) set.close();
    this.#sweeper.close();
    this.#cloud.close();
  }

  addresses(): readonly BoundAddress[] {
    const ports = [...this.#ports.values(), ...(this.#prepared?.opened ?? [])];
    return ports.map((port) => ({ bindKey: port.key, port: port.port }));
  }

  liveTasks(): readonly string[] {
    const now = performance.now();
    const ports = [...this.#ports.values()].map(
      (port) => `${port.key} on port ${port.port}: ${port.connectionCount} connections`,
    );
    const runs = (this.#runtime?.live.oldestFirst() ?? []).map((run) => run.describe(now));
    return [...ports, ...runs];
  }

  mcp(): McpReport {
    return this.#mcp.records.report();
  }

  #sampleBytes(): void {
    for (const port of this.#ports.values()) port.sampleBytes();
    for (const port of this.#leaving) port.sampleBytes();
  }

  #engineDeps(rows: SharedRows): EngineDeps {
    return {
      backends: { view: this.#endpoints, contexts: this.#contexts },
      metrics: this.#init.telemetry.metrics,
      cloud: this.#cloud,
      policies: {
        clock: systemClock,
        stores: this.#stores,
        buckets: this.#buckets.among(rows.buckets),
        resources: this.#init.resources,
        log: this.#init.log,
        ...policySnapshots(this.#init.telemetry.redaction),
      },
      expressions: expressionsOf,
      mcp: this.#mcp,
      services: (backends) =>
        createServices({
          backends,
          endpoints: this.#endpoints,
          pools: () => this.#currentPools(),
          duration: (use) => this.#init.telemetry.metrics.upstreamCall('Policy', use),
        }),
    };
  }

  /** Calls are made for requests, and requests come to an engine that is live. */
  #current(): Runtime {
    if (this.#runtime === null) throw new Error('no configuration is live');
    return this.#runtime;
  }

  /** Services are only called for requests, when an engine is live. */
  #currentPools(): PoolSet {
    const current = this.#pools.at(-1);
    if (current === undefined) throw new Error('no configuration is live');
    return current.set;
  }

  #swapEngine(engine: Engine): Runtime {
    const pools = this.#poolsFor(engine);
    if (this.#runtime === null) {
      this.#runtime = new Runtime({ init: this.#init, pools, endpoints: this.#endpoints, engine });
    }
    this.#runtime.engine = engine;
    this.#runtime.pools = pools;
    return this.#runtime;
  }

  /** The pools stay over reloads, unless header names are to be written in another way. */
  #poolsFor(engine: Engine): PoolSet {
    const preserveCase = engine.config.frontend.http.http1HeaderCase === 'preserve';
    const current = this.#pools.at(-1);
    if (current !== undefined && current.preserveCase === preserveCase) return current.set;
    current?.set.retainOnly(new Set());
    const { process: settings } = engine.config;
    const set = createUpstreamPools({
      resolver: new CachingResolver({
        lookupFamily: settings.dns.lookupFamily,
        enableIpv6: settings.enableIpv6,
        sources: systemDnsSources(),
      }),
      poolIdleTimeoutMs: settings.backend.poolIdleTimeoutMs,
      poolMaxSize: settings.backend.poolMaxSize,
      preserveCase,
      onConnected: (transport, seconds) => this.#init.telemetry.metrics.upstreamConnect(transport).observe(seconds),
    });
    this.#pools.push({ preserveCase, set });
    return set;
  }

  /** A port that the new configuration does not have: it stops accepting, open connections finish. */
  #retire(key: string, port: BoundPort): void {
    this.#ports.delete(key);
    this.#leaving.add(port);
    port.stopAccepting();
    port.drain();
    void port.empty().then(() => this.#leaving.delete(port));
  }

  #makeListenerDeps(): ListenerDependencies {
    const log = this.#init.log.scope('listener');
    const serveHttp1 = http1Service({
      sweeper: this.#sweeper,
      onBadRequest: (connection, error) =>
        log.debug('request refused', {
          'src.addr': connection.sourceAddress,
          status: error.status,
          error: error.message,
        }),
    });
    return {
      serveHttp1,
      handler: (request, connection, transport) => {
        const runtime = this.#runtime;
        if (runtime !== null) handleRequest(runtime, request, connection, transport);
      },
      admit: (connection, closed) => admits(this.#runtime?.engine.gates ?? [], connection, closed),
      dial: (backend, context) => this.#dial(backend, context),
      metrics: listenerMetrics(this.#init.telemetry.metrics),
      onTcpClosed: (record: TcpRecord) => {
        this.#connectionTraces.end(record);
        reportTcp(this.#runtime, record);
      },
      onConnectionError: (error: ConnectionError) => {
        this.#connectionTraces.refused(error);
        log.debug('connection refused', {
          kind: error.kind,
          bind: error.bind,
          'src.addr': error.remoteAddress,
          'tls.sni': error.sni,
          error: error.detail,
        });
      },
      random: Math.random,
      nextConnectionId: () => (this.#connections += 1),
    };
  }

  async #dial(backend: RouteBackend, context: TunnelContext): Promise<Duplex> {
    const runtime = this.#runtime;
    if (runtime === null) throw new Error('no configuration is live');
    const trace = this.#connectionTraces.begin(context);
    const found = runtime.engine.tcpBackend(context.listenerKey, backend);
    if (found === undefined) throw new Error('the configuration has changed');
    const { resolved, target } = found;
    const named = context.sni === null ? null : `${context.sni}:${context.port}`;
    const picked = resolved.pickTunnel(
      target === null ? named : target.text(connectionContext(context.connection, trace)),
    );
    if (picked.kind === 'refused') throw new Error(picked.refusal.message);
    const start = trace?.now() ?? null;
    trace?.emit({ type: 'backendCallStart', target: peerOf(picked.origin.address) });
    try {
      const way = await runtime.pools.openTunnel(picked.origin);
      trace?.emit({ type: 'backendCallResult', status: null, error: null }, 'info', start);
      return way;
    } catch (error) {
      trace?.emit({ type: 'backendCallResult', status: null, error: messageOf(error) }, 'error', start);
      throw error;
    }
  }
}
