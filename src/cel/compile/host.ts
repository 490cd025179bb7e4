import type { Result, Value } from '../value/value.ts';

/** One step of a path below a variable. */
export interface Segment {
  readonly name: string;
  /** `a["name"]`, not `a.name`. */
  readonly indexed: boolean;
}

/** Reads a path at once, without making the values on the way; undefined when something on it is missing. */
export interface PathReader<C> {
  read(over: C): Value | undefined;
  /** How many segments are read; the rest is looked up in the value. */
  readonly used: number;
}

/** A name that expressions may use without declaring it. */
export interface Variable<C> {
  read(over: C): Value;
  /** Names of what it has, when they are always the same. */
  readonly fields?: readonly string[];
  /** The same of what stands in its fields, by the name of the field. */
  readonly inner?: Readonly<Record<string, readonly string[]>>;
  path?(segments: readonly Segment[]): PathReader<C> | undefined;
}

/** What expressions are evaluated over. */
export interface Host<C> {
  /** By full name, dots included; undefined for a name that nobody knows. */
  variable(name: string): Variable<C> | undefined;
  /** What `variables()` lists. */
  readonly variables: readonly string[];
  /** A prefix under which names are looked up first. */
  readonly container?: string;
}

/** Work that is left to an evaluation, in steps of about a microsecond. Below zero it has to end. */
export interface Meter {
  left: number;
}

/** A function by value: its arguments are evaluated before. The receiver of a method is its first argument. */
export interface FunctionDef {
  /** Dotted for functions of a namespace. */
  readonly name: string;
  readonly style: 'call' | 'method' | 'both';
  /** The receiver included; a list of counts, or from-to with `Infinity`. */
  readonly arity: readonly [least: number, most: number];
  readonly apply: (...args: Value[]) => Result;
  /** In place of `apply`, for functions whose work is not told by the lengths of their arguments: they count it themselves. */
  readonly metered?: (meter: Meter, ...args: Value[]) => Result;
  /** Called while an expression is compiled, with the arguments that are known; may give something quicker than `metered`. */
  readonly specialize?: (args: readonly (Result | undefined)[]) => FunctionDef['metered'] | undefined;
  /** How many steps a call takes for each 1024 characters or so of its arguments; 1 unless it is a slow one. */
  readonly weight?: number;
  /** Gives another value at each call: never computed ahead. */
  readonly impure?: boolean;
}
