import type { TraceMessage } from '../../../src/admin/protocol/trace-event.ts';
import type { AuthorizationRule } from '../../../src/config/ir/index.ts';
import type { EvalContext, Expression, Expressions } from '../../expression/contract.ts';

type RuleResult = Extract<TraceMessage, { type: 'authorizationResult' }>;

interface CompiledRule extends AuthorizationRule {
  readonly compiled: Expression;
}

/** Rules in the order in which they decide. */
export class RuleSet {
  readonly #rules: readonly CompiledRule[];
  readonly #deny: readonly Expression[];
  readonly #require: readonly Expression[];
  readonly #allow: readonly Expression[];

  /** `name` is what traces call the policy. Throws a `GwError` for an expression that is none. */
  constructor(rules: readonly AuthorizationRule[], expressions: Expressions, name: string) {
    const counts = { allow: 0, deny: 0, require: 0 };
    this.#rules = rules.map((rule) => {
      const where = `${name} ${rule.mode}[${counts[rule.mode]++}]`;
      return { ...rule, compiled: expressions.compile(rule.expression, where) };
    });
    const of = (mode: AuthorizationRule['mode']): readonly Expression[] =>
      this.#rules.filter((rule) => rule.mode === mode).map((rule) => rule.compiled);
    this.#deny = of('deny');
    this.#require = of('require');
    this.#allow = of('allow');
  }

  /** Decides with as few evaluations as possible. An expression that fails is false: it neither denies nor allows. */
  allows(context: EvalContext): boolean {
    for (const rule of this.#deny) if (rule.isTrue(context)) return false;
    for (const rule of this.#require) if (!rule.isTrue(context)) return false;
    for (const rule of this.#allow) if (rule.isTrue(context)) return true;
    return this.#allow.length === 0;
  }

  /** Evaluates every rule, in the order of the configuration, for a trace. */
  explain(context: EvalContext): RuleResult {
    const rules = this.#rules.map(({ expression, mode, source, compiled }) => ({
      name: expression,
      matched: compiled.isTrue(context),
      mode,
      ...(source === undefined ? {} : { source }),
    }));
    return { type: 'authorizationResult', rules, result: decide(rules) ? 'allow' : 'deny' };
  }
}

/** The same order of decision, over results. */
function decide(rules: RuleResult['rules']): boolean {
  const allows = rules.filter(({ mode }) => mode === 'allow');
  if (rules.some(({ mode, matched }) => mode === 'deny' && matched)) return false;
  if (rules.some(({ mode, matched }) => mode === 'require' && !matched)) return false;
  return allows.length === 0 || allows.some(({ matched }) => matched);
}
