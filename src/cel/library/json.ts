import type { FunctionDef, Meter } from '../compile/host.ts';
import { jsonText } from '../value/json.ts';
import { BuiltMap, fromJson, type Json } from '../value/map.ts';
import { decodeUtf8 } from '../value/text.ts';
import {
  CelError,
  failure,
  Flattened,
  isBytes,
  isList,
  isMap,
  noOverload,
  noSuchKey,
  type Result,
  type Value,
} from '../value/value.ts';
import { call, method, noMeter, slow } from './define.ts';

export const jsonFunctions: readonly FunctionDef[] = [
  slow(
    4,
    call('json', (value) => onText('json', value, parsed)),
  ),
  slow(4, call('jsonField', jsonField)),
  ...['toJson', 'to_json'].map((name) => ({
    ...call(name, noMeter, [1, 1]),
    metered: (meter: Meter, value: Value = null) => jsonText(value, meter),
  })),
  slow(
    8,
    call('unvalidatedJwtPayload', (value) => onText('unvalidatedJwtPayload', value, jwtPayload)),
  ),
  slow(4, method('merge', merge)),
  call('flatten', (value) => flattened('flatten', value, false)),
  ...['flattenRecursive', 'flatten_recursive'].map((name) => call(name, (value) => flattened(name, value, true))),
];

function onText(name: string, value: Value, apply: (text: string) => Result): Result {
  if (typeof value === 'string') return apply(value);
  if (!isBytes(value)) return noOverload(name, value);
  const text = decodeUtf8(value);
  return text === undefined ? failure('the bytes are not UTF-8') : apply(text);
}

function parsed(text: string): Result {
  const json = parse(text);
  return json instanceof CelError ? json : (fromJson(json) ?? null);
}

function parse(text: string): Json | CelError {
  try {
    return JSON.parse(text) as Json; // what JSON.parse gives without a reviver
  } catch {
    return failure('not JSON');
  }
}

function jsonField(value: Value, name: Value): Result {
  if (typeof name !== 'string') return noOverload('jsonField', value, name);
  const object = onText('jsonField', value, parsed);
  if (object instanceof CelError) return object;
  if (!isMap(object)) return failure('the JSON text is not an object');
  const found = object.get(name);
  return found === undefined ? noSuchKey(name) : found;
}

/** The middle of three parts; nothing about it is verified. */
function jwtPayload(token: string): Result {
  const parts = token.split('.');
  const payload = parts[1] ?? '';
  if (parts.length !== 3 || !/^[A-Za-z0-9_-]*={0,2}$/.test(payload)) return failure('not a JWT');
  const text = decodeUtf8(Buffer.from(payload, 'base64url'));
  return text === undefined ? failure('the payload is not UTF-8') : parsed(text);
}

function merge(left: Value, right: Value): Result {
  if (!isMap(left) || !isMap(right)) return noOverload('merge', left, right);
  const map = new BuiltMap();
  for (const side of [left, right]) for (const key of side.keys()) map.put(key, side.get(key) ?? null);
  return map;
}

function flattened(name: string, value: Value, recursive: boolean): Result {
  return isMap(value) || isList(value) ? new Flattened(value, recursive) : noOverload(name, value);
}
