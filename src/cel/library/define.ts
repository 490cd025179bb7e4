import type { FunctionDef } from '../compile/host.ts';
import type { Result, Value } from '../value/value.ts';

type Apply = (...args: Value[]) => Result;

/** `name(args)`. The number of arguments is that of the parameters, or is given. */
export function call(
  name: string,
  apply: Apply,
  arity: readonly [number, number] = [apply.length, apply.length],
): FunctionDef {
  return { name, style: 'call', arity, apply };
}

/** `receiver.name(args)`; the receiver is the first parameter and counts. */
export function method(
  name: string,
  apply: Apply,
  arity: readonly [number, number] = [apply.length, apply.length],
): FunctionDef {
  return { name, style: 'method', arity, apply };
}

/** `name(x, …)` and `x.name(…)`. */
export function both(
  name: string,
  apply: Apply,
  arity: readonly [number, number] = [apply.length, apply.length],
): FunctionDef {
  return { name, style: 'both', arity, apply };
}

/** Stands for the `apply` of a function that is metered. */
export function noMeter(): Result {
  throw new Error('a metered function was called without a meter');
}

/** A function that takes longer than its arguments suggest. */
export function slow(weight: number, def: FunctionDef): FunctionDef {
  return { ...def, weight };
}
