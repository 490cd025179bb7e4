import type { HttpRoute, RouteBackend } from '../../src/config/ir/index.ts';
import type { ResolvedBackend } from '../backends/resolved.ts';
import type { BackendPipeline, MirrorPipeline, RoutePipeline } from '../policy/pipeline.ts';
import type { MirrorPlan } from '../policy/request-mirror/compile.ts';
import type { NamedResponseStep } from '../policy/run.ts';
import type { GenAiSeries } from '../telemetry/gen-ai-series.ts';
import type { BackendSeries, RouteSeries } from '../telemetry/thread-metrics.ts';
import type { ModelRouter } from '../llm/models/router.ts';
import type { McpBackend } from './mcp-backend.ts';
import type { LlmBackend } from './llm-backend.ts';

/** Somewhere that copies of requests go. */
export interface MirrorProgram {
  readonly plan: MirrorPlan;
  readonly resolved: ResolvedBackend;
  /** What a copy meets: the policies of its backend. */
  readonly pipeline: MirrorPipeline;
}

/** Everything that was compiled for one chain of routes under one listener. */
export class RouteProgram {
  /** The last route of the chain. */
  readonly route: HttpRoute;
  readonly pipeline: RoutePipeline;
  readonly backends: ReadonlyMap<RouteBackend, BackendProgram>;
  readonly mirrors: readonly MirrorProgram[];
  readonly #series: RouteSeries;
  #unanswered: BackendSeries | null = null;

  constructor(parts: {
    route: HttpRoute;
    pipeline: RoutePipeline;
    backends: ReadonlyMap<RouteBackend, BackendProgram>;
    mirrors: readonly MirrorProgram[];
    series: RouteSeries;
  }) {
    this.route = parts.route;
    this.pipeline = parts.pipeline;
    this.backends = parts.backends;
    this.mirrors = parts.mirrors;
    this.#series = parts.series;
  }

  /** Numbers of requests that met no backend; made on first use, as most routes never need them. */
  get unanswered(): BackendSeries {
    return (this.#unanswered ??= this.#series.backend('', ''));
  }

  responseSteps(backend: BackendProgram | null): readonly NamedResponseStep[] {
    return backend === null ? this.pipeline.response : backend.pipeline.response;
  }
}

/** One backend of a route with the policies that hold for it there. */
export class BackendProgram {
  readonly resolved: ResolvedBackend;
  readonly pipeline: BackendPipeline;
  readonly mirrors: readonly MirrorProgram[];
  /** The services that requests go to, when this is a backend of language models. */
  readonly llm: LlmBackend | null;
  /** Finds the model that a request names, when many are behind this. */
  readonly models: ModelRouter<BackendProgram> | null;
  /** The servers that look like one, when this is a backend of MCP. */
  readonly mcp: McpBackend | null;
  readonly #series: RouteSeries;
  #http: BackendSeries | null = null;
  #http2: BackendSeries | null = null;
  #models: BackendSeries | null = null;
  #agent: BackendSeries | null = null;

  constructor(parts: {
    resolved: ResolvedBackend;
    pipeline: BackendPipeline;
    mirrors: readonly MirrorProgram[];
    llm?: LlmBackend | null;
    models?: ModelRouter<BackendProgram> | null;
    mcp?: McpBackend | null;
    series: RouteSeries;
  }) {
    this.llm = parts.llm ?? null;
    this.models = parts.models ?? null;
    this.mcp = parts.mcp ?? null;
    this.resolved = parts.resolved;
    this.pipeline = parts.pipeline;
    this.mirrors = parts.mirrors;
    this.#series = parts.series;
  }

  /** Calls of it are those of an agent. */
  get isAgent(): boolean {
    return this.pipeline.effective.values.a2a !== undefined;
  }

  /** Numbers of messages to MCP servers under the route. */
  mcpMessage(labels: Parameters<RouteSeries['mcp']>[0]): ReturnType<RouteSeries['mcp']> {
    return this.#series.mcp(labels);
  }

  /** Numbers of a model under the route. */
  model(provider: string, requested: string, answered: string): GenAiSeries {
    return this.#series.model(provider, requested, answered);
  }

  /** Numbers of this backend under its route. */
  series(protocol: string): BackendSeries {
    if (protocol === 'llm') return (this.#models ??= this.#series.backend(this.resolved.name, 'llm'));
    if (protocol === 'a2a') return (this.#agent ??= this.#series.backend(this.resolved.name, 'a2a'));
    if (protocol === 'h2') return (this.#http2 ??= this.#series.backend(this.resolved.name, 'h2'));
    return (this.#http ??= this.#series.backend(this.resolved.name, 'http'));
  }
}
