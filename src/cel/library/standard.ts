import type { FunctionDef, Meter } from '../compile/host.ts';
import { inList } from '../compile/operators.ts';
import { hasText } from '../value/search.ts';
import { typeNames } from '../compile/type-names.ts';
import { doubleToInt, doubleToUint, intOf, parseInteger, uint, uintOf } from '../value/number.ts';
import { codePoints, textOf } from '../value/text.ts';
import { durationOf, parseDuration, parseTimestamp, timestampOf } from '../value/time.ts';
import {
  Double,
  Duration,
  failure,
  isBytes,
  isInt,
  isList,
  isMap,
  noOverload,
  Timestamp,
  TypeName,
  typeName,
  Uint,
  type Result,
  type Value,
} from '../value/value.ts';
import { both, call, method, noMeter } from './define.ts';

/** Conversions, sizes and parts of text: what the language itself defines. */
export const standardFunctions: readonly FunctionDef[] = [
  call('type', (value) => typeNames.get(typeName(value)) ?? new TypeName(typeName(value))),
  call('dyn', (value) => value),
  call('bool', toBool),
  call('int', toInt),
  call('uint', toUint),
  call('double', toDouble),
  call('string', (value) => textOf(value) ?? unreadable('string', value)),
  call('bytes', (value) =>
    typeof value === 'string' ? bytesOf(value) : isBytes(value) ? value : noOverload('bytes', value),
  ),
  call('duration', (value) => (typeof value === 'string' ? parseDuration(value) : toDuration(value))),
  call('timestamp', toTimestamp),
  both('size', sizeOf),
  both('startsWith', (text, prefix) => texts('startsWith', text, prefix, (a, b) => a.startsWith(b))),
  both('endsWith', (text, suffix) => texts('endsWith', text, suffix, (a, b) => a.endsWith(b))),
  { ...both('contains', noMeter, [2, 2]), metered: contains },
  method('unredacted', (value) => {
    if (typeof value === 'string') return value;
    return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'secret'
      ? value.reveal()
      : noOverload('unredacted', value);
  }),
];

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text));
}

function texts(name: string, a: Value, b: Value, test: (a: string, b: string) => Result): Result {
  return typeof a === 'string' && typeof b === 'string' ? test(a, b) : noOverload(name, a, b);
}

function unreadable(name: string, value: Value): Result {
  return isBytes(value) ? failure('the bytes are not UTF-8') : noOverload(name, value);
}

function toBool(value: Value): Result {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return noOverload('bool', value);
  if (['1', 't', 'true', 'TRUE', 'True'].includes(value)) return true;
  if (['0', 'f', 'false', 'FALSE', 'False'].includes(value)) return false;
  return failure(`not a bool: ${JSON.stringify(value.slice(0, 40))}`);
}

function toInt(value: Value): Result {
  if (isInt(value)) return value;
  if (value instanceof Uint) return intOf(BigInt(value.value));
  if (value instanceof Double) return doubleToInt(value.value);
  if (value instanceof Timestamp) return intOf(value.nanos / 1_000_000_000n);
  if (value instanceof Duration) return intOf(value.nanos / 1_000_000_000n);
  if (typeof value !== 'string') return noOverload('int', value);
  const parsed = parseInteger(value);
  return parsed === undefined ? failure(`not an int: ${JSON.stringify(value.slice(0, 40))}`) : intOf(parsed);
}

function toUint(value: Value): Result {
  if (value instanceof Uint) return value;
  if (isInt(value)) return value < 0 ? failure('unsigned integer overflow') : uint(value);
  if (value instanceof Double) return doubleToUint(value.value);
  if (typeof value !== 'string') return noOverload('uint', value);
  const parsed = parseInteger(value);
  return parsed === undefined ? failure(`not a uint: ${JSON.stringify(value.slice(0, 40))}`) : uintOf(parsed);
}

const DOUBLE = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const SPECIAL_DOUBLE = /^([+-]?)(inf(?:inity)?|nan)$/i;

function toDouble(value: Value): Result {
  if (value instanceof Double) return value;
  if (isInt(value)) return new Double(Number(value));
  if (value instanceof Uint) return new Double(Number(value.value));
  if (typeof value !== 'string') return noOverload('double', value);
  const special = SPECIAL_DOUBLE.exec(value);
  if (special !== null) {
    if (special[2]?.toLowerCase() === 'nan') return new Double(Number.NaN);
    return new Double(special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  }
  if (value.length > 400 || !DOUBLE.test(value)) return failure(`not a double: ${JSON.stringify(value.slice(0, 40))}`);
  return new Double(Number(value));
}

function toDuration(value: Value): Result {
  if (value instanceof Duration) return value;
  return isInt(value) ? durationOf(BigInt(value) * 1_000_000_000n) : noOverload('duration', value);
}

function toTimestamp(value: Value): Result {
  if (value instanceof Timestamp) return value;
  if (typeof value === 'string') return parseTimestamp(value);
  return isInt(value) ? timestampOf(BigInt(value) * 1_000_000_000n) : noOverload('timestamp', value);
}

function sizeOf(value: Value): Result {
  if (typeof value === 'string') return codePoints(value);
  if (isList(value) || isBytes(value)) return value.length;
  return isMap(value) ? value.size : noOverload('size', value);
}

/** Text in text, bytes in bytes, an element of a list, a key of a map. */
function contains(meter: Meter, container: Value = null, part: Value = null): Result {
  if (typeof container === 'string' && typeof part === 'string') return hasText(container, part);
  if (isBytes(container) && isBytes(part)) return hasText(latin1(container), latin1(part));
  if (isMap(container)) return container.get(part) !== undefined;
  return isList(container) ? inList(part, container, meter) : noOverload('contains', container, part);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
