import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import { type Components, referenceOf } from './components.ts';
import { unusable } from './problem.ts';

/** Schemas inside schemas, by the keywords that have them. */
const ONE: ReadonlySet<string> = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const MAPS: ReadonlySet<string> = new Set(['dependentSchemas', 'patternProperties', 'properties']);
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
/** Beside a reference, they speak of the place that refers. */
const NOTES: ReadonlySet<string> = new Set(['default', 'deprecated', 'description', 'examples', 'title']);

/** Levels of one tool's schema; deeper ones are only outlined. */
const MAX_DEPTH = 48;
/** Schemas inside one tool's schema, counted as they are written out. */
const MAX_SCHEMAS = 5_000;

interface Inlined {
  readonly schema: JsonValue;
  readonly count: number;
}

/**
 * Writes schemas out: without references, in the words of JSON Schema. One that contains itself is outlined where it comes
 * back: type, title and description, which leaves it open what is inside. So is what goes beyond a size that no reader wants.
 */
export class Schemas {
  readonly #components: Components;
  /** Whole expansions by reference: nothing in them depends on where they stand. */
  readonly #known = new Map<string, Inlined>();
  readonly #open = new Set<string>();
  #place = '';
  #left = 0;
  /** Places that were outlined so far. */
  #outlined = 0;

  constructor(components: Components) {
    this.#components = components;
  }

  /** Throws where a reference leads nowhere, and for what is no schema. */
  inline(schema: JsonValue, place: string): JsonValue {
    this.#place = place;
    this.#left = MAX_SCHEMAS;
    this.#open.clear();
    return this.#schema(schema, 0);
  }

  #schema(schema: JsonValue, depth: number): JsonValue {
    this.#left--;
    if (typeof schema === 'boolean') return schema;
    if (!isJsonObject(schema)) throw unusable(this.#place, 'a schema is an object or a boolean');
    const reference = referenceOf(schema);
    if (reference !== null) return this.#referring(schema, reference, depth);
    return depth >= MAX_DEPTH || this.#left <= 0 ? this.#outline(schema) : this.#members(schema, depth);
  }

  #referring(schema: JsonObject, reference: string, depth: number): JsonValue {
    const target = this.#referenced(reference, depth);
    const besides = Object.entries(schema).filter(([name]) => name !== '$ref');
    if (besides.length === 0) return target;
    if (isJsonObject(target) && besides.every(([name]) => NOTES.has(name)))
      return Object.fromEntries([...Object.entries(target), ...besides]);
    const own = this.#members(schema, depth);
    const others = Array.isArray(own.allOf) ? own.allOf : [];
    return Object.fromEntries([...Object.entries(own), ['allOf', [target, ...others]]]);
  }

  #referenced(reference: string, depth: number): JsonValue {
    const known = this.#known.get(reference);
    if (known !== undefined && known.count <= this.#left) {
      this.#left -= known.count;
      return known.schema;
    }
    const target = this.#components.find(reference, this.#place);
    if (known !== undefined || this.#open.has(reference)) return this.#outline(target);
    const before = { left: this.#left, outlined: this.#outlined };
    this.#open.add(reference);
    const schema = this.#schema(target, depth + 1);
    this.#open.delete(reference);
    if (before.outlined === this.#outlined) this.#known.set(reference, { schema, count: before.left - this.#left });
    return schema;
  }

  /** What can be said without going inside. Throws for references that lead to each other and to nothing else. */
  #outline(schema: JsonValue): JsonValue {
    this.#outlined++;
    if (typeof schema === 'boolean') return schema;
    const target = this.#components.resolve(schema, this.#place);
    const { type, title, description } = target;
    const told = { type: nullable(target, type), title, description };
    return Object.fromEntries(
      Object.entries(told).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  }

  #members(schema: JsonObject, depth: number): JsonObject {
    const members: [string, JsonValue][] = [];
    for (const [name, value] of Object.entries(schema)) {
      if (DROPPED.has(name) || name.startsWith('x-')) continue;
      members.push([name, this.#member(schema, { name, value }, depth)]);
    }
    return Object.fromEntries(members.flatMap((each) => bounds(schema, each)));
  }

  #member(schema: JsonObject, { name, value }: { name: string; value: JsonValue }, depth: number): JsonValue {
    if (name === 'type') return nullable(schema, value) ?? value;
    if (name === 'enum' && schema.nullable === true && Array.isArray(value) && !value.includes(null))
      return [...value, null];
    if (ONE.has(name)) return this.#schema(value, depth + 1);
    if (LISTS.has(name) && Array.isArray(value)) return value.map((each) => this.#schema(each, depth + 1));
    if (MAPS.has(name) && isJsonObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#schema(each, depth + 1)]));
    return value;
  }
}

/** OpenAPI 3.0 has a word of its own for what may be null. */
function nullable(schema: JsonObject, type: JsonValue | undefined): JsonValue | undefined {
  return schema.nullable === true && typeof type === 'string' && type !== 'null' ? [type, 'null'] : type;
}

/** Exclusive bounds are flags in OpenAPI 3.0, and numbers in JSON Schema. */
function bounds(schema: JsonObject, [name, value]: [string, JsonValue]): [string, JsonValue][] {
  const bound = name === 'exclusiveMinimum' ? schema.minimum : schema.maximum;
  if ((name === 'exclusiveMinimum' || name === 'exclusiveMaximum') && typeof value === 'boolean')
    return value && bound !== undefined ? [[name, bound]] : [];
  return [[name, value]];
}
