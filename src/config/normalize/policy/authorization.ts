import type { Authorization, AuthorizationRule } from '../../ir/policy/authorization.ts';
import type { AuthorizationSpec } from '../../schema/policy/authorization.ts';

export function authorization(spec: AuthorizationSpec): Authorization {
  return { rules: spec.rules.flatMap(rule) };
}

/** A bare text allows. */
function rule(spec: AuthorizationSpec['rules'][number]): AuthorizationRule[] {
  if (typeof spec === 'string') return [{ mode: 'allow', expression: spec }];
  for (const mode of ['allow', 'deny', 'require'] as const) {
    const expression = spec[mode];
    if (expression !== undefined) return [{ mode, expression }];
  }
  return [];
}
