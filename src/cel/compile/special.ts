import type { Call } from '../syntax/ast.ts';
import { RecordMap } from '../value/map.ts';
import { CelError, type Result, type Value } from '../value/value.ts';
import { dynamic, failing, type Compiled } from './compiled.ts';
import type { Compiler } from './compiler.ts';
import type { Code } from './frame.ts';

/** Functions that do not evaluate all of their arguments, or that look at what the evaluation is over. */
export const specialNames: readonly string[] = ['default', 'coalesce', 'variables'];

/** A call of one of them; null for every other name. */
export function specialForm<C>(compiler: Compiler<C>, expr: Call): Compiled<C> | null {
  switch (expr.name) {
    case 'default':
      return expr.args.length === 2 ? dynamic(defaultCode(codesOf(compiler, expr))) : wrongCount(expr, '2 arguments');
    case 'coalesce':
      return expr.args.length > 0
        ? dynamic(coalesceCode(codesOf(compiler, expr)))
        : wrongCount(expr, 'at least one argument');
    case 'variables':
      return expr.args.length === 0 ? dynamic(variablesCode(compiler)) : wrongCount(expr, 'no arguments');
    default:
      return null;
  }
}

function codesOf<C>(compiler: Compiler<C>, expr: Call): readonly Code<C>[] {
  return expr.args.map((arg) => compiler.code(arg));
}

function wrongCount<C>(expr: Call, wanted: string): Compiled<C> {
  return failing(`no such overload: ${expr.name}() takes ${wanted}`, expr.start, 'overload');
}

/** `default(e, d)`: `d` when `e` is null or missing; other failures stay. */
function defaultCode<C>([value, otherwise]: readonly Code<C>[]): Code<C> {
  return (frame) => {
    const found = value?.(frame) ?? null;
    const absent =
      found === null || (found instanceof CelError && (found.kind === 'no_such_key' || found.kind === 'undeclared'));
    return absent ? (otherwise?.(frame) ?? null) : found;
  };
}

/** `coalesce(a, b, …)`: the first value that is neither a failure nor null. */
function coalesceCode<C>(candidates: readonly Code<C>[]): Code<C> {
  return (frame) => {
    let last: Result = null;
    let sawNull = false;
    for (const candidate of candidates) {
      const value = candidate(frame);
      if (value === null) sawNull = true;
      else if (!(value instanceof CelError)) return value;
      else last = value;
    }
    return sawNull ? null : last;
  };
}

/** `variables()`: every variable that is there. */
function variablesCode<C>(compiler: Compiler<C>): Code<C> {
  const { host } = compiler.options;
  for (const name of host.variables) compiler.mention(name);
  return (frame) => {
    const record: Record<string, Value> = {};
    for (const name of host.variables) {
      const value = host.variable(name)?.read(frame.over) ?? null;
      if (value !== null) record[name] = value;
    }
    return new RecordMap(record);
  };
}
