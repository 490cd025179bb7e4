import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';

/** Words of OpenAPI that JSON Schema does not know, and those about the place of a schema, which it leaves. */
const DROPPED: ReadonlySet<string> = new Set([
  '$anchor',
  '$defs',
  '$dynamicAnchor',
  '$dynamicRef',
  '$id',
  '$ref',
  '$schema',
  'discriminator',
  'example',
  'externalDocs',
  'nullable',
  'xml',
]);

const TYPES: ReadonlySet<unknown> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

const isList = (value: JsonValue): boolean => Array.isArray(value);
const isFull = (value: JsonValue): boolean => Array.isArray(value) && value.length > 0;
const isText = (value: JsonValue): boolean => typeof value === 'string';
const isNumber = (value: JsonValue): boolean => typeof value === 'number';
const isCount = (value: JsonValue): boolean => Number.isInteger(value) && Number(value) >= 0;
const isNames = (value: JsonValue): boolean =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isType = (value: JsonValue): boolean =>
  TYPES.has(value) ||
  (isNames(value) && isFull(value) && Array.isArray(value) && value.every((each) => TYPES.has(each)));

/** Clients and models refuse all tools for one word of a schema that means nothing: `required: true`, `type: file`. */
const FORMS: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map([
  ['allOf', isFull],
  ['anyOf', isFull],
  ['dependentSchemas', isJsonObject],
  ['description', isText],
  ['enum', isFull],
  ['examples', isList],
  ['exclusiveMaximum', isNumber],
  ['exclusiveMinimum', isNumber],
  ['format', isText],
  ['maximum', isNumber],
  ['maxItems', isCount],
  ['maxLength', isCount],
  ['maxProperties', isCount],
  ['minimum', isNumber],
  ['minItems', isCount],
  ['minLength', isCount],
  ['minProperties', isCount],
  ['multipleOf', (value) => typeof value === 'number' && value > 0],
  ['oneOf', isFull],
  ['pattern', isText],
  ['patternProperties', isJsonObject],
  ['prefixItems', isFull],
  ['properties', isJsonObject],
  ['required', isNames],
  ['title', isText],
  ['type', isType],
]);

/** Whether a word of a schema is one of JSON Schema, and has a value that it can have. */
export function isMeant(name: string, value: JsonValue): boolean {
  if (DROPPED.has(name) || name.startsWith('x-')) return false;
  return FORMS.get(name)?.(value) ?? true;
}

/** OpenAPI 3.0 has a word of its own for what may be null. */
export function nullable(schema: JsonObject, type: JsonValue | undefined): JsonValue | undefined {
  return schema.nullable === true && typeof type === 'string' && type !== 'null' ? [type, 'null'] : type;
}

/** Exclusive bounds are flags in OpenAPI 3.0, and numbers in JSON Schema. */
export function bounds(schema: JsonObject, [name, value]: [string, JsonValue]): [string, JsonValue][] {
  const bound = name === 'exclusiveMinimum' ? schema.minimum : schema.maximum;
  if ((name === 'exclusiveMinimum' || name === 'exclusiveMaximum') && typeof value === 'boolean')
    return value && bound !== undefined ? [[name, bound]] : [];
  return [[name, value]];
}
