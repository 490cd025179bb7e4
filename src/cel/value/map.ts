import { rawNumber } from '../../shared/raw-number.ts';
import { uint } from './number.ts';
import { CelError, Double, failure, Uint, type CelMap, type Value } from './value.ts';

/** What may stand as a key of a literal or a macro's map. */
export type Key = string | boolean | number | bigint;

/** The one form under which equal keys meet (1, 1u and 1.0 are the same key); undefined for what can't be a key. */
export function keyOf(value: Value): Key | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'bigint':
      return value;
    default:
      break;
  }
  if (value instanceof Uint) return value.value;
  if (value instanceof Double) {
    if (Number.isSafeInteger(value.value)) return value.value + 0;
    return Number.isInteger(value.value) ? BigInt(value.value) : undefined;
  }
  return undefined;
}

/** A map that an expression built. */
export class BuiltMap implements CelMap {
  readonly kind = 'map';
  readonly #entries = new Map<Key, { readonly key: Value; readonly value: Value }>();

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    const normal = keyOf(key);
    return normal === undefined ? undefined : this.#entries.get(normal)?.value;
  }

  keys(): readonly Value[] {
    return Array.from(this.#entries.values(), (entry) => entry.key);
  }

  /** Adds an entry whose key must be new; returns what is wrong with it. */
  add(key: Value, value: Value): CelError | null {
    const normal = keyOf(key);
    if (normal === undefined || key instanceof Double) return failure('unsupported key type');
    if (this.#entries.has(normal)) return failure(`repeated key: ${String(normal)}`);
    this.#entries.set(normal, { key, value });
    return null;
  }

  /** Adds or replaces. */
  put(key: Value, value: Value): void {
    const normal = keyOf(key);
    if (normal !== undefined) this.#entries.set(normal, { key, value });
  }
}

/** A map with text keys over a record of values that are ready. */
export class RecordMap implements CelMap {
  readonly kind = 'map';
  readonly weight = 8;
  readonly #record: Readonly<Record<string, Value | undefined>>;

  constructor(record: Readonly<Record<string, Value | undefined>>) {
    this.#record = record;
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: Value): Value | undefined {
    return typeof key === 'string' && Object.hasOwn(this.#record, key) ? this.#record[key] : undefined;
  }

  keys(): readonly string[] {
    return Object.keys(this.#record).filter((key) => this.#record[key] !== undefined);
  }
}

/** Reads one field of what a view is over; undefined while there is none. */
export type FieldReader<C> = (over: C) => Value | undefined;
export type FieldReaders<C> = Readonly<Record<string, FieldReader<C>>>;

/** Fields that are read when they are asked for. */
export class ViewMap<C> implements CelMap {
  readonly kind = 'map';
  readonly weight = 16;
  readonly #fields: FieldReaders<C>;
  readonly #over: C;

  constructor(fields: FieldReaders<C>, over: C) {
    this.#fields = fields;
    this.#over = over;
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: Value): Value | undefined {
    return typeof key === 'string' && Object.hasOwn(this.#fields, key) ? this.#fields[key]?.(this.#over) : undefined;
  }

  keys(): readonly string[] {
    return Object.keys(this.#fields).filter((key) => this.#fields[key]?.(this.#over) !== undefined);
  }
}

/** What `JSON.parse` gives. */
export type Json = null | boolean | number | string | readonly Json[] | JsonRecord;
export interface JsonRecord {
  readonly [key: string]: Json;
}

/** A JSON object; its values are converted when they are read. */
export class JsonMap implements CelMap {
  readonly kind = 'map';
  readonly #record: JsonRecord;

  #keys: readonly string[] | null = null;

  constructor(record: JsonRecord) {
    this.#record = record;
  }

  get size(): number {
    return this.keys().length;
  }

  get weight(): number {
    return this.keys().length;
  }

  get(key: Value): Value | undefined {
    return typeof key === 'string' && Object.hasOwn(this.#record, key) ? fromJson(this.#record[key]) : undefined;
  }

  keys(): readonly string[] {
    return (this.#keys ??= Object.keys(this.#record));
  }
}

/** A JSON number is an int when it is whole and fits one, else a uint, else a double. */
export function fromJson(json: Json | undefined): Value | undefined {
  if (typeof json === 'string' || typeof json === 'boolean' || json === null || json === undefined) return json;
  if (typeof json === 'number') return fromJsonNumber(json);
  if (!isJsonList(json)) return fromJsonObject(json);
  if (json.length > SHORT_LIST) return convertedOnce(json);
  return fromJsonList(json);
}

/** Lists of texts, the most frequent ones, are values as they are. */
function fromJsonList(json: readonly Json[]): readonly Value[] {
  return json.every(isPlain) ? json : json.map((item) => fromJson(item) ?? null);
}

const SHORT_LIST = 32;
/** Long lists may be read in a loop: they are converted once. */
const converted = new WeakMap<readonly Json[], readonly Value[]>();

function convertedOnce(json: readonly Json[]): readonly Value[] {
  const known = converted.get(json);
  if (known !== undefined) return known;
  const made = fromJsonList(json);
  converted.set(json, made);
  return made;
}

function isPlain(json: Json): json is string | boolean | null {
  return typeof json !== 'number' && (typeof json !== 'object' || json === null);
}

/** A number that a JavaScript number does not hold is an object of its own. */
function fromJsonObject(json: JsonRecord): Value {
  const raw = rawNumber(json);
  if (raw === undefined) return new JsonMap(json);
  if (!/^-?\d+$/.test(raw) || raw.length > MAX_DIGITS) return new Double(Number(raw));
  const whole = BigInt(raw);
  if (whole >= MIN_INT && whole <= MAX_INT) return Number.isSafeInteger(Number(raw)) ? Number(raw) : whole;
  return whole > 0n && whole <= MAX_UINT ? uint(whole) : new Double(Number(raw));
}

/** Of a whole number of 64 bits, with its sign. */
const MAX_DIGITS = 20;
const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

function fromJsonNumber(number: number): Value {
  if (Number.isSafeInteger(number)) return number + 0;
  if (!Number.isInteger(number)) return new Double(number);
  if (number < 9223372036854775808 && number >= -9223372036854775808) return BigInt(number);
  return number > 0 && number < 18446744073709551616 ? uint(BigInt(number)) : new Double(number);
}

function isJsonList(json: readonly Json[] | JsonRecord): json is readonly Json[] {
  return Array.isArray(json);
}
