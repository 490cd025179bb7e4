import type { Meter } from '../compile/host.ts';
import { compareNumeric, numeric } from './number.ts';
import { CelError, isBytes, isList, isMap, noOverload, type CelMap, type Result, type Value } from './value.ts';

/**
 * Equality over all types: values of different kinds are unequal, numbers compare across theirs. Every value that is looked
 * at takes a step: values that share parts can be far larger than what built them.
 */
export function equals(a: Value, b: Value, meter: Meter): boolean | CelError {
  if (a === b) return true;
  const same = equalWithin(a, b, meter);
  return meter.left < 0 ? new CelError('limit', 'the values are too large to compare') : same;
}

function equalWithin(a: Value, b: Value, meter: Meter): boolean {
  if (a === b) return true;
  if (meter.left-- < 0) return false;
  const x = numeric(a);
  if (x !== undefined) {
    const y = numeric(b);
    return y !== undefined && compareNumeric(x, y) === 0;
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, i) => equalItem(item, b[i], meter));
  if (isBytes(a)) {
    meter.left -= a.length >> 12;
    return isBytes(b) && a.length === b.length && compareBytes(a, b) === 0;
  }
  if (isMap(a)) return isMap(b) && equalMaps(a, b, meter);
  if (isList(b) || isBytes(b) || isMap(b)) return false;
  switch (a.kind) {
    case 'duration':
      return b.kind === 'duration' && a.nanos === b.nanos;
    case 'timestamp':
      return b.kind === 'timestamp' && a.nanos === b.nanos;
    case 'type':
      return b.kind === 'type' && a.name === b.name;
    case 'optional':
      return b.kind === 'optional' && equalOptional(a.value, b.value, meter);
    case 'ip':
      return b.kind === 'ip' && a.equals(b);
    case 'cidr':
      return b.kind === 'cidr' && a.equals(b);
    default:
      return false;
  }
}

function equalItem(a: Value, b: Value | undefined, meter: Meter): boolean {
  return b !== undefined && equalWithin(a, b, meter);
}

function equalOptional(a: Value | undefined, b: Value | undefined, meter: Meter): boolean {
  return a === undefined ? b === undefined : equalItem(a, b, meter);
}

function equalMaps(a: CelMap, b: CelMap, meter: Meter): boolean {
  meter.left -= (a.weight + b.weight) >> 4;
  return a.size === b.size && a.keys().every((key) => equalItem(a.get(key) ?? null, b.get(key), meter));
}

export type Order = '<' | '<=' | '>' | '>=';

/** Order within a type, numbers across theirs; NaN is neither before nor behind anything. */
export function ordered(op: Order, a: Value, b: Value): Result {
  const sign = compare(a, b);
  if (sign === undefined) return noOverload(`_${op}_`, a, b);
  switch (op) {
    case '<':
      return sign < 0;
    case '<=':
      return sign <= 0;
    case '>':
      return sign > 0;
    case '>=':
      return sign >= 0;
  }
}

/** Negative, 0 or positive; NaN beside a NaN; undefined for what has no order. */
export function compare(a: Value, b: Value): number | undefined {
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : undefined;
  const x = numeric(a);
  if (x !== undefined) {
    const y = numeric(b);
    return y === undefined ? undefined : compareNumeric(x, y);
  }
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined;
  if (a === null || typeof a !== 'object' || b === null || typeof b !== 'object') return undefined;
  if (isBytes(a)) return isBytes(b) ? compareBytes(a, b) : undefined;
  if (isList(a) || isList(b) || isBytes(b)) return undefined;
  if (a.kind === 'duration' && b.kind === 'duration') return compareNumeric(a.nanos, b.nanos);
  return a.kind === 'timestamp' && b.kind === 'timestamp' ? compareNumeric(a.nanos, b.nanos) : undefined;
}

/** By code point, where JavaScript's own order is by UTF-16 unit. */
function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const bothHigh = x >= 0xd800 && y >= 0xd800;
    return bothHigh ? rotate(x) - rotate(y) : x - y;
  }
  return a.length - b.length;
}

/** Puts surrogates behind the rest of the plane that they stand beyond. */
function rotate(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}
