import type { FunctionDef } from '../compile/host.ts';
import {
  Double,
  Duration,
  failure,
  isBytes,
  isList,
  isMap,
  noOverload,
  NONE,
  Optional,
  Timestamp,
  Uint,
  type Result,
  type Value,
} from '../value/value.ts';
import { call, method } from './define.ts';

export const optionalFunctions: readonly FunctionDef[] = [
  call('optional.none', () => NONE),
  call('optional.of', (value) => new Optional(value)),
  call('optional.ofNonZeroValue', (value) => (isZero(value) ? NONE : new Optional(value))),
  call('optional.unwrap', unwrap),
  method('unwrapOpt', unwrap),
  method('hasValue', (value) => on('hasValue', value, (inner) => inner !== undefined)),
  method('value', (value) =>
    on('value', value, (inner) => inner ?? (inner === null ? null : failure('optional.none() dereference'))),
  ),
  method('or', (value, other) =>
    other instanceof Optional
      ? on('or', value, (inner) => (inner === undefined ? other : value))
      : noOverload('or', value, other),
  ),
  method('orValue', (value, other) => on('orValue', value, (inner) => (inner === undefined ? other : inner))),
  ...['first', 'last'].map((name) =>
    method(name, (list) => {
      if (!isList(list)) return noOverload(name, list);
      const found = name === 'first' ? list[0] : list.at(-1);
      return found === undefined ? NONE : new Optional(found);
    }),
  ),
];

function on(name: string, value: Value, apply: (inner: Value | undefined) => Result): Result {
  return value instanceof Optional ? apply(value.value) : noOverload(name, value);
}

function unwrap(list: Value): Result {
  if (!isList(list)) return noOverload('optional.unwrap', list);
  const values: Value[] = [];
  for (const item of list) {
    if (!(item instanceof Optional)) return noOverload('optional.unwrap', item);
    if (item.value !== undefined) values.push(item.value);
  }
  return values;
}

/** Empty, zero, false, null. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0) return true;
  if (value instanceof Uint || value instanceof Double) return value.value === 0;
  if (value instanceof Duration || value instanceof Timestamp) return value.nanos === 0n;
  if (isList(value) || isBytes(value)) return value.length === 0;
  return isMap(value) && value.size === 0;
}
