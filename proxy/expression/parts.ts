import type { Observer } from '../../src/cel/compile/compiler.ts';
import { partsOf, type Expr } from '../../src/cel/syntax/ast.ts';
import { notationOf } from '../../src/cel/value/notation.ts';
import type { Result } from '../../src/cel/value/value.ts';

/** A part of an expression, in the order of the source, outer ones first. */
export interface EvaluatedPart {
  readonly expression: string;
  readonly start: number;
  readonly end: number;
  /** How many parts it is inside of. */
  readonly depth: number;
  /** Inside of a macro there is one value for each round; none for what was not needed. */
  readonly values: readonly string[];
  readonly rounds: number;
}

/** How the value of a part is written; null leaves it out. */
export type ShowValue = (expr: Expr, value: Result) => string | null;

const MAX_VALUES = 5;

interface Seen {
  readonly values: string[];
  rounds: number;
}

/** Watches the evaluation of one expression and keeps the values of its parts. */
export class ObservedParts implements Observer {
  readonly #seen = new Map<Expr, Seen>();
  readonly #show: ShowValue;

  constructor(show: ShowValue = (_expr, value) => notationOf(value)) {
    this.#show = show;
  }

  compiled(expr: Expr): void {
    this.#seen.set(expr, { values: [], rounds: 0 });
  }

  evaluated(expr: Expr, value: Result): void {
    const part = this.#seen.get(expr);
    if (part === undefined) return;
    part.rounds++;
    if (part.values.length >= MAX_VALUES) return;
    const shown = this.#show(expr, value);
    if (shown !== null) part.values.push(shown);
  }

  /** Forgets the values of the last evaluation. */
  reset(): void {
    for (const part of this.#seen.values()) {
      part.values.length = 0;
      part.rounds = 0;
    }
  }

  /** Every part but literals, as it was last evaluated. */
  list(tree: Expr, source: string): readonly EvaluatedPart[] {
    const parts: EvaluatedPart[] = [];
    const visit = (expr: Expr, depth: number): void => {
      const found = this.#seen.get(expr);
      const listedHere = found !== undefined && expr.kind !== 'literal';
      if (listedHere) {
        const { start, end } = expr;
        const { values, rounds } = found;
        parts.push({ expression: source.slice(start, end), start, end, depth, values: [...values], rounds });
      }
      for (const part of partsOf(expr)) visit(part, listedHere ? depth + 1 : depth);
    };
    visit(tree, 0);
    return parts;
  }
}
