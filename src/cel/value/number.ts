import { CelError, Double, failure, Uint, type Int, type Result, type Value } from './value.ts';

const MAX_INT = 2n ** 63n - 1n;
const MIN_INT = -(2n ** 63n);
const MAX_UINT = 2n ** 64n - 1n;

/** Uints up to here are shared: statuses and most ports. */
const SMALL_UINTS: readonly Uint[] = Array.from({ length: 1024 }, (_, value) => new Uint(value));

export function uint(value: Int): Uint {
  return (typeof value === 'number' ? SMALL_UINTS[value] : undefined) ?? new Uint(value);
}

/** A bigint in the form that ints have. */
export function canonical(value: bigint): Int {
  return value <= 9007199254740991n && value >= -9007199254740991n ? Number(value) : value;
}

export function intOf(value: bigint): Int | CelError {
  return value > MAX_INT || value < MIN_INT ? failure('integer overflow') : canonical(value);
}

export function uintOf(value: bigint): Uint | CelError {
  return value > MAX_UINT || value < 0n ? failure('unsigned integer overflow') : uint(canonical(value));
}

export type Arithmetic = '+' | '-' | '*' | '/' | '%';

export function intArithmetic(op: Arithmetic, a: Int, b: Int): Int | CelError {
  if (typeof a === 'number' && typeof b === 'number') {
    const quick = quickArithmetic(op, a, b);
    // Zero is added so that -0, which no int is, becomes 0.
    if (Number.isSafeInteger(quick)) return quick + 0;
  }
  const wide = bigArithmetic(op, BigInt(a), BigInt(b));
  return typeof wide === 'bigint' ? intOf(wide) : wide;
}

export function uintArithmetic(op: Arithmetic, a: Uint, b: Uint): Uint | CelError {
  const wide = bigArithmetic(op, BigInt(a.value), BigInt(b.value));
  return typeof wide === 'bigint' ? uintOf(wide) : wide;
}

export function doubleArithmetic(op: Exclude<Arithmetic, '%'>, a: number, b: number): Double {
  switch (op) {
    case '+':
      return new Double(a + b);
    case '-':
      return new Double(a - b);
    case '*':
      return new Double(a * b);
    case '/':
      return new Double(a / b);
  }
}

/** Exact whenever the answer is a safe integer; anything else says: take the long way. */
function quickArithmetic(op: Arithmetic, a: number, b: number): number {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0 ? Number.NaN : (a - (a % b)) / b;
    case '%':
      return b === 0 ? Number.NaN : a % b;
  }
}

function bigArithmetic(op: Arithmetic, a: bigint, b: bigint): bigint | CelError {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0n ? failure('divide by zero') : a / b;
    case '%':
      return b === 0n ? failure('modulus by zero') : a % b;
  }
}

/** A numeric value as JavaScript compares it; undefined for other types. */
export function numeric(value: Value): Int | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof Uint || value instanceof Double ? value.value : undefined;
}

/** Over all three types; NaN when one is NaN. An integer beyond 2^53 is compared with a double as the nearest double. */
export function compareNumeric(a: Int, b: Int): number {
  if (typeof a !== typeof b) return compareNumeric(Number(a), Number(b));
  if (a < b) return -1;
  if (a > b) return 1;
  return Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : 0;
}

/** A double truncated to an int; fails outside the range that doubles have exactly one int for. */
export function doubleToInt(value: number): Int | CelError {
  if (!(value > -9223372036854775808 && value < 9223372036854775808)) return failure('integer overflow');
  return Number.isSafeInteger(value) ? value + 0 : intOf(BigInt(Math.trunc(value)));
}

export function doubleToUint(value: number): Uint | CelError {
  if (!(value > -1 && value < 18446744073709551616)) return failure('unsigned integer overflow');
  return uintOf(BigInt(Math.trunc(value)));
}

/** Decimal digits with an optional sign, nothing else. */
export function parseInteger(text: string): bigint | undefined {
  return text.length <= 20 && /^[+-]?[0-9]+$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
}

export function negate(value: Value): Result {
  if (typeof value === 'number') return 0 - value;
  if (typeof value === 'bigint') return intOf(-value);
  return value instanceof Double ? new Double(-value.value) : new CelError('overload', 'no such overload: -_');
}
