import type { Expr, Index, Select } from '../syntax/ast.ts';
import {
  CelError,
  isList,
  isMap,
  noOverload,
  noSuchKey,
  NONE,
  Optional,
  Uint,
  Double,
  type Result,
  type Value,
} from '../value/value.ts';
import { textOf } from '../value/text.ts';
import { dynamic, located, type Compiled } from './compiled.ts';
import type { Compiler } from './compiler.ts';
import type { Code } from './frame.ts';
import type { Segment } from './host.ts';

/** `a.b` and `a["b"]`: chains that begin at a name are read as one path as far as the host can. */
export function access<C>(compiler: Compiler<C>, expr: Select | Index): Compiled<C> {
  const path = pathOf(expr);
  const found = path === null ? null : compiler.named(path.root, path.segments);
  if (path !== null && found !== null && found.used === path.segments.length) return found.compiled;
  if (path !== null && found !== null && found.used > 0) {
    const rest = path.segments.slice(found.used);
    const at = expr.start;
    return dynamic(
      rest.reduce<Code<C>>(
        (code, segment) => (segment.indexed ? indexCode(code, segment.name, at) : selectCode(code, segment.name, at)),
        found.compiled.code,
      ),
    );
  }
  return expr.kind === 'select' ? select(compiler, expr) : index(compiler, expr);
}

/** `has(a.b)`: whether reading it would find something. */
export function hasField<C>(compiler: Compiler<C>, expr: Select): Compiled<C> {
  const path = pathOf(expr);
  const found = path === null ? null : compiler.named(path.root, path.segments);
  if (path !== null && found !== null && found.used === path.segments.length) {
    const { code } = found.compiled;
    return dynamic((frame) => {
      const value = code(frame);
      return !(value instanceof CelError) || (value.kind === 'no_such_key' ? false : value);
    });
  }
  const operand = compiler.code(expr.operand);
  return dynamic((frame) => {
    const value = operand(frame);
    if (value instanceof CelError) return value;
    return fieldIn(value, expr.field);
  });
}

function fieldIn(value: Value, field: string): boolean {
  if (value instanceof Optional) return value.value !== undefined && fieldIn(value.value, field);
  return isMap(value) && value.get(field) !== undefined;
}

/** The name and the constant steps that an access consists of; null when it is anything else. */
function pathOf(expr: Select | Index) {
  const segments: Segment[] = [];
  let at: Expr = expr;
  while (at.kind === 'select' || at.kind === 'index') {
    if (at.optional) return null;
    if (at.kind === 'select') segments.push({ name: at.field, indexed: false });
    else if (at.index.kind === 'literal' && typeof at.index.value === 'string')
      segments.push({ name: at.index.value, indexed: true });
    else return null;
    at = at.operand;
  }
  return at.kind === 'ident' ? { root: at, segments: segments.toReversed() } : null;
}

function select<C>(compiler: Compiler<C>, expr: Select): Compiled<C> {
  const operand = compiler.compile(expr.operand);
  if (!expr.optional) return compiler.fold([operand], selectCode(operand.code, expr.field, expr.start));
  const { code } = operand;
  return dynamic((frame) => {
    const value = code(frame);
    return value instanceof CelError ? value : optionalField(value, expr.field);
  });
}

function selectCode<C>(operand: Code<C>, field: string, at: number): Code<C> {
  return (frame) => {
    const value = operand(frame);
    return value instanceof CelError ? value : located(selectField(value, field), at);
  };
}

function selectField(value: Value, field: string): Result {
  if (value instanceof Optional) return optionalField(value, field);
  if (isMap(value)) {
    const found = value.get(field);
    return found === undefined ? noSuchKey(field) : found;
  }
  return value === null ? noSuchKey(`${field} (of null)`) : noOverload(`_.${field}`, value);
}

function index<C>(compiler: Compiler<C>, expr: Index): Compiled<C> {
  const operand = compiler.compile(expr.operand);
  const key = compiler.compile(expr.index);
  if (typeof key.constant === 'string' && !expr.optional) {
    return compiler.fold([operand], indexCode(operand.code, key.constant, expr.start));
  }
  const [read, readKey] = [operand.code, key.code];
  return compiler.fold([operand, key], (frame) => {
    const value = read(frame);
    if (value instanceof CelError) return value;
    const wanted = readKey(frame);
    if (wanted instanceof CelError) return wanted;
    return located(expr.optional ? optionalItem(value, wanted) : itemOf(value, wanted), expr.start);
  });
}

function indexCode<C>(operand: Code<C>, key: string, at: number): Code<C> {
  return (frame) => {
    const value = operand(frame);
    return value instanceof CelError ? value : located(itemOf(value, key), at);
  };
}

function itemOf(value: Value, key: Value): Result {
  if (value instanceof Optional) return optionalItem(value, key);
  if (isMap(value)) {
    const found = value.get(key);
    if (found !== undefined) return found;
    if (typeof key !== 'object' || key instanceof Uint || key instanceof Double) return noSuchKey(textOf(key) ?? '');
    return noOverload('_[_]', value, key);
  }
  if (value !== null && isList(value)) return listItem(value, key);
  return value === null ? noSuchKey(`${textOf(key) ?? ''} (of null)`) : noOverload('_[_]', value, key);
}

function listItem(list: readonly Value[], key: Value): Result {
  const at = positionOf(key);
  if (at === undefined) return noOverload('_[_]', list, key);
  const found = list[at];
  return found === undefined ? new CelError('failed', `index out of range: ${at}`) : found;
}

/** An int, uint or whole double as a position. */
function positionOf(key: Value): number | undefined {
  if (typeof key === 'number') return key;
  if (key instanceof Uint) return typeof key.value === 'number' ? key.value : -1;
  if (key instanceof Double) return Number.isInteger(key.value) ? key.value : undefined;
  return typeof key === 'bigint' ? -1 : undefined;
}

function optionalField(value: Value, field: string): Result {
  // A variable that is not there is null, and has no fields; but a null inside of an optional is a value.
  if (value === null) return NONE;
  const inner = value instanceof Optional ? value.value : value;
  if (inner === undefined) return NONE;
  return isMap(inner) ? optionalOf(inner.get(field)) : noOverload(`_.?${field}`, inner);
}

function optionalItem(value: Value, key: Value): Result {
  if (value === null) return NONE;
  const inner = value instanceof Optional ? value.value : value;
  if (inner === undefined) return NONE;
  if (isMap(inner)) return optionalOf(inner.get(key));
  if (!isList(inner)) return noOverload('_[?_]', inner, key);
  const at = positionOf(key);
  return at === undefined ? noOverload('_[?_]', inner, key) : optionalOf(inner[at]);
}

function optionalOf(value: Value | undefined): Optional {
  return value === undefined ? NONE : new Optional(value);
}
