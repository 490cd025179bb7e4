import type { ArithmeticOp, RelationOp } from '../syntax/ast.ts';
import { equals, ordered } from '../value/compare.ts';
import { doubleArithmetic, intArithmetic, negate, uintArithmetic } from '../value/number.ts';
import { durationOf, timestampOf } from '../value/time.ts';
import { hasText } from '../value/search.ts';
import { MAX_TEXT } from '../value/text.ts';
import { keyOf } from '../value/map.ts';
import {
  CelError,
  Double,
  Duration,
  isBytes,
  isInt,
  isList,
  isMap,
  noOverload,
  Timestamp,
  typeName,
  Uint,
  type Result,
  type Value,
} from '../value/value.ts';
import { located, type Compiled } from './compiled.ts';
import { exhausted, type Code, type Frame } from './frame.ts';
import type { Meter } from './host.ts';

type Pair<C> = readonly [left: Compiled<C> | undefined, right: Compiled<C> | undefined];

export function notCode<C>(operand: Compiled<C> | undefined, at: number): Code<C> {
  const code = codeOf(operand);
  return (frame) => {
    const value = code(frame);
    if (typeof value === 'boolean') return !value;
    return value instanceof CelError ? value : located(noOverload('!_', value), at);
  };
}

export function negateCode<C>(operand: Compiled<C> | undefined, at: number): Code<C> {
  const code = codeOf(operand);
  return (frame) => {
    const value = code(frame);
    return value instanceof CelError ? value : located(negate(value), at);
  };
}

/** Any operand that decides does so, whatever the others fail with; the first failure is told otherwise. */
export function logicCode<C>(op: '&&' | '||', operands: readonly Code<C>[], at: number): Code<C> {
  const decisive = op === '||';
  const [first, second, third] = operands;
  if (first !== undefined && second !== undefined && operands.length <= 3) {
    // Two and three operands are nearly all there are: without the loop they take half the time.
    return (frame) => {
      const a = first(frame);
      if (a === decisive) return decisive;
      const b = second(frame);
      if (b === decisive) return decisive;
      const c = third === undefined ? !decisive : third(frame);
      if (c === decisive) return decisive;
      return typeof a === 'boolean' && typeof b === 'boolean' && c === !decisive
        ? !decisive
        : undecided(op, [a, b, c], at);
    };
  }
  return (frame) => {
    let failed: Result | undefined;
    for (const operand of operands) {
      const value = operand(frame);
      if (value === decisive) return decisive;
      if (value !== !decisive) failed ??= value;
    }
    return failed === undefined ? !decisive : undecided(op, [failed], at);
  };
}

function undecided(op: string, values: readonly Result[], at: number): Result {
  const failed = values.find((value) => value instanceof CelError);
  if (failed !== undefined) return failed;
  const wrong = values.find((value) => typeof value !== 'boolean');
  return located(
    new CelError('overload', `no such overload: ${op} of a ${wrong === undefined ? '?' : nameOf(wrong)}`),
    at,
  );
}

function nameOf(value: Result): string {
  return value instanceof CelError ? 'failure' : typeName(value);
}

export function conditionalCode<C>(test: Code<C>, chosen: Code<C>, otherwise: Code<C>, at: number): Code<C> {
  return (frame) => {
    const value = test(frame);
    if (value === true) return chosen(frame);
    if (value === false) return otherwise(frame);
    return value instanceof CelError ? value : located(noOverload('_?_:_', value), at);
  };
}

export function arithmeticCode<C>(op: ArithmeticOp, [left, right]: Pair<C>, at: number): Code<C> {
  const [a, b] = [codeOf(left), codeOf(right)];
  return (frame) => {
    const x = a(frame);
    const y = b(frame);
    if (x instanceof CelError) return x;
    if (y instanceof CelError) return y;
    if (isInt(x) && isInt(y)) return located(intArithmetic(op, x, y), at);
    if (op === '+' && !frame.spend(costOfJoining(x) + costOfJoining(y))) return exhausted();
    return located(arithmetic(op, x, y), at);
  };
}

function costOfJoining(value: Value): number {
  if (isList(value)) return value.length >> 4;
  return lengthOf(value) >> 11;
}

/** Both operands have one type; times and durations combine as their names say. */
function arithmetic(op: ArithmeticOp, x: Value, y: Value): Result {
  if (x instanceof Uint && y instanceof Uint) return uintArithmetic(op, x, y);
  if (x instanceof Double && y instanceof Double && op !== '%') return doubleArithmetic(op, x.value, y.value);
  if (op === '+') return added(x, y);
  if (op === '-') return subtracted(x, y);
  return noOverload(`_${op}_`, x, y);
}

function added(x: Value, y: Value): Result {
  if (typeof x === 'string' && typeof y === 'string') return x.length + y.length > MAX_TEXT ? tooLong() : x + y;
  if (x instanceof Duration && y instanceof Duration) return durationOf(x.nanos + y.nanos);
  if (x instanceof Timestamp && y instanceof Duration) return timestampOf(x.nanos + y.nanos);
  if (x instanceof Duration && y instanceof Timestamp) return timestampOf(x.nanos + y.nanos);
  if (isList(x) && isList(y)) return [...x, ...y];
  if (isBytes(x) && isBytes(y)) {
    return x.length + y.length > MAX_TEXT ? tooLong() : new Uint8Array(Buffer.concat([x, y]));
  }
  return noOverload('_+_', x, y);
}

function subtracted(x: Value, y: Value): Result {
  if (x instanceof Duration && y instanceof Duration) return durationOf(x.nanos - y.nanos);
  if (x instanceof Timestamp && y instanceof Duration) return timestampOf(x.nanos - y.nanos);
  if (x instanceof Timestamp && y instanceof Timestamp) return durationOf(x.nanos - y.nanos);
  return noOverload('_-_', x, y);
}

export function tooLong(): CelError {
  return new CelError('limit', `the text would be longer than ${MAX_TEXT} bytes`);
}

export function relationCode<C>(op: RelationOp, [left, right]: Pair<C>, at: number): Code<C> {
  switch (op) {
    case '==':
    case '!=':
      return equalityCode(op === '==', codeOf(left), codeOf(right));
    case 'in':
      return inCode(codeOf(left), right, at);
    default: {
      const [a, b] = [codeOf(left), codeOf(right)];
      return (frame) => {
        const x = a(frame);
        const y = b(frame);
        if (typeof x === 'number' && typeof y === 'number') return orderedNumbers(op, x, y);
        if (x instanceof CelError) return x;
        if (y instanceof CelError) return y;
        return frame.spend(lengthOf(x) >> 9) ? located(ordered(op, x, y), at) : exhausted();
      };
    }
  }
}

/** Of what is compared piece by piece. */
function lengthOf(value: Value): number {
  return typeof value === 'string' || isBytes(value) ? value.length : 0;
}

function orderedNumbers(op: '<' | '<=' | '>' | '>=', x: number, y: number): boolean {
  if (op === '<') return x < y;
  if (op === '<=') return x <= y;
  return op === '>' ? x > y : x >= y;
}

function equalityCode<C>(wanted: boolean, left: Code<C>, right: Code<C>): Code<C> {
  return (frame) => {
    const x = left(frame);
    const y = right(frame);
    if (typeof x === 'string' && typeof y === 'string') {
      const long = x.length > 4096 && x.length === y.length;
      return long && !frame.spend(x.length >> 12) ? exhausted() : (x === y) === wanted;
    }
    if (x instanceof CelError) return x;
    if (y instanceof CelError) return y;
    const same = equals(x, y, frame.root);
    return typeof same === 'boolean' ? same === wanted : same;
  };
}

/** A literal list of texts and numbers is looked up, not searched. */
function inCode<C>(left: Code<C>, right: Compiled<C> | undefined, at: number): Code<C> {
  const list = right?.constant;
  const keys = list !== undefined && !(list instanceof CelError) && isList(list) ? list.map(keyOf) : [];
  if (keys.length > 0 && !keys.includes(undefined)) {
    const known = new Set(keys);
    return (frame) => {
      const x = left(frame);
      if (x instanceof CelError) return x;
      const key = keyOf(x);
      return key !== undefined && known.has(key);
    };
  }
  const container = codeOf(right);
  return (frame) => {
    const x = left(frame);
    const y = container(frame);
    if (x instanceof CelError) return x;
    return y instanceof CelError ? y : located(contained(frame, x, y), at);
  };
}

function contained<C>(frame: Frame<C>, x: Value, y: Value): Result {
  if (isList(y)) return inList(x, y, frame.root);
  if (isMap(y)) return y.get(x) !== undefined;
  if (typeof x === 'string' && typeof y === 'string') {
    return frame.spend((x.length + y.length) >> 10) ? hasText(y, x) : exhausted();
  }
  return noOverload('_in_', x, y);
}

/** Whether an element of a list equals a value. */
export function inList(x: Value, list: readonly Value[], meter: Meter): Result {
  if (typeof x === 'string') return textInList(x, list, meter);
  for (const item of list) {
    const same = equals(x, item, meter);
    if (same !== false) return same;
  }
  return false;
}

/** A text equals nothing but the same text: no need to look at types. */
function textInList(x: string, list: readonly Value[], meter: Meter): Result {
  meter.left -= list.length * (1 + (x.length >> 12));
  if (meter.left < 0) return exhausted();
  for (const item of list) if (item === x) return true;
  return false;
}

function codeOf<C>(compiled: Compiled<C> | undefined): Code<C> {
  if (compiled === undefined) throw new Error('an operator without its operand');
  return compiled.code;
}
