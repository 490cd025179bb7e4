import type { AuthorizationRule, Bind, GatewayConfig, Listener, RoutePolicies } from '../../../src/config/ir/index.ts';
import { effectiveGatewayPolicies, effectiveRoutePolicies } from '../../policy/effective.ts';
import type { Found, LintRule, LintSubject } from '../finding.ts';
import { treeOf, variablesOf } from '../expression-tree.ts';
import { under } from '../walk.ts';

/** Which policies set a variable that authorization may read. */
const SETTERS: Readonly<Record<string, readonly string[]>> = {
  jwt: ['jwtAuth', 'oidc', 'mcpAuthentication'],
  apiKey: ['apiKey'],
  basicAuth: ['basicAuth'],
  extauthz: ['extAuthz'],
};

/** An authorization that reads what no policy in its set provides: it denies everybody, or nobody. */
export const unsetVariable: LintRule = {
  code: 'GW_LINT_UNSET_VARIABLE',
  severity: 'error',
  summary: 'authorization reads `jwt`, `apiKey`, `basicAuth` or `extauthz`, and no policy in its set provides it',
  check: (subject) => {
    const found = new Map<string, { readonly miss: Miss; readonly where: Set<string> }>();
    for (const miss of misses(subject.config)) {
      const key = JSON.stringify([miss.rule.mode, miss.rule.expression, miss.variable]);
      const known = found.get(key) ?? { miss, where: new Set() };
      known.where.add(miss.where);
      found.set(key, known);
    }
    return [...found.values()].flatMap(({ miss, where }) => toldOf(subject, miss, [...where]));
  },
};

interface Miss {
  readonly rule: AuthorizationRule;
  readonly variable: string;
  readonly where: string;
}

function* misses(config: GatewayConfig): Generator<Miss> {
  for (const bind of config.binds) {
    for (const listener of bind.listeners) yield* missesOf(config, bind, listener);
  }
}

function* missesOf(config: GatewayConfig, bind: Bind, listener: Listener): Generator<Miss> {
  const gateway = effectiveGatewayPolicies(config, { bind, listener }).values;
  yield* unset(gateway.authorization?.rules ?? [], [gateway], `listener ${listener.name}`);
  for (const route of listener.routes) {
    const own = effectiveRoutePolicies(config, { bind, listener, chain: [route] }).values;
    yield* unset(own.authorization?.rules ?? [], [gateway, own], `route ${route.name}`);
  }
}

function* unset(rules: readonly AuthorizationRule[], sets: readonly RoutePolicies[], where: string): Generator<Miss> {
  const present = new Set(sets.flatMap((set) => Object.keys(set)));
  for (const rule of rules) {
    const tree = treeOf(rule.expression);
    if (tree === null) continue;
    for (const variable of variablesOf(tree)) {
      const setters = SETTERS[variable];
      if (setters !== undefined && !setters.some((policy) => present.has(policy))) yield { rule, variable, where };
    }
  }
}

function toldOf({ raw }: LintSubject, { rule, variable }: Miss, where: readonly string[]): Found[] {
  const effect = rule.mode === 'deny' ? 'it never denies' : 'it denies everybody';
  const shown = where.length > 3 ? `${where.slice(0, 3).join(', ')} and ${where.length - 3} more` : where.join(', ');
  const message = `\`${variable}\` is read, and nothing provides it on ${shown}: ${effect}`;
  const hint = `add \`${SETTERS[variable]?.[0] ?? variable}\` to the same gateway or route, or leave the rule out`;
  for (const { path, value } of under(raw, 'rules')) {
    if (!Array.isArray(value) || path.at(-2) !== 'authorization') continue;
    const index = value.findIndex((each: unknown) => expressionOf(each, rule.mode) === rule.expression);
    if (index !== -1) return [{ path: [...path, index], message, hint }];
  }
  return [];
}

function expressionOf(rule: unknown, mode: AuthorizationRule['mode']): unknown {
  if (typeof rule === 'string') return mode === 'allow' ? rule : undefined;
  // `as`: looked up by a key, whatever the value is.
  return typeof rule === 'object' && rule !== null ? (rule as Readonly<Record<string, unknown>>)[mode] : undefined;
}
