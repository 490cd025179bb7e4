import type { Authorization } from '../../../src/config/ir/index.ts';
import type { EvalContext, Expressions } from '../../expression/contract.ts';
import type { PolicyDeps } from '../contract.ts';
import { invalidPolicy } from '../invalid-policy.ts';
import { RuleSet } from './rules.ts';

const SOURCE = 'frontendPolicies.networkAuthorization';
/** What a connection without requests has. */
const KNOWN: ReadonlySet<string> = new Set(['source', 'destination', 'env']);

/**
 * Decides about connections by where they come from and go to; null without rules. Throws `GW_POLICY_INVALID` for a rule
 * about requests: it would never hold, so that a `deny` would refuse nobody.
 */
export function networkAuthorization(
  spec: Authorization,
  deps: PolicyDeps,
): ((context: EvalContext) => boolean) | null {
  if (spec.rules.length === 0) return null;
  const rules = new RuleSet(spec.rules, aboutConnections(deps.expressions), 'networkAuthorization');
  const log = deps.log.scope('authorization');
  return (context) => {
    const allowed = rules.allows(context);
    if (!allowed && log.enabled('debug')) {
      const outcomes = rules.explain(context).rules.map(({ mode, name, matched }) => `${mode} ${name}: ${matched}`);
      log.debug('connection denied', { 'src.addr': context.connection.sourceAddress, rules: outcomes.join('; ') });
    }
    return allowed;
  };
}

function aboutConnections(expressions: Expressions): Expressions {
  return {
    compile(source, where) {
      const expression = expressions.compile(source, where);
      const unknown = [...expression.reads.variables].filter((name) => !KNOWN.has(name));
      if (unknown.length === 0) return expression;
      throw invalidPolicy(SOURCE, where, `a connection has no \`${unknown.join('`, `')}\``);
    },
  };
}
