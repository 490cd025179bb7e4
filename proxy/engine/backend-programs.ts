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
} from '../../src/config/ir/index.ts';
import type { BackendDeps, BackendTable } from '../backends/resolve.ts';
import type { ResolvedBackend } from '../backends/resolved.ts';
import type { ModelRouter } from '../llm/models/router.ts';
import { McpRecords } from '../mcp/records/records.ts';
import type { PolicyDeps } from '../policy/contract.ts';
import {
  type BackendScope,
  type Effective,
  effectiveBackendPolicies,
  effectiveMirrorPolicies,
} from '../policy/effective.ts';
import {
  type BackendPipeline,
  type BackendPlace,
  compileBackendPipeline,
  compileMirrorPipeline,
  type GatewayPipeline,
  type RoutePipeline,
} from '../policy/pipeline.ts';
import type { MirrorPlan } from '../policy/request-mirror/compile.ts';
import type { RouteSeries } from '../telemetry/thread-metrics.ts';
import type { LlmBackend } from './llm-backend.ts';
import type { McpBackend, McpThread } from './mcp-backend.ts';
import { BackendProgram, type MirrorProgram } from './program.ts';

export interface BackendProgramsOptions {
  readonly config: GatewayConfig;
  readonly backends: BackendTable;
  readonly balance: Pick<BackendDeps, 'view' | 'random' | 'now'>;
  readonly policies: PolicyDeps;
  /** What serves language models; null for configurations that have none. */
  readonly llm: typeof import('./llm-parts.ts') | null;
  /** What serves MCP; null for configurations that have none. */
  readonly mcp: typeof import('./mcp-parts.ts') | null;
  /** Absent where nothing is called. */
  readonly mcpThread: McpThread | undefined;
}

/** Where a backend is used. */
export interface RoutePlace {
  readonly bind: Bind;
  readonly listener: Listener;
  readonly gateway: GatewayPipeline;
  readonly chain: readonly HttpRoute[];
  readonly route: RoutePipeline;
  readonly series: RouteSeries;
}

/** A backend of a route, with what belongs to its place there. */
interface Used {
  readonly scope: BackendScope;
  readonly place: BackendPlace;
  readonly series: RouteSeries;
}

interface ProgramParts {
  readonly resolved: ResolvedBackend;
  readonly series: RouteSeries;
  readonly llm?: LlmBackend | null;
  readonly models?: ModelRouter<BackendProgram> | null;
  readonly mcp?: McpBackend | null;
}

/** Makes the programs of the backends of routes, each of its kind. */
export class BackendPrograms {
  readonly #options: BackendProgramsOptions;

  constructor(options: BackendProgramsOptions) {
    this.#options = options;
  }

  /** Null for a group of routes. Throws a `GwError` for what cannot be compiled. */
  compile(routeBackend: RouteBackend, place: RoutePlace): BackendProgram | null {
    const { target } = routeBackend;
    if (target.kind === 'routeGroup') return null;
    const { bind, listener, chain, gateway, route, series } = place;
    const { config, backends, policies } = this.#options;
    const named = target.kind === 'reference' ? backends.named(target.backend) : undefined;
    const service = target.kind === 'service' ? target : undefined;
    const scope = { bind, listener, chain, routeBackend, named, service };
    const own = effectiveBackendPolicies(config, scope);
    const resolved = backends.resolve(target, own.values);
    const backend = target.kind === 'inline' ? target.backend : named?.backend;
    const used = { scope, place: { gateway, route, target, host: resolved.host, agent: resolved.agent }, series };
    const met = backend?.kind === 'mcp' ? this.#mcpParts().frontOf(own) : own;
    const pipeline = compileBackendPipeline(met, used.place, policies);
    switch (backend?.kind) {
      case 'ai':
        return this.#program(pipeline, { resolved, series, llm: this.#llm(backend, used) });
      case 'models': {
        const program = (ai: AiBackend): BackendProgram => {
          const unit = backends.resolve({ kind: 'inline', backend: ai }, own.values);
          return this.#program(pipeline, { resolved: unit, series, llm: this.#llm(ai, used) });
        };
        return this.#program(pipeline, { resolved, series, models: this.#models(backend, program) });
      }
      case 'mcp':
        return this.#program(pipeline, { resolved, series, mcp: this.#mcp(backend, own, used) });
      default:
        return this.#program(pipeline, { resolved, series });
    }
  }

  mirrors(plans: readonly MirrorPlan[]): readonly MirrorProgram[] {
    const { config, backends, policies } = this.#options;
    return plans.map((plan) => {
      const { backend } = plan;
      const named = backend.kind === 'reference' ? backends.named(backend.backend) : undefined;
      const service = backend.kind === 'service' ? backend : undefined;
      const own = effectiveMirrorPolicies(config, { named, service });
      const resolved = backends.resolve(backend, own.values);
      return { plan, resolved, pipeline: compileMirrorPipeline(own, resolved, policies) };
    });
  }

  /** The models behind one address, each with a program of its own. */
  #models(backend: ModelsBackend, program: (backend: AiBackend) => BackendProgram): ModelRouter<BackendProgram> {
    return new (this.#llmParts().ModelRouter)<BackendProgram>(backend, {
      expressions: this.#options.policies.expressions,
      random: this.#options.balance.random ?? Math.random,
      modelTarget: (model) => program(model.backend),
      virtualTarget: ({ name, routing }) => {
        if (routing.kind !== 'failover') throw new Error(`the virtual model ${name} has no backend of its own`);
        return program(routing.backend);
      },
    });
  }

  #llm(backend: AiBackend, used: Used): LlmBackend {
    const { config, backends, balance, policies: deps } = this.#options;
    const { view, random, now } = balance;
    return new (this.#llmParts().LlmBackend)(backend, {
      backends,
      balance: { view, random: random ?? Math.random, now: now ?? Date.now },
      effective: (member) => effectiveBackendPolicies(config, { ...used.scope, member }),
      context: ({ sources }) => ({ phase: 'backend', source: sources.ai ?? '', deps }),
      program: (effective, resolved) => this.#member(effective, resolved, used),
    });
  }

  #mcp(backend: McpBackendSpec, own: Effective<BackendPolicies>, used: Used): McpBackend {
    const { config, backends, policies, mcpThread } = this.#options;
    return new (this.#mcpParts().McpBackend)(backend, {
      own,
      backends,
      deps: policies,
      sessions: config.process.mcpSessions,
      thread: mcpThread ?? noMcpThread(),
      effective: (target) => {
        const at = target.server.kind === 'stdio' ? undefined : target.server.at;
        const shared = at?.kind === 'backend' ? backends.named(at.backend) : undefined;
        return effectiveBackendPolicies(config, { ...used.scope, member: { ...target, named: shared } });
      },
      program: (effective, resolved) => this.#member(effective, resolved, used),
    });
  }

  /** One of those that a backend consists of. */
  #member(
    effective: Effective<BackendPolicies>,
    resolved: ResolvedBackend,
    { place, series }: Omit<Used, 'scope'>,
  ): BackendProgram {
    const own = { ...place, host: resolved.host, agent: resolved.agent };
    return this.#program(compileBackendPipeline(effective, own, this.#options.policies), { resolved, series });
  }

  #program(pipeline: BackendPipeline, parts: ProgramParts): BackendProgram {
    return new BackendProgram({ ...parts, pipeline, mirrors: this.mirrors(pipeline.mirrors) });
  }

  #llmParts(): NonNullable<BackendProgramsOptions['llm']> {
    const { llm } = this.#options;
    if (llm === null) throw new Error('what serves language models has not been loaded');
    return llm;
  }

  #mcpParts(): NonNullable<BackendProgramsOptions['mcp']> {
    const { mcp } = this.#options;
    if (mcp === null) throw new Error('what serves MCP has not been loaded');
    return mcp;
  }
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
