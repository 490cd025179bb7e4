import type { Expr } from '../../../src/cel/syntax/ast.ts';
import { parts, pathOf, treeOf } from '../expression-tree.ts';
import type { Found, LintRule } from '../finding.ts';

/** Variables whose fields a client may leave out. */
const OPTIONAL: ReadonlySet<string> = new Set(['jwt', 'apiKey', 'basicAuth', 'extauthz', 'metadata']);

/** A deny rule that does not fire when what it reads is missing. */
export const disarmedDeny: LintRule = {
  code: 'GW_LINT_DISARMED_DENY',
  severity: 'warning',
  summary: 'a deny rule reads a claim, key field or header that may be missing; it does not fire then',
  check: ({ expressions }) =>
    expressions.flatMap(({ path, source }): Found[] => {
      if (path.at(-1) !== 'deny') return [];
      const tree = treeOf(source);
      const missing = tree === null ? null : unguarded(tree);
      if (missing === null) return [];
      return [
        {
          path,
          message: `without \`${missing}\` this rule fails, and a rule that fails denies nobody`,
          hint: `turn it round into a \`require\` that names what is allowed, or guard it: \`!has(${missing}) || …\``,
        },
      ];
    }),
};

/** A field that is read without `has` or `default` around it. */
function unguarded(tree: Expr): string | null {
  const guarded = new Set<string>();
  for (const part of parts(tree)) {
    if (part.kind === 'has') guarded.add((pathOf(part.select) ?? []).join('.'));
    if (part.kind === 'call' && (part.name === 'default' || part.name === 'coalesce'))
      for (const arg of part.args) for (const inner of parts(arg)) guarded.add((pathOf(inner) ?? []).join('.'));
    if (part.kind === 'relation' && part.op === 'in' && part.left.kind === 'literal')
      guarded.add([...(pathOf(part.right) ?? []), String(part.left.value)].join('.'));
  }
  for (const part of parts(tree)) {
    const path = pathOf(part);
    if (path === null || guarded.has(path.join('.'))) continue;
    const [variable = '', second] = path;
    if (path.length === 2 && OPTIONAL.has(variable)) return path.join('.');
    if (path.length === 3 && variable === 'request' && second === 'headers' && onlyNegated(tree, part))
      return `request.headers["${path[2]}"]`;
  }
  return null;
}

/** Whether the field matters by what it is not: a missing one should have denied. */
function onlyNegated(tree: Expr, field: Expr): boolean {
  for (const part of parts(tree)) {
    if (part.kind === 'relation' && part.op === '!=' && (part.left === field || part.right === field)) return true;
    if (part.kind === 'not' && [...parts(part)].includes(field)) return true;
  }
  return false;
}
