import type { Authorization } from '../../../src/config/ir/index.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { refuse } from '../../exchange/refusal.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { RuleSet } from './rules.ts';

const denied: Outcome = { kind: 'fail', refusal: refuse(403, 'Authorization', 'authorization failed') };

/** Lets a request pass when the rules of all levels do; null without rules. Throws for an expression that is none. */
export function authorization(spec: Authorization, context: PolicyContext): RequestStep | null {
  if (spec.rules.length === 0) return null;
  const name = context.phase === 'route' ? 'authorization' : `${context.phase} authorization`;
  const rules = new RuleSet(spec.rules, context.deps.expressions, name);
  return (exchange) => {
    const allowed = exchange.trace === null ? rules.allows(exchange) : explain(rules, exchange);
    return allowed ? next : denied;
  };
}

function explain(rules: RuleSet, exchange: Exchange): boolean {
  const outcome = rules.explain(exchange);
  const allowed = outcome.result === 'allow';
  exchange.trace?.emit(outcome, allowed ? 'success' : 'error');
  return allowed;
}
