import type { Expr } from '../../../src/cel/syntax/ast.ts';
import type { AuthorizationRule, GatewayConfig, McpBackend, RouteBackend } from '../../../src/config/ir/index.ts';
import { Naming } from '../../mcp/federation/naming.ts';
import { effectiveBackendPolicies } from '../../policy/effective.ts';
import { parts, pathOf, treeOf } from '../expression-tree.ts';
import type { Found, LintRule } from '../finding.ts';
import { placeOfRule } from '../places.ts';

/** A rule that names a tool as clients see it, where the rule sees the name that the server itself gave. */
export const prefixedName: LintRule = {
  code: 'GW_LINT_MCP_PREFIXED_NAME',
  severity: 'warning',
  summary:
    '`mcpAuthorization` compares a name with one that clients see, `<target>_<name>`: rules see the name of the server itself',
  check: ({ config, raw }) =>
    [...ruledBackends(config)].flatMap(({ rule, backend }): Found[] => {
      const tree = treeOf(rule.expression);
      const path = tree === null ? undefined : placeOfRule(raw, 'mcpAuthorization', rule);
      if (tree === null || path === undefined) return [];
      const naming = new Naming(
        backend.targets.map(({ name }) => name),
        backend.prefixMode,
      );
      return [...prefixed(tree, naming)].map((each) => ({ path, ...told(each) }));
    }),
};

interface Ruled {
  readonly rule: AuthorizationRule;
  readonly backend: McpBackend;
}

/** Each rule with each backend that it is about. */
function* ruledBackends(config: GatewayConfig): Generator<Ruled> {
  for (const bind of config.binds) {
    for (const listener of bind.listeners) {
      for (const route of listener.routes) {
        for (const routeBackend of route.backends) {
          const named = namedOf(config, routeBackend);
          const { target } = routeBackend;
          const backend = target.kind === 'inline' ? target.backend : named?.backend;
          if (backend?.kind !== 'mcp') continue;
          const place = { bind, listener, chain: [route], routeBackend, named };
          const { mcpAuthorization } = effectiveBackendPolicies(config, place).values;
          for (const rule of mcpAuthorization?.rules ?? []) yield { rule, backend };
        }
      }
    }
  }
}

function namedOf(config: GatewayConfig, { target }: RouteBackend): GatewayConfig['backends'][number] | undefined {
  return config.backends.find(({ backend }) => target.kind === 'reference' && backend.key === target.backend);
}

interface Prefixed {
  /** `mcp.tool.name` */
  readonly field: string;
  readonly written: string;
  readonly target: string;
  readonly own: string;
}

/** Names in comparisons that begin with that of a target. */
function* prefixed(tree: Expr, naming: Naming): Generator<Prefixed> {
  for (const part of parts(tree)) {
    for (const { field, written } of compared(part)) {
      const isName = field === 'mcp.tool.name' || field === 'mcp.prompt.name';
      if (!isName || !naming.names) continue;
      const owned = naming.nameIn(written);
      if (owned !== null && owned.name !== '')
        yield { field, written, own: owned.name, target: naming.targets[owned.target] ?? '' };
    }
  }
}

/** What fields are compared with: `a == "x"`, `"x" != a`, `a in ["x"]`, `a.startsWith("x")`. */
function* compared(part: Expr): Generator<{ readonly field: string; readonly written: string }> {
  if (part.kind === 'method' && part.name === 'startsWith') {
    yield* comparedWith(part.target, part.args);
  } else if (part.kind === 'relation' && (part.op === '==' || part.op === '!=')) {
    yield* comparedWith(part.left, [part.right]);
    yield* comparedWith(part.right, [part.left]);
  } else if (part.kind === 'relation' && part.op === 'in' && part.right.kind === 'list') {
    yield* comparedWith(
      part.left,
      part.right.items.map(({ value }) => value),
    );
  }
}

function* comparedWith(read: Expr, values: readonly Expr[]): ReturnType<typeof compared> {
  const field = pathOf(read)?.join('.');
  if (field === undefined) return;
  for (const each of values)
    if (each.kind === 'literal' && typeof each.value === 'string') yield { field, written: each.value };
}

function told({ field, written, target, own }: Prefixed): { readonly message: string; readonly hint: string } {
  const owner = field.replace(/name$/, 'target');
  return {
    message: `${JSON.stringify(written)} is the name that clients see: rules see the server's own name`,
    hint: `write ${JSON.stringify(own)}; \`${owner} == ${JSON.stringify(target)}\` says whose it is`,
  };
}
