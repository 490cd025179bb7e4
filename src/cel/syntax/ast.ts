import { assertNever } from '../../shared/assert-never.ts';
import type { Value } from '../value/value.ts';

interface At {
  /** Offsets in the source, the end exclusive. */
  readonly start: number;
  readonly end: number;
}

export type ArithmeticOp = '+' | '-' | '*' | '/' | '%';
export type RelationOp = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in';

export interface Ident extends At {
  readonly kind: 'ident';
  readonly name: string;
  /** Written with a leading dot: never a local name. */
  readonly absolute: boolean;
}

export interface Select extends At {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** `a.?b` */
  readonly optional: boolean;
}

export interface Index extends At {
  readonly kind: 'index';
  readonly operand: Expr;
  readonly index: Expr;
  /** `a[?b]` */
  readonly optional: boolean;
}

export interface Call extends At {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly Expr[];
}

export interface Method extends At {
  readonly kind: 'method';
  /** Where its name begins. */
  readonly nameStart: number;
  readonly target: Expr;
  readonly name: string;
  readonly args: readonly Expr[];
}

/** A macro: names stand for values of the target while the bodies are evaluated. */
export interface Macro extends At {
  readonly kind: 'macro';
  readonly macro: MacroName;
  readonly target: Expr;
  readonly vars: readonly string[];
  readonly bodies: readonly Expr[];
}

export type MacroName =
  | 'all'
  | 'exists'
  | 'existsOne'
  | 'map'
  | 'filter'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry'
  | 'bind'
  | 'optMap'
  | 'optFlatMap'
  | 'mapValues'
  | 'filterKeys'
  | 'sortBy';

export interface MapEntry {
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface ListItem {
  readonly value: Expr;
  readonly optional: boolean;
}

export type Expr =
  | Ident
  | Select
  | Index
  | Call
  | Method
  | Macro
  | (At & { readonly kind: 'literal'; readonly value: Value })
  | (At & { readonly kind: 'has'; readonly select: Select })
  | (At & { readonly kind: 'not'; readonly operand: Expr })
  | (At & { readonly kind: 'negate'; readonly operand: Expr })
  | (At & { readonly kind: 'arithmetic'; readonly op: ArithmeticOp; readonly left: Expr; readonly right: Expr })
  | (At & { readonly kind: 'relation'; readonly op: RelationOp; readonly left: Expr; readonly right: Expr })
  /** All operands of one chain, left to right. */
  | (At & { readonly kind: 'logic'; readonly op: '&&' | '||'; readonly operands: readonly Expr[] })
  | (At & { readonly kind: 'conditional'; readonly test: Expr; readonly chosen: Expr; readonly otherwise: Expr })
  | (At & { readonly kind: 'list'; readonly items: readonly ListItem[] })
  | (At & { readonly kind: 'map'; readonly entries: readonly MapEntry[] })
  /** A message literal; there are no message types. */
  | (At & { readonly kind: 'message'; readonly name: string; readonly values: readonly Expr[] })
  /** `cel.block`: values that later ones and the result name by `@index`. */
  | (At & { readonly kind: 'block'; readonly values: readonly Expr[]; readonly result: Expr });

/** The direct parts of an expression, in the order of the source. */
export function partsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
    case 'not':
    case 'negate':
      return [expr.operand];
    case 'has':
      return [expr.select.operand];
    case 'index':
      return [expr.operand, expr.index];
    case 'call':
      return expr.args;
    case 'method':
      return [expr.target, ...expr.args];
    case 'macro':
      return [expr.target, ...expr.bodies];
    case 'arithmetic':
    case 'relation':
      return [expr.left, expr.right];
    case 'logic':
      return expr.operands;
    case 'conditional':
      return [expr.test, expr.chosen, expr.otherwise];
    case 'list':
      return expr.items.map((item) => item.value);
    case 'map':
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'message':
      return expr.values;
    case 'block':
      return [...expr.values, expr.result];
    default:
      return assertNever(expr);
  }
}
