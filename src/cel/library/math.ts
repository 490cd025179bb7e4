import type { FunctionDef } from '../compile/host.ts';
import { compare } from '../value/compare.ts';
import { canonical, intOf, numeric, uint } from '../value/number.ts';
import { Double, failure, isBytes, isInt, isList, noOverload, Uint, type Result, type Value } from '../value/value.ts';
import { call } from './define.ts';

const MASK = 2n ** 64n - 1n;

export const mathFunctions: readonly FunctionDef[] = [
  call('math.least', (...values) => extreme('math.least', values, -1), [1, Number.POSITIVE_INFINITY]),
  call('math.greatest', (...values) => extreme('math.greatest', values, 1), [1, Number.POSITIVE_INFINITY]),
  call('min', (...values) => anyExtreme('min', values, -1), [0, Number.POSITIVE_INFINITY]),
  call('max', (...values) => anyExtreme('max', values, 1), [0, Number.POSITIVE_INFINITY]),
  call('math.ceil', (value) => onDouble('math.ceil', value, Math.ceil)),
  call('math.floor', (value) => onDouble('math.floor', value, Math.floor)),
  call('math.trunc', (value) => onDouble('math.trunc', value, Math.trunc)),
  call('math.round', (value) => onDouble('math.round', value, roundAwayFromZero)),
  call('math.isInf', (value) => testDouble('math.isInf', value, (x) => Math.abs(x) === Number.POSITIVE_INFINITY)),
  call('math.isNaN', (value) => testDouble('math.isNaN', value, Number.isNaN)),
  call('math.isFinite', (value) => testDouble('math.isFinite', value, Number.isFinite)),
  call('math.abs', abs),
  call('math.sign', sign),
  call('math.sqrt', (value) => {
    const number = numeric(value);
    return number === undefined ? noOverload('math.sqrt', value) : new Double(Math.sqrt(Number(number)));
  }),
  call('math.bitAnd', (a, b) => bitwise('math.bitAnd', [a, b], (x, y) => x & y)),
  call('math.bitOr', (a, b) => bitwise('math.bitOr', [a, b], (x, y) => x | y)),
  call('math.bitXor', (a, b) => bitwise('math.bitXor', [a, b], (x, y) => x ^ y)),
  call('math.bitNot', bitNot),
  call('math.bitShiftLeft', (value, by) => shift('math.bitShiftLeft', [value, by], (x, n) => x << n)),
  call('math.bitShiftRight', (value, by) => shift('math.bitShiftRight', [value, by], (x, n) => (x & MASK) >> n)),
];

/** Of numbers, given one by one or as one list. */
function extreme(name: string, values: readonly Value[], direction: number): Result {
  const [only] = values;
  const list = values.length === 1 && only !== undefined && isList(only) ? only : values;
  if (list.length === 0) return failure(`${name}() of an empty list`);
  if (list.some((item) => numeric(item) === undefined)) return noOverload(name, ...values);
  return best(name, list, (order) => order * direction > 0);
}

/** Of whatever has an order; null of nothing. Of equal ones of different types the last stays. */
function anyExtreme(name: string, values: readonly Value[], direction: number): Result {
  const [only] = values;
  const list = values.length === 1 && only !== undefined && isList(only) ? only : values;
  return best(name, list, (order) => order * direction >= 0);
}

/** `wins` is asked with the order of an item and the best one before it. */
function best(name: string, list: readonly Value[], wins: (order: number) => boolean): Result {
  let found = list[0] ?? null;
  for (const item of list.slice(1)) {
    const order = compare(item, found);
    if (order === undefined || Number.isNaN(order)) return noOverload(name, found, item);
    if (wins(order)) found = item;
  }
  return found;
}

function onDouble(name: string, value: Value, apply: (value: number) => number): Result {
  return value instanceof Double ? new Double(apply(value.value)) : noOverload(name, value);
}

function testDouble(name: string, value: Value, test: (value: number) => boolean): Result {
  return value instanceof Double ? test(value.value) : noOverload(name, value);
}

function roundAwayFromZero(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}

function abs(value: Value): Result {
  if (value instanceof Double) return new Double(Math.abs(value.value));
  if (value instanceof Uint) return value;
  return isInt(value) ? intOf(BigInt(value) < 0n ? -BigInt(value) : BigInt(value)) : noOverload('math.abs', value);
}

function sign(value: Value): Result {
  if (value instanceof Double) return new Double(Math.sign(value.value));
  if (value instanceof Uint) return uint(value.value === 0 ? 0 : 1);
  if (!isInt(value)) return noOverload('math.sign', value);
  return value > 0 ? 1 : value < 0 ? -1 : 0;
}

interface Bits {
  readonly bits: bigint;
  readonly kind: 'int' | 'uint' | 'bytes';
  readonly length: number;
}

/** The bits of an int, a uint, or bytes read from the right. */
function bitsOf(value: Value): Bits | undefined {
  if (isInt(value)) return { bits: BigInt(value), kind: 'int', length: 0 };
  if (value instanceof Uint) return { bits: BigInt(value.value), kind: 'uint', length: 0 };
  if (!isBytes(value) || value.length > 32) return undefined;
  return { bits: BigInt(`0x0${Buffer.from(value).toString('hex')}`), kind: 'bytes', length: value.length };
}

function bitwise(
  name: string,
  [left, right]: readonly [Value, Value],
  combine: (a: bigint, b: bigint) => bigint,
): Result {
  const [a, b] = [bitsOf(left), bitsOf(right)];
  if (a === undefined || b === undefined) return noOverload(name, left, right);
  const [x, y] = [a.kind, b.kind];
  if (x !== y && x !== 'bytes' && y !== 'bytes') return noOverload(name, left, right);
  const bits = combine(a.bits, b.bits);
  if (x === 'bytes' && y === 'bytes') return toBytes(bits, Math.max(a.length, b.length));
  return x === 'uint' || y === 'uint' ? asUint(bits) : asInt(bits);
}

function toBytes(bits: bigint, length: number): Uint8Array {
  return new Uint8Array(
    Buffer.from(
      bits
        .toString(16)
        .padStart(length * 2, '0')
        .slice(-length * 2 || undefined),
      'hex',
    ),
  );
}

function asInt(bits: bigint): Result {
  return canonical(BigInt.asIntN(64, bits));
}

function asUint(bits: bigint): Result {
  return uint(canonical(BigInt.asUintN(64, bits)));
}

function bitNot(value: Value): Result {
  if (isInt(value)) return asInt(~BigInt(value));
  if (value instanceof Uint) return asUint(~BigInt(value.value));
  return isBytes(value) ? value.map((byte) => ~byte & 0xff) : noOverload('math.bitNot', value);
}

/** Bits that leave are lost, those that come in are 0, whatever the sign. */
function shift(
  name: string,
  [value, by]: readonly [Value, Value],
  apply: (bits: bigint, by: bigint) => bigint,
): Result {
  const source = bitsOf(value);
  if (source === undefined || source.kind === 'bytes' || !isInt(by)) return noOverload(name, value, by);
  if (by < 0) return failure(`${name}() by a negative number: ${by}`);
  const bits = by >= 64 ? 0n : apply(source.bits, BigInt(by));
  return source.kind === 'uint' ? asUint(bits) : asInt(bits);
}
