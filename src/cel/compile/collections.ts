import type { ListItem, MapEntry } from '../syntax/ast.ts';
import { BuiltMap } from '../value/map.ts';
import { CelError, noOverload, Optional, type Value } from '../value/value.ts';
import { located, type Compiled } from './compiled.ts';
import type { Compiler } from './compiler.ts';
import type { Code } from './frame.ts';

/** `[a, ?b]`: an optional item without a value is left out. */
export function listCode<C>(compiler: Compiler<C>, items: readonly ListItem[]): Compiled<C> {
  const parts = items.map((item) => compiler.compile(item.value));
  const codes = parts.map((part) => part.code);
  const optional = items.map((item) => item.optional);
  const code: Code<C> = (frame) => {
    const list: Value[] = [];
    for (const [i, item] of codes.entries()) {
      const value = item(frame);
      if (value instanceof CelError) return value;
      if (optional[i] !== true) list.push(value);
      else if (!(value instanceof Optional)) return noOverload('[?_]', value);
      else if (value.value !== undefined) list.push(value.value);
    }
    return list;
  };
  return compiler.fold(parts, code);
}

/** `{k: v, ?k: v}` */
export function mapCode<C>(compiler: Compiler<C>, entries: readonly MapEntry[], at: number): Compiled<C> {
  const parts = entries.map((entry) => ({
    key: compiler.compile(entry.key),
    value: compiler.compile(entry.value),
    optional: entry.optional,
  }));
  const code: Code<C> = (frame) => {
    const map = new BuiltMap();
    for (const part of parts) {
      const key = part.key.code(frame);
      if (key instanceof CelError) return key;
      const value = part.value.code(frame);
      if (value instanceof CelError) return value;
      const failed = addEntry(map, key, part.optional ? optionalValue(value) : value);
      if (failed !== null) return located(failed, at);
    }
    return map;
  };
  return compiler.fold(
    parts.flatMap((part) => [part.key, part.value]),
    code,
  );
}

function addEntry(map: BuiltMap, key: Value, value: Value | undefined | CelError): CelError | null {
  if (value instanceof CelError) return value;
  return value === undefined ? null : map.add(key, value);
}

function optionalValue(value: Value): Value | undefined | CelError {
  return value instanceof Optional ? value.value : noOverload('{?_: _}', value);
}
