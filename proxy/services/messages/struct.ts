import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { type Definitions, field, mapOf, repeated } from './codec.ts';

/** `google.protobuf.Struct` and what it is made of. */
export const structDefinitions: Definitions = {
  Struct: { fields: { fields: mapOf(1, 'Value') } },
  ListValue: { fields: { values: repeated(1, 'Value') } },
  Value: {
    fields: {
      nullValue: field(1, 'int32'),
      numberValue: field(2, 'double'),
      stringValue: field(3, 'string'),
      boolValue: field(4, 'bool'),
      structValue: field(5, 'Struct'),
      listValue: field(6, 'ListValue'),
    },
    oneofs: {
      kind: { oneof: ['nullValue', 'numberValue', 'stringValue', 'boolValue', 'structValue', 'listValue'] },
    },
  },
};

/**
 * Readers of protobuf take a hundred messages inside each other; a level of JSON is up to three, and what a Struct stands in
 * takes some.
 */
const MOST_LEVELS = 30;

/** Whether some of these objects are nested deeper than a receiver would read. */
export function tooDeep(objects: Readonly<Record<string, JsonObject>>): boolean {
  return Object.values(objects).some((object) => isDeeper(object, MOST_LEVELS));
}

function isDeeper(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((child: JsonValue) => isDeeper(child, levels - 1));
}

/** JSON in the form that the definitions describe. */
export function toStruct(object: JsonObject): object {
  return { fields: Object.fromEntries(Object.entries(object).map(([name, value]) => [name, toValue(value)])) };
}

/** Structs by name. */
export function toStructs(objects: Readonly<Record<string, JsonObject>>): object {
  return Object.fromEntries(Object.entries(objects).map(([name, object]) => [name, toStruct(object)]));
}

function toValue(value: JsonValue): object {
  if (value === null) return { nullValue: 0 };
  switch (typeof value) {
    case 'boolean':
      return { boolValue: value };
    case 'number':
      return { numberValue: value };
    case 'string':
      return { stringValue: value };
    default:
      // `as`: isArray does not narrow readonly arrays.
      if (Array.isArray(value)) return { listValue: { values: (value as readonly JsonValue[]).map(toValue) } };
      return { structValue: toStruct(value as JsonObject) };
  }
}

/** The JSON that a decoded Struct stands for; null for one that was not sent. */
export function fromStruct(struct: unknown): JsonObject | null {
  if (!isRecord(struct) || !isRecord(struct['fields'])) return null;
  return Object.fromEntries(Object.entries(struct['fields']).map(([name, value]) => [name, fromValue(value)]));
}

function fromValue(value: unknown): JsonValue {
  if (!isRecord(value)) return null;
  const { numberValue, stringValue, boolValue, structValue, listValue } = value;
  // Not a number and the infinities have no place in JSON.
  if (typeof numberValue === 'number') return Number.isFinite(numberValue) ? numberValue : null;
  if (typeof stringValue === 'string') return stringValue;
  if (typeof boolValue === 'boolean') return boolValue;
  if (structValue !== undefined) return fromStruct(structValue);
  const values = isRecord(listValue) ? listValue['values'] : undefined;
  return Array.isArray(values) ? values.map(fromValue) : null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
