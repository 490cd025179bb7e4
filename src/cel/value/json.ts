import type { Meter } from '../compile/host.ts';
import type { Json } from './map.ts';
import { MAX_TEXT, textOf } from './text.ts';
import { CelError, failure, isBytes, isList, isMap, typeName, type Result, type Value } from './value.ts';

/** How many values one JSON text may have: values that share parts can be far larger than what built them. */
const MAX_VALUES = 200_000;
const MAX_DEPTH = 200;

/**
 * A value as compact JSON text: bytes as base64, timestamps and durations as text, keys as text. NaN and infinities are
 * null, and so is what has no JSON form inside a list or map.
 */
export function jsonText(value: Value, meter: Meter = { left: MAX_VALUES }): Result {
  const writer = { meter, length: 0 };
  const text = write(value, writer, 0);
  if (meter.left < 0 || writer.length > MAX_TEXT) return new CelError('limit', 'the value is too large for JSON');
  return text ?? failure(`a ${typeName(value)} has no JSON form`);
}

/** The same as `JSON.parse` would give it. Integers that a JavaScript number can't hold become the nearest one. */
export function toJson(value: Value): Json | CelError {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  const text = jsonText(value);
  if (typeof text !== 'string') return text instanceof CelError ? text : failure('no JSON form');
  return JSON.parse(text) as Json; // what JSON.parse gives without a reviver
}

interface Writer {
  readonly meter: Meter;
  length: number;
}

function write(value: Value, writer: Writer, depth: number): string | undefined {
  if (writer.meter.left-- < 0 || depth > MAX_DEPTH || writer.length > MAX_TEXT) {
    writer.meter.left = -1;
    return undefined;
  }
  if (isList(value)) return `[${value.map((item) => write(item, writer, depth + 1) ?? 'null').join(',')}]`;
  if (isMap(value)) {
    const entries = value.keys().map((key) => {
      const name = textOf(key) ?? '';
      writer.length += name.length;
      return `${JSON.stringify(name)}:${write(value.get(key) ?? null, writer, depth + 1) ?? 'null'}`;
    });
    return `{${entries.join(',')}}`;
  }
  if (typeof value === 'object' && value !== null && !isBytes(value)) {
    if (value.kind === 'optional') return value.value === undefined ? 'null' : write(value.value, writer, depth + 1);
    if (value.kind === 'flattened') return write(value.value, writer, depth + 1);
  }
  const text = scalar(value);
  writer.length += text?.length ?? 0;
  return text;
}

function scalar(value: Exclude<Value, readonly Value[]>): string | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') {
    return String(value);
  }
  if (isBytes(value)) return `"${Buffer.from(value).toString('base64')}"`;
  if (typeof value === 'object' && value.kind === 'uint') return String(value.value);
  if (typeof value === 'object' && value.kind === 'double') {
    return Number.isFinite(value.value) ? String(value.value + 0) : 'null';
  }
  const text = textOf(value);
  return text === undefined ? undefined : JSON.stringify(text);
}
