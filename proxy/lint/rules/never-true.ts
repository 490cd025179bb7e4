import { createExpressions } from '../../expression/expressions.ts';
import { nowhere } from '../../expression/nowhere.ts';
import type { Expr } from '../../../src/cel/syntax/ast.ts';
import { parts, pathOf, treeOf, variablesOf } from '../expression-tree.ts';
import type { Found, LintRule } from '../finding.ts';
import type { Path } from '../walk.ts';

/** Places of expressions that decide something. */
const DECIDES: ReadonlySet<string | number> = new Set([
  'allow',
  'deny',
  'require',
  'condition',
  'precondition',
  'filter',
  'when',
]);

/** Places where a plain `false` switches something off. */
const SWITCHES: ReadonlySet<string | number> = new Set(['condition', 'precondition', 'filter', 'when']);

/** What the values of a field look like; a literal of another kind never equals one. */
const SHAPES: Readonly<
  Record<string, { readonly kind: 'string' | 'number'; readonly form?: RegExp; readonly told?: string }>
> = {
  'request.method': { kind: 'string', form: /^[^a-z]*$/, told: 'methods are written in capitals' },
  'request.path': { kind: 'string', form: /^(\/|\*$)/, told: 'paths start with `/`' },
  'request.scheme': { kind: 'string', form: /^https?$/, told: 'the scheme is http or https' },
  'request.version': { kind: 'string', form: /^HTTP\//, told: 'versions look like `HTTP/1.1`' },
  'response.code': { kind: 'number' },
  'source.port': { kind: 'number' },
  'destination.port': { kind: 'number' },
  'source.address': {
    kind: 'string',
    form: /^(\d+(\.\d+){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$/,
    told: 'it is an address, without a port',
  },
};

/** A condition or rule that holds for no request at all, or for every one. */
export const neverTrue: LintRule = {
  code: 'GW_LINT_RULE_NEVER_TRUE',
  severity: 'warning',
  summary: 'a rule or condition that can never be true',
  check: ({ expressions }) =>
    expressions.flatMap(({ path, source }): Found[] => {
      const tree = treeOf(source);
      if (tree === null || !decides(path)) return [];
      const why = constantlyFalse(tree, source, path) ?? impossible(tree) ?? contradiction(tree);
      return why === null ? [] : [{ path, message: `this is never true: ${why.message}`, hint: why.hint }];
    }),
};

interface Why {
  readonly message: string;
  readonly hint: string;
}

/** Bare rules of an authorization are expressions that decide, too. */
function decides(path: Path): boolean {
  const last = path.at(-1);
  return (last !== undefined && DECIDES.has(last)) || (typeof last === 'number' && path.at(-2) === 'rules');
}

/** An expression that reads nothing has one value. */
function constantlyFalse(tree: Expr, source: string, path: Path): Why | null {
  // Switched off on purpose: there is no shorter way to say so.
  if (tree.kind === 'literal' && SWITCHES.has(path.at(-1) ?? '')) return null;
  if (variablesOf(tree).size > 0 || [...parts(tree)].some((part) => part.kind === 'call')) return null;
  const value = createExpressions().compile(source, 'lint').isTrue(nowhere);
  return value ? null : { message: 'it reads nothing of the request', hint: 'leave it out, or name what it is about' };
}

/** A comparison with a literal that the field cannot have, where the whole depends on it. */
function impossible(tree: Expr): Why | null {
  for (const part of needed(tree)) {
    const compared = equality(part);
    if (compared === null) continue;
    const shape = SHAPES[compared.field];
    if (shape === undefined) continue;
    const literal = JSON.stringify(compared.value, (_key, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    );
    const isText = typeof compared.value === 'string';
    if (isText !== (shape.kind === 'string')) {
      const [wanted, quotes] = shape.kind === 'number' ? ['a number', 'without quotes'] : ['a text', 'in quotes'];
      return { message: `\`${compared.field}\` is ${wanted}, and ${literal} is not`, hint: `write it ${quotes}` };
    }
    if (typeof compared.value === 'string' && shape.form !== undefined && !shape.form.test(compared.value))
      return { message: `\`${compared.field}\` is never ${literal}`, hint: shape.told ?? 'correct the value' };
  }
  return null;
}

/** Values asked of one field that it cannot have at once. */
function contradiction(tree: Expr): Why | null {
  const possible = new Map<string, readonly unknown[]>();
  for (const part of needed(tree)) {
    const asked = valuesAsked(part);
    if (asked === null) continue;
    const { field, values } = asked;
    const left = possible.get(field)?.filter((value) => values.includes(value)) ?? values;
    if (left.length === 0)
      return values.length === 0
        ? { message: `\`${field}\` is not in an empty list`, hint: 'fill the list, or leave the rule out' }
        : { message: `\`${field}\` cannot have two values at once`, hint: 'join the comparisons with `||`' };
    possible.set(field, left);
  }
  return null;
}

/** `field == "a"` and `field in ["a", "b"]`; only values that are compared by themselves. */
function valuesAsked(expr: Expr): { readonly field: string; readonly values: readonly unknown[] } | null {
  const compared = equality(expr);
  if (compared !== null) return isPlain(compared.value) ? { field: compared.field, values: [compared.value] } : null;
  if (expr.kind !== 'relation' || expr.op !== 'in' || expr.right.kind !== 'list') return null;
  const field = pathOf(expr.left);
  const values = expr.right.items.map(({ value }) => (value.kind === 'literal' ? value.value : undefined));
  return field === null || !values.every(isPlain) ? null : { field: field.join('.'), values };
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean';
}

/** Parts that all have to be true for the whole to be. */
function* needed(expr: Expr): Generator<Expr> {
  if (expr.kind === 'logic' && expr.op === '&&') for (const part of expr.operands) yield* needed(part);
  else yield expr;
}

function equality(expr: Expr): { readonly field: string; readonly value: unknown } | null {
  if (expr.kind !== 'relation' || expr.op !== '==') return null;
  const [field, literal] = expr.right.kind === 'literal' ? [expr.left, expr.right] : [expr.right, expr.left];
  const path = pathOf(field);
  return path === null || literal.kind !== 'literal' ? null : { field: path.join('.'), value: literal.value };
}
