import { jsonText } from '../../src/cel/value/json.ts';
import {
  CelError,
  Double,
  Duration,
  isBytes,
  typeName,
  Uint,
  type Result,
  type Value,
} from '../../src/cel/value/value.ts';

/** Controls other than a tab end a header, or worse. */
const FORBIDDEN = /[\0-\x08\x0a-\x1f\x7f]/;
const NON_ASCII = /[^\0-\x7f]/;

function wrongType(wanted: string, value: Value): CelError {
  return new CelError('failed', `expected ${wanted}, not a ${typeName(value)}`);
}

/** A header value; a character of it is one byte, as everywhere in messages. */
export function headerTextOf(value: Value): string | CelError {
  const text = isBytes(value) ? latin1(value) : value;
  if (typeof text !== 'string') return wrongType('a string or bytes (for others, write string(x))', value);
  if (FORBIDDEN.test(text)) return new CelError('failed', 'a header can not hold control characters');
  return !isBytes(value) && NON_ASCII.test(text) ? latin1(Buffer.from(text)) : text;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

export function textOf(value: Value): string | CelError {
  return typeof value === 'string' ? value : wrongType('a string', value);
}

export function scalarTextOf(value: Value): string | CelError {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (isBytes(value)) return Buffer.from(value).toString('base64');
  return wrongType('a string, bool, int, uint or bytes', value);
}

export function numberOf(value: Value): number | CelError {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  return value instanceof Double && Number.isFinite(value.value) ? value.value : wrongType('a number', value);
}

export function integerOf(value: Value): number | CelError {
  const number = numberOf(value);
  if (number instanceof CelError || Number.isSafeInteger(number)) return number;
  return new CelError('failed', 'expected a whole number');
}

export function durationMsOf(value: Value): number | CelError {
  if (value instanceof Duration) return Number(value.nanos) / 1e6;
  const number = numberOf(value);
  return number instanceof CelError ? wrongType('a duration or a number of milliseconds', value) : number;
}

export function bodyOf(value: Value): Uint8Array | CelError {
  if (typeof value === 'string') return Buffer.from(value);
  if (isBytes(value)) return value;
  const json = jsonText(value);
  return typeof json === 'string' ? Buffer.from(json) : asFailure(json);
}

/** The probability with which something is sampled. */
export function probabilityOf(value: Value): number | CelError {
  if (typeof value === 'boolean') return value ? 1 : 0;
  const number = numberOf(value);
  if (number instanceof CelError) return wrongType('a bool or a number from 0 to 1', value);
  if (value instanceof Double) return Math.min(1, Math.max(0, number));
  return number === 0 || number === 1 ? number : new CelError('failed', 'a whole number here is 0 or 1');
}

function asFailure(result: Result): CelError {
  return result instanceof CelError ? result : new CelError('failed', 'no JSON form');
}
