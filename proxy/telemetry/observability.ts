import type { GatewayConfig, Tracing } from '../../src/config/ir/index.ts';
import type { EvalContext, Expression, Expressions } from '../expression/contract.ts';
import { nowhere } from '../expression/nowhere.ts';
import type { Services } from '../services/contract.ts';
import { FieldSet } from './field-set.ts';
import { type LabelSets, MetricLabels } from './metric-labels.ts';
import type { Exporter } from './otlp/exporter.ts';
import type { Exporters, ExportPlan } from './otlp/exporters.ts';
import { exportPlan, resourceAttributes } from './otlp/plan.ts';
import { defaultSampler, Sampler, samplingRule } from './spans/sampler.ts';
import type { Attribute } from './spans/span.ts';

/** Only what the filter lets through; null is everything. */
type Filter = Expression | null;

/** What is exported, in which form, and to whom. */
export interface Output {
  readonly filter: Filter;
  readonly fields: FieldSet;
  readonly plan: ExportPlan;
}

/** What one configuration wants told about its requests, compiled. */
export interface Observability {
  readonly log: { readonly filter: Filter; readonly fields: FieldSet };
  readonly otlpLog: Output | null;
  readonly sampler: Sampler;
  readonly spans: Output | null;
  readonly labels: MetricLabels | null;
  /** What has to be recorded of bodies while they pass. */
  readonly reads: { readonly requestBody: boolean; readonly responseBody: boolean };
  /** Nothing beyond the default access log: no expression is evaluated when a request ends. */
  readonly plain: boolean;
  /** Joins the exporters of the thread, when the configuration becomes live. */
  connect(exporters: Exporters): void;
  /** Null before the configuration was live. */
  exporterOf(output: Output): Exporter | null;
}

/** Default fields that spans do not have: what went wrong is their status. */
const NOT_IN_SPANS = ['error'];
const LOG_SCOPE = 'gw.access';

export interface ObservabilityDeps {
  readonly expressions: Expressions;
  readonly services: Services;
  readonly labelSets: LabelSets;
}

/** Throws a `GwError` for what does not compile. */
export function compileObservability(config: GatewayConfig, deps: ObservabilityDeps): Observability {
  const noting = notingReads(deps.expressions);
  return new Compiled(config, { ...deps, expressions: noting.expressions }, noting.reads);
}

class Compiled implements Observability {
  readonly log: Observability['log'];
  readonly otlpLog: Output | null;
  readonly sampler: Sampler;
  readonly spans: Output | null;
  readonly labels: MetricLabels | null;
  readonly reads: Observability['reads'];
  readonly plain: boolean;
  #exporters: ReadonlyMap<ExportPlan, Exporter> = new Map();

  constructor(config: GatewayConfig, deps: ObservabilityDeps, reads: Observability['reads']) {
    const { expressions } = deps;
    const { accessLog, tracing } = config.frontend;
    this.reads = reads;
    this.log = {
      filter: filterOf(accessLog.filter, { where: 'accessLog filter', expressions }),
      fields: FieldSet.compile(accessLog, { where: 'accessLog', expressions }),
    };
    this.otlpLog = otlpLog(config, deps);
    this.sampler = tracing === undefined ? defaultSampler : samplerOf(tracing, expressions);
    this.spans = tracing === undefined ? null : spans(config, tracing, deps);
    const { add } = config.process.metrics;
    this.labels = add.length === 0 ? null : new MetricLabels(add, expressions, deps.labelSets);
    const { filter, fields } = this.log;
    this.plain =
      filter === null &&
      !fields.hasAdditions &&
      this.otlpLog === null &&
      this.spans === null &&
      this.sampler.never &&
      this.labels === null;
  }

  connect(exporters: Exporters): void {
    this.#exporters = exporters.use(
      [this.otlpLog, this.spans].flatMap((output) => (output === null ? [] : output.plan)),
    );
  }

  exporterOf({ plan }: Output): Exporter | null {
    return this.#exporters.get(plan) ?? null;
  }
}

/** Whether a finished request gets through. */
export function passes(filter: Filter, context: EvalContext): boolean {
  return filter === null || filter.isTrue(context);
}

function otlpLog({ frontend, process }: GatewayConfig, { expressions, services }: ObservabilityDeps): Output | null {
  const { otlp } = frontend.accessLog;
  if (otlp === undefined) return null;
  const where = 'accessLog otlp';
  return {
    filter: filterOf(otlp.filter, { where: `${where} filter`, expressions }),
    fields: FieldSet.compile(otlp, { where, expressions }),
    plan: exportPlan(otlp.receiver, {
      signal: 'logs',
      resource: resourceAttributes(process.telemetry, []),
      scope: LOG_SCOPE,
      services,
    }),
  };
}

function spans(config: GatewayConfig, tracing: Tracing, { expressions, services }: ObservabilityDeps): Output | null {
  const { receiver, filter, attributes, resources } = tracing;
  if (receiver === undefined) return null;
  const configured = resources.flatMap(([name, source]): Attribute[] => {
    const value = resourceValue(expressions.compile(source, `tracing resource ${name}`));
    return value === undefined || value === null ? [] : [[name, value]];
  });
  const resource = resourceAttributes(config.process.telemetry, configured);
  return {
    filter: filterOf(filter, { where: 'tracing filter', expressions }),
    fields: FieldSet.compile(attributes, { where: 'tracing', expressions, without: NOT_IN_SPANS }),
    plan: exportPlan(receiver, {
      signal: 'traces',
      resource,
      scope: String(new Map(resource).get('service.name')),
      services,
    }),
  };
}

/** Evaluated once, and without a request: only functions and `env` mean something. */
function resourceValue(expression: Expression) {
  const requestless = [...expression.reads.variables].every((variable) => variable === 'env');
  return requestless ? expression.json(nowhere) : undefined;
}

function samplerOf({ clientSampling, randomSampling }: Tracing, expressions: Expressions): Sampler {
  return new Sampler({
    client: samplingRule(clientSampling, 'tracing clientSampling', expressions),
    random: samplingRule(randomSampling, 'tracing randomSampling', expressions),
  });
}

function filterOf(
  source: string | undefined,
  { where, expressions }: { readonly where: string; readonly expressions: Expressions },
): Filter {
  return source === undefined ? null : expressions.compile(source, where);
}

function notingReads(expressions: Expressions) {
  const reads = { requestBody: false, responseBody: false };
  const noting: Expressions = {
    compile: (source, where) => {
      const compiled = expressions.compile(source, where);
      reads.requestBody ||= compiled.reads.requestBody;
      reads.responseBody ||= compiled.reads.responseBody;
      return compiled;
    },
  };
  return { expressions: noting, reads };
}
