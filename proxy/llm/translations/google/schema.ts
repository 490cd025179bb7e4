import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { badRequest } from '../../failure.ts';
import { list, object, objects, text } from '../../json.ts';
import type { Notes } from '../contract.ts';

/** What Gemini's `Schema` has (Gemini API, "Schema"). */
const KEPT = new Set([
  'type',
  'format',
  'description',
  'title',
  'nullable',
  'enum',
  'items',
  'properties',
  'required',
  'anyOf',
  'default',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'propertyOrdering',
]);
/** Keywords that say nothing about values, or whose meaning is carried over in another way. */
const SILENT = new Set([
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
  '$ref',
  'allOf',
  'oneOf',
  'const',
  'examples',
]);
const FORMATS = new Set(['enum', 'date-time']);
/** References can multiply: more schemas than this are nobody's tools. */
const MAX_SCHEMAS = 10_000;
const MAX_DEPTH = 100;

type Fields = Record<string, JsonValue>;

/** Where a schema stands: which definitions are being looked into, to end recursion. */
interface Place {
  readonly path: string;
  readonly open: readonly string[];
  readonly depth: number;
}

/** A JSON schema as the subset that Gemini takes. Throws an `LlmFailure` for one that is out of all proportion. */
export function geminiSchema(schema: JsonValue | undefined, path: string, notes: Notes): JsonObject {
  return new Normalizer(object(schema) ?? {}, notes).schema(schema, { path, open: [], depth: 0 });
}

class Normalizer {
  readonly #definitions: JsonObject;
  readonly #notes: Notes;
  #count = 0;

  constructor(root: JsonObject, notes: Notes) {
    this.#definitions = { ...object(root['definitions']), ...object(root['$defs']) };
    this.#notes = notes;
  }

  schema(value: JsonValue | undefined, place: Place): JsonObject {
    this.#count += 1;
    if (this.#count > MAX_SCHEMAS || place.depth > MAX_DEPTH) throw badRequest(`${place.path} is too large a schema`);
    const { fields, open } = this.#flat(object(value) ?? {}, place.open);
    const plain = withoutUnions(fields);
    this.#report(plain, place.path);
    return this.#kept(typed(plain), { ...place, open });
  }

  /** References and `allOf` become one schema; what stands outside wins. */
  #flat(schema: JsonObject, open: readonly string[]): { readonly fields: Fields; readonly open: readonly string[] } {
    let fields: Fields = { ...schema };
    let opened = open;
    const name = definitionName(schema['$ref']);
    if (name !== undefined && !open.includes(name) && isJsonObject(this.#definitions[name])) {
      const inner = this.#flat(this.#definitions[name], [...open, name]);
      const { $ref: _ref, ...outer } = schema;
      fields = { ...inner.fields, ...outer };
      opened = inner.open;
    }
    for (const part of objects(fields['allOf'])) {
      const inner = this.#flat(part, opened);
      fields = merged(fields, inner.fields);
      opened = inner.open;
    }
    return { fields, open: opened };
  }

  #kept(fields: Fields, { path, open, depth }: Place): JsonObject {
    const kept: Fields = {};
    for (const [name, value] of Object.entries(fields)) if (KEPT.has(name)) kept[name] = value;
    const inside = (suffix: string): Place => ({ path: `${path}.${suffix}`, open, depth: depth + 1 });
    const properties = object(kept['properties']);
    if (properties !== undefined) {
      kept['properties'] = Object.fromEntries(
        Object.entries(properties).map(([name, inner]) => [name, this.schema(inner, inside(name))]),
      );
    }
    if (kept['items'] !== undefined) {
      const items = list(kept['items'])?.[0] ?? kept['items'];
      kept['items'] = this.schema(items, inside('items'));
    }
    if (kept['anyOf'] !== undefined)
      kept['anyOf'] = objects(kept['anyOf']).map((inner, index) => this.schema(inner, inside(`anyOf[${index}]`)));
    return kept;
  }

  #report(fields: Fields, path: string): void {
    for (const name of Object.keys(fields)) {
      if (KEPT.has(name)) continue;
      if (SILENT.has(name)) this.#notes.renamed(`${path}.${name}`, 'its meaning without it');
      else this.#notes.dropped(`${path}.${name}`);
    }
  }
}

function definitionName(ref: JsonValue | undefined): string | undefined {
  const match = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(text(ref) ?? '');
  return match?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** `first` wins; properties and what is required of them are joined. */
function merged(first: Fields, second: Fields): Fields {
  const properties = { ...object(second['properties']), ...object(first['properties']) };
  const required = [...new Set([...(list(first['required']) ?? []), ...(list(second['required']) ?? [])])];
  return {
    ...second,
    ...first,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** Lists of types, `null` among the choices and choices of one become what Gemini has for them. */
function withoutUnions(schema: Fields): Fields {
  let fields: Fields = { ...schema };
  if (fields['anyOf'] === undefined && fields['oneOf'] !== undefined) fields['anyOf'] = fields['oneOf'];
  if (fields['const'] !== undefined && fields['enum'] === undefined) fields['enum'] = [fields['const']];
  const types = list(fields['type']);
  if (types !== undefined) fields = withTypes(fields, types);
  const choices = list(fields['anyOf'])?.filter(isJsonObject);
  if (choices === undefined) return fields;
  const some = choices.filter((choice) => !isNull(choice));
  const { anyOf: _anyOf, ...rest } = fields;
  const nullable = some.length < choices.length ? { nullable: true } : {};
  const [only] = some;
  if (only === undefined) return { ...rest, ...nullable };
  if (some.length > 1) return { ...rest, anyOf: some, ...nullable };
  return withoutUnions({ ...only, ...rest, ...nullable });
}

function withTypes(fields: Fields, types: readonly JsonValue[]): Fields {
  const { type: _type, ...rest } = fields;
  const named = types.filter((type) => type !== 'null');
  const nullable = named.length < types.length ? { nullable: true } : {};
  const [only] = named;
  if (only === undefined) return { ...rest, ...nullable };
  if (named.length === 1) return { ...rest, type: only, ...nullable };
  if (rest['anyOf'] !== undefined) return { ...rest, ...nullable };
  const { items, properties, required, ...outer } = rest;
  const anyOf = named.map((type) => {
    if (type === 'array') return { type, ...(items === undefined ? {} : { items }) };
    if (type !== 'object') return { type };
    return {
      type,
      ...(properties === undefined ? {} : { properties }),
      ...(required === undefined ? {} : { required }),
    };
  });
  return { ...outer, anyOf, ...nullable };
}

function isNull(schema: JsonObject): boolean {
  return schema['type'] === 'null' || schema['const'] === null;
}

/** Every schema has a type, arrays have items, and only texts have choices and formats. */
function typed(schema: Fields): Fields {
  const fields: Fields = { ...schema };
  const choices = list(fields['enum']);
  if (fields['type'] === undefined && fields['anyOf'] === undefined) fields['type'] = typeOf(fields);
  if (choices !== undefined) {
    if (choices.includes(null)) fields['nullable'] = true;
    if (fields['type'] === 'string') fields['enum'] = choices.filter((choice) => choice !== null).map(String);
    else delete fields['enum'];
  }
  if (fields['type'] === 'array' && fields['items'] === undefined) fields['items'] = { type: 'object' };
  if (!FORMATS.has(text(fields['format']) ?? '')) delete fields['format'];
  const properties = object(fields['properties']);
  const required = list(fields['required'])?.filter(
    (name) => typeof name === 'string' && Object.hasOwn(properties ?? {}, name),
  );
  if (required === undefined || required.length === 0) delete fields['required'];
  else fields['required'] = required;
  return fields;
}

function typeOf(fields: Fields): string {
  if (fields['enum'] !== undefined) return 'string';
  return fields['items'] === undefined ? 'object' : 'array';
}
