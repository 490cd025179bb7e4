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

/** A function by value: its arguments are evaluated before. The receiver of a method is its first argument. */
export interface FunctionDef {
  /** Dotted for functions of a namespace. */
  readonly name: string;
  readonly style: 'call' | 'method' | 'both';
  /** The receiver included; a list of counts, or from-to with `Infinity`. */
  readonly arity: readonly [least: number, most: number];
  readonly apply: (...args: Value[]) => Result;
  /** Gives another value at each call: never computed ahead. */
  readonly impure?: boolean;
}
