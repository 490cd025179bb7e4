import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts';

/** What a field is filled with: words, a number, one of several values, or JSON. */
export type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json' | 'any';

export interface Choice {
  readonly label: string;
  readonly value: JsonValue;
}

/** One property of a JSON Schema as a person fills it in. */
export interface Field {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly kind: FieldKind;
  /** The type in a few words, such as `integer 1…100`. */
  readonly type: string;
  readonly required: boolean;
  /** Null is a value, too. */
  readonly nullable: boolean;
  readonly choices: readonly Choice[];
  readonly schema: JsonObject;
}

/** The fields of an object's schema, in its order; whatever is no schema is a field that takes anything. */
export function fieldsOf(schema: JsonObject | undefined): readonly Field[] {
  const properties = objectIn(schema, 'properties');
  const listed: JsonValue | undefined = schema?.['required'];
  const required: readonly JsonValue[] = Array.isArray(listed) ? listed : [];
  const names = [...Object.keys(properties), ...required.filter((name) => typeof name === 'string')];
  return [...new Set(names)].map((name) => {
    const written = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const outer = isJsonObject(written) ? written : {};
    return fieldOf(name, resolved(outer, schema ?? {}), required.includes(name));
  });
}

interface Resolved {
  readonly schema: JsonObject;
  readonly nullable: boolean;
}

function fieldOf(name: string, { schema, nullable }: Resolved, required: boolean): Field {
  const choices = choicesOf(schema);
  const kind = choices.length > 0 ? 'choice' : kindOf(schema['type']);
  return {
    name,
    title: textIn(schema, 'title'),
    description: textIn(schema, 'description'),
    kind,
    type: typeWords(kind, schema),
    required,
    nullable: nullable || typesOf(schema['type']).includes('null'),
    choices,
    schema,
  };
}

/** Follows a reference within the schema, and goes into the only branch that is not null. */
function resolved(outer: JsonObject, root: JsonObject): Resolved {
  const here = { ...referred(outer, root), ...outer };
  const branches = [here['anyOf'], here['oneOf']].find((each) => Array.isArray(each));
  if (!Array.isArray(branches)) return { schema: here, nullable: false };
  const objects: readonly JsonObject[] = branches.filter(isJsonObject);
  const others = objects.filter((branch) => branch['type'] !== 'null');
  const [only] = others;
  if (only === undefined || others.length > 1) return { schema: here, nullable: others.length < objects.length };
  return { schema: { ...referred(only, root), ...only, ...here }, nullable: others.length < objects.length };
}

function referred(schema: JsonObject, root: JsonObject): JsonObject {
  const path = textIn(schema, '$ref');
  if (path === undefined || !path.startsWith('#/')) return {};
  let found: JsonValue | undefined = root;
  for (const step of path.slice(2).split('/'))
    found = isJsonObject(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  return isJsonObject(found) ? found : {};
}

/** `enum` with its `enumNames`, or alternatives that are each one value. */
function choicesOf(schema: JsonObject): readonly Choice[] {
  const listed: JsonValue | undefined = schema['enum'];
  if (Array.isArray(listed)) {
    const names: JsonValue | undefined = schema['enumNames'];
    return listed.map((value: JsonValue, at) => {
      const name: JsonValue | undefined = Array.isArray(names) ? names[at] : undefined;
      return { value, label: typeof name === 'string' ? name : wordFor(value) };
    });
  }
  const alternatives = [schema['oneOf'], schema['anyOf']].find((each) => Array.isArray(each));
  if (!Array.isArray(alternatives)) return [];
  const objects: readonly JsonObject[] = alternatives.filter(isJsonObject);
  if (objects.length === 0 || objects.some((each) => !Object.hasOwn(each, 'const'))) return [];
  return objects.map((each) => {
    const value = each['const'] ?? null;
    return { value, label: textIn(each, 'title') ?? wordFor(value) };
  });
}

/** A value as a person reads it: texts without quotes. */
export function wordFor(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function kindOf(type: JsonValue | undefined): FieldKind {
  const types = typesOf(type).filter((each) => each !== 'null');
  if (types.length === 0) return 'any';
  if (types.includes('string')) return 'text';
  if (types.length > 1) return 'any';
  const [only] = types;
  if (only === 'number' || only === 'integer' || only === 'boolean') return only;
  return 'json';
}

function typesOf(type: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(type)) return type;
  return type === undefined ? [] : [type];
}

function typeWords(kind: FieldKind, schema: JsonObject): string {
  if (kind === 'choice') return 'one of';
  if (kind === 'any') return 'any value';
  if (kind === 'number' || kind === 'integer') return [kind, rangeOf(schema)].filter(Boolean).join(' ');
  if (kind === 'text') return textIn(schema, 'format') ?? 'text';
  if (kind === 'boolean') return 'yes or no';
  return schema['type'] === 'array' ? 'JSON list' : 'JSON object';
}

function rangeOf(schema: JsonObject): string {
  const { minimum, maximum } = schema;
  // What libraries write where there is no limit is no news.
  const shown = (value: JsonValue | undefined): string =>
    typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? String(value) : '';
  const [from, to] = [shown(minimum), shown(maximum)];
  return from === '' && to === '' ? '' : `${from}…${to}`;
}

function objectIn(object: JsonObject | undefined, key: string): JsonObject {
  const value = object?.[key];
  return isJsonObject(value) ? value : {};
}

function textIn(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
