import type { Program } from '../../src/cel/program.ts';
import { toJson } from '../../src/cel/value/json.ts';
import { CelError, type Result, type Value } from '../../src/cel/value/value.ts';
import { positionOf } from '../../src/cel/syntax/syntax-error.ts';
import type { JsonValue } from '../exchange/attributes.ts';
import type { EvalContext, Expression, Reads } from './contract.ts';
import {
  bodyOf,
  durationMsOf,
  headerTextOf,
  integerOf,
  numberOf,
  probabilityOf,
  scalarTextOf,
  textOf,
} from './output.ts';

/** Tells a watched request why an expression failed. */
export type Report = (context: EvalContext, expression: Expression, message: string) => void;

/** A compiled expression and the place that it is for. */
export class CompiledExpression implements Expression {
  readonly source: string;
  readonly reads: Reads;
  readonly where: string;
  readonly #program: Program<EvalContext>;
  readonly #report: Report;

  constructor(program: Program<EvalContext>, about: { where: string; reads: Reads; report: Report }) {
    this.source = program.source;
    this.reads = about.reads;
    this.where = about.where;
    this.#program = program;
    this.#report = about.report;
  }

  isTrue(context: EvalContext): boolean {
    const value = this.#program.evaluate(context);
    if (value === true) return true;
    if (context.trace !== null && value !== false) this.#failed(context, value);
    return false;
  }

  headerText(context: EvalContext): string | null {
    return this.#as(context, headerTextOf);
  }

  text(context: EvalContext): string | null {
    return this.#as(context, textOf);
  }

  scalarText(context: EvalContext): string | null {
    return this.#as(context, scalarTextOf);
  }

  integer(context: EvalContext): number | null {
    return this.#as(context, integerOf);
  }

  number(context: EvalContext): number | null {
    return this.#as(context, numberOf);
  }

  durationMs(context: EvalContext): number | null {
    return this.#as(context, durationMsOf);
  }

  body(context: EvalContext): Uint8Array | null {
    return this.#as(context, bodyOf);
  }

  json(context: EvalContext): JsonValue | undefined {
    const value = this.#program.evaluate(context);
    const json = value instanceof CelError ? value : toJson(value);
    if (!(json instanceof CelError)) return json;
    this.#failed(context, json);
    return undefined;
  }

  value(context: EvalContext): unknown {
    const value = this.#program.evaluate(context);
    if (!(value instanceof CelError)) return value;
    this.#failed(context, value);
    return undefined;
  }

  sampled(context: EvalContext, random: () => number): boolean {
    const probability = this.#as(context, probabilityOf) ?? 0;
    return probability > 0 && (probability >= 1 || random() < probability);
  }

  /** The value in the form that a place needs; null when it has none. */
  #as<T>(context: EvalContext, convert: (value: Value) => T | CelError): T | null {
    const value = this.#program.evaluate(context);
    const converted = value instanceof CelError ? value : convert(value);
    if (!(converted instanceof CelError)) return converted;
    this.#failed(context, converted);
    return null;
  }

  #failed(context: EvalContext, result: Result): void {
    if (context.trace === null) return;
    this.#report(context, this, result instanceof CelError ? this.#messageOf(result) : 'expected a bool');
  }

  #messageOf(error: CelError): string {
    if (error.at <= 0) return error.message;
    const { line, column } = positionOf(this.source, error.at);
    return `${error.message} (line ${line}, column ${column})`;
  }
}
