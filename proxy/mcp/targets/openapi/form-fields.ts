import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import { styleOf } from './parameters.ts';
import type { FieldPlan } from './plan.ts';

/** What a document says of the fields of a form, in their schemas and in `encoding` (OpenAPI 3.1 section 4.8.15). */
export function fieldsOf(schema: JsonValue, encoding: JsonValue | undefined): ReadonlyMap<string, FieldPlan> {
  const properties = propertiesOf(schema);
  const encodings = isJsonObject(encoding) ? encoding : {};
  const names = new Set([...Object.keys(properties), ...Object.keys(encodings)]);
  return new Map(
    [...names].flatMap((name) => {
      const said = Object.hasOwn(encodings, name) ? encodings[name] : undefined;
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const field = fieldOf(name, isJsonObject(said) ? said : {}, own);
      return field === null ? [] : [[name, field]];
    }),
  );
}

/** Null where there is nothing to say. */
function fieldOf(name: string, encoding: JsonObject, schema: JsonValue | undefined): FieldPlan | null {
  const bytes = isBytes(itemOf(schema));
  const styled = encoding.style !== undefined || encoding.explode !== undefined;
  const style = styled ? { name, required: false, ...styleOf(encoding, 'query') } : null;
  const { contentType: said } = encoding;
  const type = typeof said === 'string' && /^[\w.+-]+\/[\w.+-]+$/.test(said) ? said : null;
  return bytes || style !== null || type !== null ? { style, contentType: type, bytes } : null;
}

/** The schema of a form whose files are given in base64. */
export function withBytes(schema: JsonValue, fields: ReadonlyMap<string, FieldPlan>): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const properties = Object.entries(propertiesOf(schema)).map(([name, own]) => [
    name,
    fields.get(name)?.bytes === true ? asBase64(own) : own,
  ]);
  return properties.length === 0 ? schema : { ...schema, properties: Object.fromEntries(properties) };
}

function asBase64(schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return schema;
  if (schema.items !== undefined) return { ...schema, items: asBase64(schema.items) };
  const { description } = schema;
  const told = typeof description === 'string' && description !== '' ? `${description} (in base64)` : 'In base64';
  return { ...schema, type: 'string', format: 'byte', description: told };
}

function itemOf(schema: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(schema) && schema.items !== undefined ? schema.items : schema;
}

/** A file as it is, in the words of OpenAPI 3.0 or of JSON Schema; others are sent in base64, as they come. */
function isBytes(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema)) return false;
  const { format, contentEncoding, contentMediaType } = schema;
  return format === 'binary' || (typeof contentMediaType === 'string' && contentEncoding === undefined);
}

function propertiesOf(schema: JsonValue): JsonObject {
  return isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
}
