import { isJsonObject, type JsonObject, type JsonValue } from '../exchange/attributes.ts';

/**
 * Tolerant readers of wire bodies: a field that is missing or of another type is undefined. What a format requires is
 * checked where it is read.
 */
export function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function number(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function bool(value: JsonValue | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

export function object(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function list(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** The objects of a list; anything else in it is left out. */
export function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return list(value)?.filter(isJsonObject) ?? [];
}

/** A JSON object; undefined for anything else, and for what is no JSON. */
export function parseObject(source: string): JsonObject | undefined {
  const value = parse(source);
  return isJsonObject(value) ? value : undefined;
}

/** Undefined for what is no JSON. */
export function parse(source: string): JsonValue | undefined {
  try {
    // `as`: the parser makes nothing else.
    return JSON.parse(source) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Without the fields that are undefined. */
export function compact(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
