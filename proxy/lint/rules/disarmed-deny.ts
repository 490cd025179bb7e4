import type { Expr } from '../../../src/cel/syntax/ast.ts';
import { parts, pathOf, treeOf } from '../expression-tree.ts';
import type { Found, LintRule } from '../finding.ts';
import { isMap, under } from '../walk.ts';

/** Variables whose fields a client may leave out. */
const OPTIONAL: ReadonlySet<string> = new Set(['jwt', 'apiKey', 'basicAuth', 'extauthz', 'metadata']);

/** A deny rule that does not fire when what it reads is missing. */
export const disarmedDeny: LintRule = {
  code: 'GW_LINT_DISARMED_DENY',
  severity: 'warning',
  summary: 'a deny rule reads a claim, key field or header that may be missing; it does not fire then',
  check: ({ expressions, raw }) =>
    expressions.flatMap(({ path, source }): Found[] => {
      if (path.at(-1) !== 'deny') return [];
      const tree = treeOf(source);
      const missing = tree === null ? null : unguarded(tree, raw);
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
function unguarded(tree: Expr, raw: unknown): string | null {
  const guarded = new Set<string>();
  for (const part of parts(tree)) {
    if ((part.kind === 'select' || part.kind === 'index') && part.optional) guarded.add((pathOf(part) ?? []).join('.'));
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
    if (!decidesByLack(tree, part)) continue;
    if (path.length === 2 && OPTIONAL.has(variable) && !isAlwaysThere(path, raw)) return path.join('.');
    if (path.length === 3 && variable === 'request' && second === 'headers') return `request.headers["${path[2]}"]`;
  }
  return null;
}

/** Whether the rule is about those who lack something: `!=`, `!`, less than. A missing field should have denied then. */
function decidesByLack(tree: Expr, field: Expr): boolean {
  for (const part of parts(tree)) {
    if (part.kind === 'not' && [...parts(part)].includes(field)) return true;
    if (part.kind !== 'relation') continue;
    const { op, left, right } = part;
    if (op === '!=' && (left === field || right === field)) return true;
    if ((op === '<' || op === '<=') && left === field) return true;
    if ((op === '>' || op === '>=') && right === field) return true;
  }
  return false;
}

/** Claims that every verified token has, and fields that every key of the file has. */
function isAlwaysThere([variable = '', field = '']: readonly string[], raw: unknown): boolean {
  if (variable === 'jwt') return field === 'exp' || field === 'iss';
  if (variable !== 'apiKey') return variable === 'basicAuth' && field === 'username';
  const lists = [...under(raw, 'apiKey')].map(({ value }) => (isMap(value) ? value['keys'] : undefined));
  return (
    lists.length > 0 &&
    lists.every(
      (keys) =>
        Array.isArray(keys) &&
        keys.every((key: unknown) => isMap(key) && isMap(key['metadata']) && field in key['metadata']),
    )
  );
}
