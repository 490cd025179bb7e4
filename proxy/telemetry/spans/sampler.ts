import type { EvalContext, Expression, Expressions } from '../../expression/contract.ts';
import type { TraceContext } from './trace-context.ts';

/** Whether a request becomes part of a trace, and by whose rule; the words of the trace event. */
export type SamplingDecision = 'sample (client)' | 'sample (random)' | 'not sampled (client)' | 'not sampled (random)';

/** What the common settings come to without an evaluation. */
type Rule = boolean | Expression;

/** Decides at the head of a request: by the client's trace when it brought one, else at random. */
export class Sampler {
  readonly #client: Rule;
  readonly #random: Rule;
  readonly #draw: () => number;

  constructor(rules: { readonly client: Rule; readonly random: Rule }, draw: () => number = Math.random) {
    this.#client = rules.client;
    this.#random = rules.random;
    this.#draw = draw;
  }

  /** Requests without a trace of their own never get one. */
  get never(): boolean {
    return this.#random === false;
  }

  decide(parent: TraceContext | null, context: EvalContext): SamplingDecision {
    if (parent !== null) return this.#holds(this.#client, context) ? 'sample (client)' : 'not sampled (client)';
    return this.#holds(this.#random, context) ? 'sample (random)' : 'not sampled (random)';
  }

  #holds(rule: Rule, context: EvalContext): boolean {
    return typeof rule === 'boolean' ? rule : rule.sampled(context, this.#draw);
  }
}

/** How traces are sampled when nothing is configured: those of clients go on, none begins here. */
export const defaultSampler = new Sampler({ client: true, random: false });

/** A sampling rule; the literals need no evaluation. Throws a `GwError` for anything else that does not compile. */
export function samplingRule(source: string, where: string, expressions: Expressions): Rule {
  if (source === 'true' || source === '1') return true;
  if (source === 'false' || source === '0') return false;
  return expressions.compile(source, where);
}
