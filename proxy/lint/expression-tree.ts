import { partsOf, type Expr } from '../../src/cel/syntax/ast.ts';
import { parse } from '../../src/cel/syntax/parser.ts';

/** The tree of an expression; null for one that does not parse, which loading has told. */
export function treeOf(source: string): Expr | null {
  try {
    return parse(source);
  } catch {
    return null;
  }
}

export function* parts(expr: Expr): Generator<Expr> {
  yield expr;
  for (const part of partsOf(expr)) yield* parts(part);
}

/** `jwt.group` and `request.headers["x-team"]` as names, from the variable down; null for anything else. */
export function pathOf(expr: Expr): readonly string[] | null {
  if (expr.kind === 'ident') return [expr.name];
  if (expr.kind === 'select') return below(expr.operand, expr.field);
  if (expr.kind === 'index' && expr.index.kind === 'literal' && typeof expr.index.value === 'string')
    return below(expr.operand, expr.index.value);
  return null;
}

function below(operand: Expr, name: string): readonly string[] | null {
  const head = pathOf(operand);
  return head === null ? null : [...head, name];
}

/** Names of the variables that an expression reads, local names of macros included. */
export function variablesOf(expr: Expr): ReadonlySet<string> {
  const names = new Set<string>();
  for (const part of parts(expr)) if (part.kind === 'ident') names.add(part.name);
  return names;
}
