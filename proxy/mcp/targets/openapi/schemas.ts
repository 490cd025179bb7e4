import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import type { Components } from './components.ts';
import { bounds, isMeant, nullable } from './keywords.ts';
import { unusable } from './problem.ts';
import { ownerOf, referenceOf } from './reference.ts';

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
/** Beside a reference, they speak of the place that refers. */
const NOTES: ReadonlySet<string> = new Set(['default', 'deprecated', 'description', 'examples', 'title']);

/** Levels of one tool's schema; deeper ones are only outlined. */
const MAX_DEPTH = 48;
/** Schemas inside one tool's schema, counted as they are written out. */
const MAX_SCHEMAS = 5_000;
/** The same, of its definitions. */
const MAX_DEFINED = 1_000;

interface Inlined {
  readonly schema: JsonValue;
  readonly count: number;
  /** References to what contains itself. */
  readonly needs: ReadonlySet<string>;
}

/**
 * Writes schemas of requests out: without references, in the words of JSON Schema, without what only answers have. What
 * contains itself becomes a definition of the tool's schema, and what goes beyond a size that no reader wants is outlined:
 * type, title and description, which leaves it open what is inside.
 */
export class Schemas {
  readonly #components: Components;
  /** Whole expansions by reference: nothing in them depends on where they stand. */
  readonly #known = new Map<string, Inlined>();
  readonly #definitions = new Map<string, Inlined>();
  readonly #keys = new Map<string, string>();
  /** How often a key would have been given. */
  readonly #spellings = new Map<string, number>();
  #place = '';
  #left = 0;
  #needs = new Set<string>();
  /** Places that were outlined so far. */
  #outlined = 0;

  constructor(components: Components) {
    this.#components = components;
  }

  /** What is inlined from here on belongs to one tool. */
  begin(): void {
    this.#needs = new Set();
  }

  /** Throws where a reference leads nowhere, and for what is no schema. */
  inline(schema: JsonValue, place: string): JsonValue {
    this.#place = place;
    this.#left = MAX_SCHEMAS;
    const reference = isJsonObject(schema) ? referenceOf(schema) : null;
    // What a body is stands where readers look first, though it comes back inside itself.
    if (reference !== null && this.#isCyclic(reference))
      return this.#schema(this.#components.resolve(schema, place), 0);
    return this.#schema(schema, 0);
  }

  /** What the schemas of the tool refer to; undefined where there is nothing. */
  definitions(): JsonObject | undefined {
    const written = new Map<string, JsonValue>();
    let left = MAX_DEFINED;
    // The set grows while it is walked.
    for (const reference of this.#needs) {
      const { schema, count, needs } = this.#definition(reference);
      const fits = count <= left;
      written.set(this.#keyOf(reference), fits ? schema : this.#outline(this.#components.find(reference, this.#place)));
      if (!fits) continue;
      left -= count;
      for (const need of needs) this.#needs.add(need);
    }
    return written.size === 0 ? undefined : Object.fromEntries(written);
  }

  #definition(reference: string): Inlined {
    const known = this.#definitions.get(reference);
    if (known !== undefined) return known;
    const target = this.#components.find(reference, this.#place);
    // Those that lead to each other and to nothing else are none.
    if (isJsonObject(target)) this.#components.resolve(target, this.#place);
    this.#left = MAX_DEFINED;
    const inlined = this.#apart(() => this.#schema(target, 0));
    this.#definitions.set(reference, inlined);
    return inlined;
  }

  /** With a record of its own of what it needs. */
  #apart(write: () => JsonValue): Inlined {
    const [outer, before] = [this.#needs, this.#left];
    const needs = (this.#needs = new Set());
    const schema = write();
    this.#needs = outer;
    return { schema, count: before - this.#left, needs };
  }

  #isCyclic(reference: string): boolean {
    const owner = ownerOf(reference);
    return owner !== null && this.#components.cyclic.has(owner);
  }

  /** Its name among the definitions. */
  #keyOf(reference: string): string {
    const known = this.#keys.get(reference);
    if (known !== undefined) return known;
    const name = reference.replace(/^.*\//, '').replaceAll(/[^A-Za-z0-9_.-]/g, '_');
    const before = this.#spellings.get(name) ?? 0;
    this.#spellings.set(name, before + 1);
    const key = before === 0 ? name : `${name}:${before + 1}`;
    this.#keys.set(reference, key);
    return key;
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
      return Object.fromEntries([
        ...Object.entries(target),
        ...besides.filter(([name, value]) => isMeant(name, value)),
      ]);
    const own = this.#members(schema, depth);
    const others = Array.isArray(own.allOf) ? own.allOf : [];
    return Object.fromEntries([...Object.entries(own), ['allOf', [target, ...others]]]);
  }

  #referenced(reference: string, depth: number): JsonValue {
    const target = this.#components.find(reference, this.#place);
    if (this.#isCyclic(reference)) {
      this.#needs.add(reference);
      return { $ref: `#/$defs/${this.#keyOf(reference)}` };
    }
    const known = this.#known.get(reference);
    if (known !== undefined && known.count > this.#left) return this.#outline(target);
    if (known !== undefined) this.#left -= known.count;
    const inlined = known ?? this.#expanded(reference, target, depth);
    for (const need of inlined.needs) this.#needs.add(need);
    return inlined.schema;
  }

  #expanded(reference: string, target: JsonValue, depth: number): Inlined {
    const outlined = this.#outlined;
    const inlined = this.#apart(() => this.#schema(target, depth + 1));
    if (outlined === this.#outlined) this.#known.set(reference, inlined);
    return inlined;
  }

  /** What can be said without going inside. Throws for references that lead to each other and to nothing else. */
  #outline(schema: JsonValue): JsonValue {
    this.#outlined++;
    if (typeof schema === 'boolean') return schema;
    const target = this.#components.resolve(schema, this.#place);
    const { type, title, description } = target;
    const told: JsonObject = {
      type: nullable(target, type) ?? null,
      title: title ?? null,
      description: description ?? null,
    };
    return Object.fromEntries(Object.entries(told).filter(([name, value]) => value !== null && isMeant(name, value)));
  }

  #members(schema: JsonObject, depth: number): JsonObject {
    const members: [string, JsonValue][] = [];
    const answered = this.#answered(schema);
    for (const [name, value] of Object.entries(schema)) {
      for (const [word, said] of bounds(schema, [name, value])) {
        const asked = word === 'required' || word === 'properties' ? without(said, answered) : said;
        if (isMeant(word, asked)) members.push([word, this.#member(schema, { name: word, value: asked }, depth)]);
      }
    }
    return Object.fromEntries(members);
  }

  /** Properties that requests do not have. */
  #answered({ properties }: JsonObject): ReadonlySet<string> {
    if (!isJsonObject(properties)) return new Set();
    const isAnswered = (value: JsonValue): boolean => {
      if (!isJsonObject(value)) return false;
      const reference = referenceOf(value);
      const target = reference === null ? value : this.#components.find(reference, this.#place);
      return value.readOnly === true || (isJsonObject(target) && target.readOnly === true);
    };
    return new Set(Object.keys(properties).filter((name) => isAnswered(properties[name] ?? null)));
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

/** Of names, or of what goes by names. */
function without(value: JsonValue, names: ReadonlySet<string>): JsonValue {
  if (names.size === 0) return value;
  if (Array.isArray(value)) return value.filter((each) => typeof each !== 'string' || !names.has(each));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
}
