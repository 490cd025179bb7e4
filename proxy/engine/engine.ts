import type {
  AiBackend,
  BackendPolicies,
  Bind,
  GatewayConfig,
  HttpRoute,
  Listener,
  McpBackend as McpBackendSpec,
  ModelsBackend,
  RouteBackend,
  TcpRoute,
} from '../../src/config/ir/index.ts';
import type { ListenerProtocol } from '../../src/config/ir/index.ts';
import { type CloudAccess, cloudOf, noCloudAccess } from '../backends/auth/cloud.ts';
import { passingOn } from '../backends/endpoint-identity.ts';
import type { Endpoint } from '../backends/health.ts';
import { compileBackends, type BackendTable } from '../backends/resolve.ts';
import type { BackendDeps } from '../backends/resolve.ts';
import type { ResolvedBackend } from '../backends/resolved.ts';
import {
  type BackendScope,
  type Effective,
  effectiveBackendPolicies,
  effectiveGatewayPolicies,
  effectiveRoutePolicies,
} from '../policy/effective.ts';
import type { Expression, Expressions, LlmContents } from '../expression/contract.ts';
import { notingLlmContents } from '../expression/llm-contents.ts';
import type { PolicyDeps } from '../policy/contract.ts';
import { compileGates, type ConnectionGate } from '../policy/network/gates.ts';
import {
  type BackendPipeline,
  type BackendPlace,
  compileBackendPipeline,
  compileGatewayPipeline,
  compileRoutePipeline,
  type GatewayPipeline,
} from '../policy/pipeline.ts';
import { agentAddress } from './mirror-address.ts';
import type { MirrorPlan } from '../policy/request-mirror/compile.ts';
import { ChainCache } from '../routing/delegation.ts';
import { compileRouteTable, type Matched, type RouteTable } from '../routing/table.ts';
import type { Services } from '../services/contract.ts';
import type { BackendSeries, RouteSeries, ThreadMetrics } from '../telemetry/thread-metrics.ts';
import { compileObservability, type Observability } from '../telemetry/observability.ts';
import type { ModelRouter } from '../llm/models/router.ts';
import { type RouteTypes, typesOf } from '../llm/route-type.ts';
import { PriceList } from '../llm/cost/price-list.ts';
import type { LlmBackend } from './llm-backend.ts';
import { McpRecords } from '../mcp/records/records.ts';
import type { McpBackend, McpThread } from './mcp-backend.ts';
import { BackendProgram, type MirrorProgram, RouteProgram } from './program.ts';

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
  readonly #mcpParts: EngineOptions['mcp'];
  readonly #deps: EngineDeps;
  readonly #policyDeps: PolicyDeps;
  readonly #binds: ReadonlyMap<string, EngineBind>;
  /** By key of the listener. */
  readonly #tcp = new Map<string, ReadonlyMap<RouteBackend, TcpBackend>>();

  /** Throws a `GwError` for anything that can't be compiled. */
  constructor(config: GatewayConfig, options: EngineOptions) {
    this.config = config;
    this.revision = options.revision;
    this.llm = options.llm;
    this.#mcpParts = options.mcp;
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
    const deps = this.#policyDeps;
    const pipeline = compileRoutePipeline(effective, gateway, deps);
    const series = this.#deps.metrics.route({
      bind: bind.key,
      gateway: `${listener.gatewayNamespace}/${listener.gatewayName}`,
      listener: listener.name,
      route: `${route.namespace}/${route.name}`,
      routeRule: route.ruleName ?? '',
    });
    const backends = new Map<RouteBackend, BackendProgram>();
    for (const routeBackend of route.backends) {
      const { target } = routeBackend;
      if (target.kind === 'routeGroup') continue;
      const named = target.kind === 'reference' ? this.backends.named(target.backend) : undefined;
      const service = target.kind === 'service' ? target : undefined;
      const own = effectiveBackendPolicies(this.config, { bind, listener, chain, routeBackend, named, service });
      const resolved = this.backends.resolve(target, own.values);
      const backend = target.kind === 'inline' ? target.backend : named?.backend;
      const place = { gateway, route: pipeline, target, host: resolved.host, agent: resolved.agent };
      const scope = { bind, listener, chain, routeBackend, named, service };
      const met = backend?.kind === 'mcp' ? this.#mcpPart().frontOf(own) : own;
      const compiled = compileBackendPipeline(met, place, deps);
      const llm = backend?.kind === 'ai' ? this.#llm(backend, { scope, place, series }) : null;
      const program = (ai: AiBackend): BackendProgram => {
        const unit = this.backends.resolve({ kind: 'inline', backend: ai }, own.values);
        return this.#backend(compiled, { resolved: unit, llm: this.#llm(ai, { scope, place, series }), series });
      };
      const models = backend?.kind === 'models' ? this.#models(backend, program) : null;
      const mcp = backend?.kind === 'mcp' ? this.#mcp(backend, { own, scope, place, series }) : null;
      backends.set(routeBackend, this.#backend(compiled, { resolved, llm, models, mcp, series }));
    }
    return new RouteProgram({ route, pipeline, backends, mirrors: this.#mirrors(pipeline.mirrors), series });
  }

  /** The models behind one address, each with a program of its own. */
  #models(backend: ModelsBackend, program: (backend: AiBackend) => BackendProgram): ModelRouter<BackendProgram> {
    return new (this.#parts().ModelRouter)<BackendProgram>(backend, {
      expressions: this.#policyDeps.expressions,
      random: this.#deps.backends.random ?? Math.random,
      modelTarget: (model) => program(model.backend),
      virtualTarget: ({ name, routing }) => {
        if (routing.kind !== 'failover') throw new Error(`the virtual model ${name} has no backend of its own`);
        return program(routing.backend);
      },
    });
  }

  #llm(
    backend: AiBackend,
    { scope, place, series }: { scope: BackendScope; place: BackendPlace; series: RouteSeries },
  ): LlmBackend {
    const deps = this.#policyDeps;
    const { view, random, now } = this.#deps.backends;
    return new (this.#parts().LlmBackend)(backend, {
      backends: this.backends,
      balance: { view, random: random ?? Math.random, now: now ?? Date.now },
      effective: (member) => effectiveBackendPolicies(this.config, { ...scope, member }),
      context: ({ sources }) => ({ phase: 'backend', source: sources.ai ?? '', deps }),
      program: (effective, resolved) =>
        this.#backend(
          compileBackendPipeline(effective, { ...place, host: resolved.host, agent: resolved.agent }, deps),
          { resolved, series },
        ),
    });
  }

  #mcp(backend: McpBackendSpec, { own, scope, place, series }: McpPlace): McpBackend {
    const deps = this.#policyDeps;
    return new (this.#mcpPart().McpBackend)(backend, {
      own,
      backends: this.backends,
      deps,
      sessions: this.config.process.mcpSessions,
      thread: this.#deps.mcp ?? noMcpThread(),
      effective: (target) => {
        const at = target.server.kind === 'stdio' ? undefined : target.server.at;
        const shared = at?.kind === 'backend' ? this.backends.named(at.backend) : undefined;
        return effectiveBackendPolicies(this.config, { ...scope, member: { ...target, named: shared } });
      },
      program: (effective, resolved) =>
        this.#backend(
          compileBackendPipeline(effective, { ...place, host: resolved.host, agent: resolved.agent }, deps),
          { resolved, series },
        ),
    });
  }

  #mcpPart(): NonNullable<EngineOptions['mcp']> {
    if (this.#mcpParts === null) throw new Error('what serves MCP has not been loaded');
    return this.#mcpParts;
  }

  #parts(): NonNullable<EngineOptions['llm']> {
    if (this.llm === null) throw new Error('what serves language models has not been loaded');
    return this.llm;
  }

  #backend(
    pipeline: BackendPipeline,
    parts: {
      resolved: ResolvedBackend;
      series: RouteSeries;
      llm?: LlmBackend | null;
      models?: ModelRouter<BackendProgram> | null;
      mcp?: McpBackend | null;
    },
  ): BackendProgram {
    return new BackendProgram({ ...parts, pipeline, mirrors: this.#mirrors(pipeline.mirrors) });
  }

  #mirrors(plans: readonly MirrorPlan[]): readonly MirrorProgram[] {
    return plans.map((plan) => {
      const { backend } = plan;
      const policies = backend.kind === 'reference' ? (this.backends.named(backend.backend)?.policies ?? {}) : {};
      const resolved = this.backends.resolve(backend, policies);
      const { agent } = resolved;
      const address = agent === undefined ? null : agentAddress(agent, policies, this.#policyDeps);
      return { plan, resolved, address };
    });
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

interface McpPlace {
  readonly own: Effective<BackendPolicies>;
  readonly scope: BackendScope;
  readonly place: BackendPlace;
  readonly series: RouteSeries;
}

/** Where configurations are only looked at. */
function noMcpThread(): McpThread {
  return {
    owner: { process: '0000000000000000', thread: 0, life: '00000000' },
    gateway: { name: 'gw', version: '' },
    environment: {},
    peers: { count: 1, meet: nobodyServes, onMet() {} },
    records: new McpRecords(),
    runtime: nobodyServes,
    unattended: nobodyServes,
  };
}

function nobodyServes(): never {
  throw new Error('nothing is called here');
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
