import { partsOf, type Expr } from '../../src/cel/syntax/ast.ts';
import { pathOf } from './expression-tree.ts';

/** Functions that put something in the place of what is missing. */
const FALLBACKS: ReadonlySet<string> = new Set(['default', 'coalesce']);

/** Whether an expression cannot be true while nothing sets the variable: reading a field of it fails. */
export function neverTrueWithout(expr: Expr, variable: string): boolean {
  return outcome(expr, variable) !== 'open';
}

/** `fails` takes what is around it along; `false` can still be turned round. */
type Outcome = 'fails' | 'false' | 'open';

function outcome(expr: Expr, variable: string): Outcome {
  switch (expr.kind) {
    case 'ident':
    case 'literal':
      return 'open';
    case 'has':
      return readsField(expr.select, variable) ? 'false' : 'open';
    case 'not':
      return outcome(expr.operand, variable) === 'fails' ? 'fails' : 'open';
    case 'logic': {
      const found = expr.operands.map((operand) => outcome(operand, variable) !== 'open');
      return (expr.op === '&&' ? found.includes(true) : !found.includes(false)) ? 'false' : 'open';
    }
    case 'conditional':
      return outcome(expr.test, variable) === 'fails' ? 'fails' : 'open';
    case 'call':
      return FALLBACKS.has(expr.name) ? 'open' : anyFails(expr.args, variable);
    case 'macro':
      return anyFails([expr.target], variable);
    case 'select':
    case 'index':
      if (expr.optional) return 'open';
      return readsField(expr, variable) ? 'fails' : anyFails(partsOf(expr), variable);
    default:
      return anyFails(partsOf(expr), variable);
  }
}

function anyFails(parts: readonly Expr[], variable: string): Outcome {
  return parts.some((part) => outcome(part, variable) === 'fails') ? 'fails' : 'open';
}

function readsField(expr: Expr, variable: string): boolean {
  const path = pathOf(expr);
  return path !== null && path.length > 1 && path[0] === variable && !isOptional(expr);
}

function isOptional(expr: Expr): boolean {
  return (expr.kind === 'select' || expr.kind === 'index') && (expr.optional || isOptional(expr.operand));
}
