import type { Expr } from '../../../src/cel/syntax/ast.ts';
import type {
  AuthorizationRule,
  BackendPolicies,
  Bind,
  GatewayConfig,
  Listener,
  RoutePolicies,
} from '../../../src/config/ir/index.ts';
import { effectiveBackendPolicies, effectiveGatewayPolicies, effectiveRoutePolicies } from '../../policy/effective.ts';
import type { Found, LintRule, LintSubject } from '../finding.ts';
import { treeOf, variablesOf } from '../expression-tree.ts';
import { placeOfRule, type RulesPolicy } from '../places.ts';
import { neverTrueWithout } from '../without-variable.ts';

/** Which policies set a variable that rules of authorization may read; `mcpAuthorization` brings what it is about itself. */
const SETTERS: Readonly<Record<string, readonly string[]>> = {
  jwt: ['jwtAuth', 'oidc', 'mcpAuthentication'],
  apiKey: ['apiKey'],
  basicAuth: ['basicAuth'],
  extauthz: ['extAuthz'],
  mcp: [],
  mcpGuardrails: [],
};
const ITEM_SETTERS: typeof SETTERS = { ...SETTERS, mcp: ['mcpAuthorization'], mcpGuardrails: ['mcpGuardrails'] };

/** An authorization that reads what no policy in its set provides: it denies everybody, or nobody. */
export const unsetVariable: LintRule = {
  code: 'GW_LINT_UNSET_VARIABLE',
  severity: 'error',
  summary:
    'authorization reads `jwt`, `apiKey`, `basicAuth`, `extauthz`, `mcp` or `mcpGuardrails`, and no policy in its set provides it',
  check: (subject) => {
    const found = new Map<string, { readonly miss: Miss; readonly where: Set<string> }>();
    for (const miss of misses(subject.config)) {
      const { mode, expression, source } = miss.rule;
      const key = JSON.stringify([miss.policy, mode, expression, source, miss.variable, miss.effect]);
      const known = found.get(key) ?? { miss, where: new Set() };
      known.where.add(miss.where);
      found.set(key, known);
    }
    return [...found.values()].flatMap(({ miss, where }) => toldOf(subject, miss, [...where]));
  },
};

interface Miss {
  readonly policy: RulesPolicy;
  readonly rule: AuthorizationRule;
  readonly variable: string;
  /** What becomes of requests. */
  readonly effect: string;
  readonly where: string;
}

function* misses(config: GatewayConfig): Generator<Miss> {
  for (const bind of config.binds) {
    for (const listener of bind.listeners) yield* missesOf(config, bind, listener);
  }
}

function* missesOf(config: GatewayConfig, bind: Bind, listener: Listener): Generator<Miss> {
  const gateway = effectiveGatewayPolicies(config, { bind, listener }).values;
  yield* unset('authorization', [gateway], `listener ${listener.name}`);
  for (const route of listener.routes) {
    const place = { bind, listener, chain: [route] };
    const own = effectiveRoutePolicies(config, place).values;
    yield* unset('authorization', [gateway, own], `route ${route.name}`);
    for (const routeBackend of route.backends) {
      if (routeBackend.target.kind === 'routeGroup') continue;
      const named = config.backends.find(
        ({ backend }) => routeBackend.target.kind === 'reference' && backend.key === routeBackend.target.backend,
      );
      const { values } = effectiveBackendPolicies(config, { ...place, routeBackend, named });
      const where = `a backend of route ${route.name}`;
      yield* unset('authorization', [gateway, own, values], where);
      yield* unset('mcpAuthorization', [gateway, own, values], where);
    }
  }
}

type Sets = readonly (RoutePolicies | BackendPolicies)[];

/** The rules of the last set, which is the one that decides; every set may provide what they read. */
function* unset(policy: RulesPolicy, sets: Sets, where: string): Generator<Miss> {
  const rules = sets.at(-1)?.[policy]?.rules ?? [];
  const setters = policy === 'authorization' ? SETTERS : ITEM_SETTERS;
  const present = new Set(sets.flatMap((set) => Object.keys(set)));
  const missing = (tree: Expr): string | undefined =>
    [...variablesOf(tree)].find(
      (variable) =>
        setters[variable] !== undefined &&
        !setters[variable].some((setter) => present.has(setter)) &&
        neverTrueWithout(tree, variable),
    );
  const found = rules.map((rule) => {
    const tree = treeOf(rule.expression);
    return { rule, variable: tree === null ? undefined : missing(tree) };
  });
  const allows = found.filter(({ rule }) => rule.mode === 'allow');
  const nobody = allows.every(({ variable }) => variable !== undefined);
  for (const { rule, variable } of found)
    if (variable !== undefined) yield { policy, rule, variable, where, effect: effectOf(rule.mode, nobody) };
}

function effectOf(mode: AuthorizationRule['mode'], nobodyIsAllowed: boolean): string {
  if (mode === 'deny') return 'it never denies';
  return mode === 'require' || nobodyIsAllowed ? 'it denies everybody' : 'it allows nobody';
}

function toldOf({ raw }: LintSubject, { policy, rule, variable, effect }: Miss, where: readonly string[]): Found[] {
  const shown = where.length > 3 ? `${where.slice(0, 3).join(', ')} and ${where.length - 3} more` : where.join(', ');
  const message = `\`${variable}\` is read, and nothing provides it on ${shown}: ${effect}`;
  const hint = hintFor(policy, variable);
  const path = placeOfRule(raw, policy, rule);
  return path === undefined ? [] : [{ path, message, hint }];
}

function hintFor(policy: RulesPolicy, variable: string): string {
  if (policy === 'authorization' && (variable === 'mcp' || variable === 'mcpGuardrails'))
    return 'write the rule under `mcpAuthorization`: it decides once the message is known';
  const setter = ITEM_SETTERS[variable]?.[0] ?? variable;
  return `add \`${setter}\` to the same gateway or route, or leave the rule out`;
}
