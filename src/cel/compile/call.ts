import type { Expr } from '../syntax/ast.ts';
import { CelError, isBytes, isList, isMap, type Result, type Value } from '../value/value.ts';
import { located, dynamic, type Compiled } from './compiled.ts';
import type { Compiler } from './compiler.ts';
import { exhausted, type Code, type Frame } from './frame.ts';
import type { FunctionDef } from './host.ts';

/** A call of a function by value: arguments are evaluated left to right, the first failure is the result. */
export function callCode<C>(compiler: Compiler<C>, def: FunctionDef, args: readonly Expr[], at: number): Compiled<C> {
  const parts = args.map((arg) => compiler.compile(arg));
  const code = applied(
    specialized(def, parts),
    parts.map((part) => part.code),
    at,
  );
  return def.impure === true ? dynamic(code) : compiler.fold(parts, code);
}

function specialized<C>(def: FunctionDef, parts: readonly Compiled<C>[]): FunctionDef {
  const metered = def.specialize?.(parts.map((part) => part.constant));
  return metered === undefined ? def : { ...def, metered };
}

function applied<C>(def: FunctionDef, args: readonly Code<C>[], at: number): Code<C> {
  const { apply, metered, weight = 1 } = def;
  const [first, second] = args;
  // One and two arguments are nearly all there are: without the list they take half the time.
  if (first !== undefined && args.length === 1 && metered === undefined) {
    return (frame) => {
      const a = first(frame);
      if (a instanceof CelError) return a;
      return frame.spend((1 + costOf(a)) * weight) ? located(apply(a), at) : exhausted();
    };
  }
  if (first !== undefined && second !== undefined && args.length === 2) {
    return (frame) => {
      const a = first(frame);
      if (a instanceof CelError) return a;
      const b = second(frame);
      if (b instanceof CelError) return b;
      if (!frame.spend((1 + costOf(a) + costOf(b)) * weight)) return exhausted();
      if (metered === undefined) return located(apply(a, b), at);
      const result = metered(frame.root, a, b);
      return frame.root.left < 0 ? exhausted() : located(result, at);
    };
  }
  return (frame) => applyAll(frame, def, args, at);
}

function applyAll<C>(frame: Frame<C>, def: FunctionDef, args: readonly Code<C>[], at: number): Result {
  const { apply, metered, weight = 1 } = def;
  const values: Value[] = [];
  let cost = 1;
  for (const arg of args) {
    const value = arg(frame);
    if (value instanceof CelError) return value;
    values.push(value);
    cost += costOf(value);
  }
  if (!frame.spend(cost * weight)) return exhausted();
  if (metered === undefined) return located(apply(...values), at);
  const result = metered(frame.root, ...values);
  return frame.spend(0) ? located(result, at) : exhausted();
}

/** Functions take time by the length of what they are given. */
function costOf(value: Value): number {
  if (typeof value === 'string') return value.length >> 10;
  if (typeof value !== 'object' || value === null) return 0;
  if (isList(value)) return value.length >> 4;
  if (isMap(value)) return value.weight >> 4;
  return isBytes(value) ? value.length >> 10 : 0;
}
