import type { Expr } from '../syntax/ast.ts';
import { CelError, isBytes, isList, type Result, type Value } from '../value/value.ts';
import { located, dynamic, type Compiled } from './compiled.ts';
import type { Compiler } from './compiler.ts';
import { exhausted, type Code, type Frame } from './frame.ts';
import type { FunctionDef } from './host.ts';

/** A call of a function by value: arguments are evaluated left to right, the first failure is the result. */
export function callCode<C>(compiler: Compiler<C>, def: FunctionDef, args: readonly Expr[], at: number): Compiled<C> {
  const parts = args.map((arg) => compiler.compile(arg));
  const code = applied(
    def,
    parts.map((part) => part.code),
    at,
  );
  return def.impure === true ? dynamic(code) : compiler.fold(parts, code);
}

function applied<C>({ apply }: FunctionDef, args: readonly Code<C>[], at: number): Code<C> {
  const [first, second] = args;
  // One and two arguments are nearly all there are: without the list they take half the time.
  if (first !== undefined && args.length === 1) {
    return (frame) => {
      const a = first(frame);
      if (a instanceof CelError) return a;
      return frame.spend(costOf(a)) ? located(apply(a), at) : exhausted();
    };
  }
  if (first !== undefined && second !== undefined && args.length === 2) {
    return (frame) => {
      const a = first(frame);
      if (a instanceof CelError) return a;
      const b = second(frame);
      if (b instanceof CelError) return b;
      return frame.spend(costOf(a) + costOf(b)) ? located(apply(a, b), at) : exhausted();
    };
  }
  return (frame) => applyAll(frame, apply, args, at);
}

function applyAll<C>(frame: Frame<C>, apply: FunctionDef['apply'], args: readonly Code<C>[], at: number): Result {
  const values: Value[] = [];
  let cost = 0;
  for (const arg of args) {
    const value = arg(frame);
    if (value instanceof CelError) return value;
    values.push(value);
    cost += costOf(value);
  }
  return frame.spend(cost) ? located(apply(...values), at) : exhausted();
}

/** Functions take time by the length of what they are given. */
function costOf(value: Value): number {
  if (typeof value === 'string') return value.length >> 8;
  if (typeof value !== 'object' || value === null) return 0;
  if (isList(value)) return value.length >> 3;
  return isBytes(value) ? value.length >> 8 : 1;
}
