import type { Bind, GatewayConfig, HttpRoute, Listener, RouteBackend, TcpRoute } from '../../src/config/ir/index.ts';
import type { ListenerProtocol } from '../../src/config/ir/index.ts';
import { type CloudAccess, cloudOf, noCloudAccess } from '../backends/auth/cloud.ts';
import { passingOn } from '../backends/endpoint-identity.ts';
import type { Endpoint } from '../backends/health.ts';
import { compileBackends, type BackendTable } from '../backends/resolve.ts';
import type { BackendDeps } from '../backends/resolve.ts';
import type { ResolvedBackend } from '../backends/resolved.ts';
import { effectiveBackendPolicies, effectiveGatewayPolicies, effectiveRoutePolicies } from '../policy/effective.ts';
import type { Expression, Expressions, LlmContents } from '../expression/contract.ts';
import { notingLlmContents } from '../expression/llm-contents.ts';
import type { PolicyDeps } from '../policy/contract.ts';
import { compileGates, type ConnectionGate } from '../policy/network/gates.ts';
import { compileGatewayPipeline, compileRoutePipeline, type GatewayPipeline } from '../policy/pipeline.ts';
import { ChainCache } from '../routing/delegation.ts';
import { compileRouteTable, type Matched, type RouteTable } from '../routing/table.ts';
import type { Services } from '../services/contract.ts';
import type { BackendSeries, ThreadMetrics } from '../telemetry/thread-metrics.ts';
import { compileObservability, type Observability } from '../telemetry/observability.ts';
import { type RouteTypes, typesOf } from '../llm/route-type.ts';
import { PriceList } from '../llm/cost/price-list.ts';
import { BackendPrograms } from './backend-programs.ts';
import type { McpThread } from './mcp-backend.ts';
import { type BackendProgram, RouteProgram } from './program.ts';

export interface EngineDeps {
  readonly backends: Omit<BackendDeps, 'rows'>;
  readonly metrics: ThreadMetrics;
  readonly policies: Omit<
    PolicyDeps,
    'maxBufferSize' | 'streamIdleTimeoutMs' | 'expressions' | 'services' | 'cloud' | 'metrics'
  >;
  /** Files and endpoints that credentials come from; none where nothing is called. */
  readonly cloud?: CloudAccess | undefined;
  /** By the settings that expressions depend on. */
  readonly expressions: (config: GatewayConfig) => Expressions;
  /** Clients of services that policies call, among the backends of this configuration. */
  readonly services: (backends: BackendTable) => Services;
  /** What MCP backends need of their thread; absent where nothing is called. */
  readonly mcp?: McpThread | undefined;
}

/** What a route table carries for each route. */
export interface RouteSlot {
  /** Made at load for routes that delegate to no group; chains are made when they are first met. */
  program: RouteProgram | null;
}

export interface EngineOptions {
  readonly revision: string;
  /** Rows of the shared memory by identity of the endpoint. */
  readonly rows: ReadonlyMap<string, number>;
  readonly deps: EngineDeps;
  /** What serves language models; null for configurations that have none. */
  readonly llm: typeof import('./llm-parts.ts') | null;
  /** What serves MCP; null for configurations that have none. */
  readonly mcp: typeof import('./mcp-parts.ts') | null;
}

/** One configuration, compiled: look-ups and functions, nothing left to fail. Immutable; a reload makes another. */
export class Engine {
  readonly config: GatewayConfig;
  readonly revision: string;
  readonly backends: BackendTable;
  /** Tables of the route groups by name. */
  readonly groups: ReadonlyMap<string, RouteTable<RouteSlot>>;
  /** Numbers of requests for which no listener was found. */
  readonly unplaced: BackendSeries;
  /** What decides about connections. */
  readonly gates: readonly ConnectionGate[];
  /** What is told about requests when they have ended. */
  readonly observability: Observability;
  /** Accounts of the virtual models that pass requests on to others, by name. */
  readonly virtualModels: ReadonlyMap<string, Endpoint>;
  /** What calls of language models cost. */
  readonly prices: PriceList;
  /** What some expression wants to know of them. */
  readonly llmContents: LlmContents;
  readonly llm: EngineOptions['llm'];
  readonly #deps: EngineDeps;
  readonly #policyDeps: PolicyDeps;
  readonly #programs: BackendPrograms;
  readonly #binds: ReadonlyMap<string, EngineBind>;
  /** By key of the listener. */
  readonly #tcp = new Map<string, ReadonlyMap<RouteBackend, TcpBackend>>();

  /** Throws a `GwError` for anything that can't be compiled. */
  constructor(config: GatewayConfig, options: EngineOptions) {
    this.config = config;
    this.revision = options.revision;
    this.llm = options.llm;
    this.#deps = options.deps;
    this.backends = compileBackends(config, {
      ...options.deps.backends,
      rows: options.rows,
      locality: config.process.locality,
    });
    this.virtualModels = new Map(
      config.backends
        .flatMap(({ backend }) => (backend.kind === 'models' ? passingOn(backend) : []))
        .map((name) => [name, this.backends.virtualModelEndpoint(name)]),
    );
    const noting = notingLlmContents(options.deps.expressions(config));
    this.llmContents = noting.contents;
    this.prices = new PriceList(config.modelCatalog);
    this.#policyDeps = {
      ...options.deps.policies,
      metrics: options.deps.metrics,
      maxBufferSize: config.frontend.http.maxBufferSize,
      streamIdleTimeoutMs: config.frontend.http.streamIdleTimeoutMs,
      expressions: noting.expressions,
      services: options.deps.services(this.backends),
      cloud: cloudOf(options.deps.cloud ?? noCloudAccess, config.process.credentialEnvironment ?? {}),
    };
    this.#programs = new BackendPrograms({
      config,
      backends: this.backends,
      balance: options.deps.backends,
      policies: this.#policyDeps,
      llm: options.llm,
      mcp: options.mcp,
      mcpThread: options.deps.mcp,
    });
    this.gates = compileGates(config.frontend, this.#policyDeps);
    this.observability = compileObservability(config, {
      expressions: this.#policyDeps.expressions,
      services: this.#policyDeps.services,
      labelSets: options.deps.metrics.labelSets(config.process.metrics.add.length),
    });
    this.groups = new Map(
      config.routeGroups.map((group) => [group.name, compileRouteTable(group.routes.map(slotted))]),
    );
    this.unplaced = options.deps.metrics
      .route({ bind: '', gateway: '', listener: '', route: '', routeRule: '' })
      .backend('', '');
    this.#binds = new Map(config.binds.map((bind) => [bind.key, this.#bind(bind)]));
    this.#checkDelegated();
    this.#resolveTcpBackends();
  }

  bind(key: string): EngineBind | undefined {
    return this.#binds.get(key);
  }

  binds(): Iterable<EngineBind> {
    return this.#binds.values();
  }

  /** The program of a chain that begins at a route of the listener. */
  program(listener: EngineListener, chain: readonly Matched<RouteSlot>[]): RouteProgram {
    return listener.programs.get(chain);
  }

  #bind(bind: Bind): EngineBind {
    const listeners = bind.listeners.map((listener) => this.#listener(bind, listener));
    const byKey = new Map(listeners.map((listener) => [listener.key, listener]));
    return { key: bind.key, listeners, listener: (key) => byKey.get(key) };
  }

  #listener(bind: Bind, listener: Listener): EngineListener {
    const { metrics } = this.#deps;
    const { key, name, gatewayName, gatewayNamespace, hostname, protocol } = listener;
    const labels = { bind: bind.key, gateway: `${gatewayNamespace}/${gatewayName}`, listener: name };
    const gateway = compileGatewayPipeline(effectiveGatewayPolicies(this.config, { bind, listener }), this.#policyDeps);
    const compile = (chain: readonly HttpRoute[]): RouteProgram => this.#program({ bind, listener, gateway }, chain);
    const table = compileRouteTable(
      listener.routes.map((route) => ({ route, value: { program: delegates(route) ? null : compile([route]) } })),
    );
    const unrouted = metrics.route({ ...labels, route: '', routeRule: '' }).backend('', '');
    return {
      key,
      name,
      gatewayName,
      gatewayNamespace,
      hostname,
      protocol,
      bind,
      gateway,
      table,
      unrouted,
      programs: new ChainCache(compile),
      llmTypes: this.#llmTypes(listener),
    };
  }

  /** A listener that is there for models alone is spoken to in the formats of their clients. */
  #llmTypes({ routes }: Listener): RouteTypes | null {
    const [route, ...others] = routes;
    if (others.length > 0) return null;
    const [target, ...more] = route?.backends.map((each) => each.target) ?? [];
    if (target?.kind !== 'reference' || more.length > 0) return null;
    const backend = this.backends.named(target.backend)?.backend;
    return backend?.kind === 'models' ? typesOf(backend) : null;
  }

  #program({ bind, listener, gateway }: ListenerScope, chain: readonly HttpRoute[]): RouteProgram {
    const route = chain.at(-1);
    if (route === undefined) throw new Error('a chain has at least one route');
    const effective = effectiveRoutePolicies(this.config, { bind, listener, chain });
    const pipeline = compileRoutePipeline(effective, gateway, this.#policyDeps);
    const series = this.#deps.metrics.route({
      bind: bind.key,
      gateway: `${listener.gatewayNamespace}/${listener.gatewayName}`,
      listener: listener.name,
      route: `${route.namespace}/${route.name}`,
      routeRule: route.ruleName ?? '',
    });
    const place = { bind, listener, gateway, chain, route: pipeline, series };
    const backends = new Map<RouteBackend, BackendProgram>();
    for (const routeBackend of route.backends) {
      const program = this.#programs.compile(routeBackend, place);
      if (program !== null) backends.set(routeBackend, program);
    }
    const mirrors = this.#programs.mirrors(pipeline.mirrors);
    return new RouteProgram({ route, pipeline, backends, mirrors, series });
  }

  /** Routes of groups are compiled under each listener once, so that nothing is left to fail at a request. */
  #checkDelegated(): void {
    const grouped = this.config.routeGroups.flatMap((group) => group.routes);
    for (const bind of this.config.binds) {
      for (const listener of bind.listeners) {
        if (!listener.routes.some(delegates)) continue;
        const { gateway } = this.bind(bind.key)?.listener(listener.key) ?? {};
        if (gateway === undefined) continue;
        for (const route of grouped) this.#program({ bind, listener, gateway }, [route]);
      }
    }
  }

  /** A backend of a TCP route under a listener; undefined for what the configuration does not have. */
  tcpBackend(listenerKey: string, backend: RouteBackend): TcpBackend | undefined {
    return this.#tcp.get(listenerKey)?.get(backend);
  }

  #resolveTcpBackends(): void {
    for (const bind of this.config.binds)
      for (const listener of bind.listeners) {
        if (listener.tcpRoutes.length === 0) continue;
        const found = listener.tcpRoutes.flatMap((route) =>
          route.backends.map((backend) => [backend, this.#tcpBackend({ bind, listener, route }, backend)] as const),
        );
        this.#tcp.set(listener.key, new Map(found));
      }
  }

  #tcpBackend({ bind, listener, route }: TcpPlace, routeBackend: RouteBackend): TcpBackend {
    const { target } = routeBackend;
    if (target.kind === 'routeGroup') throw new Error('a TCP route has no groups');
    const named = target.kind === 'reference' ? this.backends.named(target.backend) : undefined;
    const service = target.kind === 'service' ? target : undefined;
    const scope = { bind, listener, chain: [route], routeBackend, named, service };
    const resolved = this.backends.resolve(target, effectiveBackendPolicies(this.config, scope).values);
    const dynamic = target.kind === 'inline' && target.backend.kind === 'dynamic' ? target.backend.target : undefined;
    const { expressions } = this.#policyDeps;
    return { resolved, target: dynamic === undefined ? null : expressions.compile(dynamic, 'dynamic target') };
  }
}

export interface EngineBind {
  readonly key: string;
  readonly listeners: readonly EngineListener[];
  listener(key: string): EngineListener | undefined;
}

export interface EngineListener {
  readonly key: string;
  readonly name: string;
  readonly gatewayName: string;
  readonly gatewayNamespace: string;
  readonly hostname: string;
  readonly protocol: ListenerProtocol;
  readonly bind: Bind;
  /** What runs before a route is chosen. */
  readonly gateway: GatewayPipeline;
  readonly table: RouteTable<RouteSlot>;
  readonly programs: ChainCache<RouteProgram>;
  /** Numbers of requests that no route matched. */
  readonly unrouted: BackendSeries;
  /** How clients' formats are told apart before a route is chosen; null where not only models are behind it. */
  readonly llmTypes: RouteTypes | null;
}

/** A backend of a TCP route, with the policies of all levels. */
export interface TcpBackend {
  readonly resolved: ResolvedBackend;
  /** Where a dynamic backend is found; null when the connection itself names it, or it is another kind. */
  readonly target: Expression | null;
}

interface TcpPlace {
  readonly bind: Bind;
  readonly listener: Listener;
  readonly route: TcpRoute;
}

/** Where a chain of routes is compiled for. */
interface ListenerScope {
  readonly bind: Bind;
  readonly listener: Listener;
  readonly gateway: GatewayPipeline;
}

function slotted(route: HttpRoute): { route: HttpRoute; value: RouteSlot } {
  return { route, value: { program: null } };
}

function delegates(route: HttpRoute): boolean {
  return route.backends.some((backend) => backend.target.kind === 'routeGroup');
}
