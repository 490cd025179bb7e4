import type { Cidr, Ip } from './network.ts';

/**
 * The values of expressions. An int is a number while a JavaScript number holds it exactly and a bigint beyond (never the
 * other way round, so that equal ints are identical); a double is wrapped, as ints are far more frequent.
 */
export type Value =
  | null
  | boolean
  | string
  | number
  | bigint
  | Uint
  | Double
  | Uint8Array
  | readonly Value[]
  | CelMap
  | Duration
  | Timestamp
  | TypeName
  | Optional
  | Masked
  | Ip
  | Cidr
  | Flattened;

/** What evaluating gives: failures are values too, so that `&&` and `||` can pass over them without a catch. */
export type Result = Value | CelError;

export type Int = number | bigint;

/** The words that callers branch on; everything else is told by the message. */
export type ErrorKind = 'no_such_key' | 'undeclared' | 'overload' | 'limit' | 'failed';

/** A failed evaluation. Not an Error: it is made on paths that run per request, where stacks cost more than the request. */
export class CelError {
  readonly kind: ErrorKind;
  readonly message: string;
  /** Offset in the source of the expression that failed; -1 until it is known. */
  at = -1;

  constructor(kind: ErrorKind, message: string) {
    this.kind = kind;
    this.message = message;
  }
}

export function failure(message: string): CelError {
  return new CelError('failed', message);
}

/** Any map: literals, JSON objects, views over a request. Keys are strings, bools, ints and uints. */
export interface CelMap {
  readonly kind: 'map';
  readonly size: number;
  /** About as many entries as there are, told faster than `size`. */
  readonly weight: number;
  get(key: Value): Value | undefined;
  keys(): readonly Value[];
}

/** 64 bits without a sign. */
export class Uint {
  readonly kind = 'uint';
  /** A number while that is exact, else a bigint. */
  readonly value: Int;

  constructor(value: Int) {
    this.value = value;
  }
}

export class Double {
  readonly kind = 'double';
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export class Duration {
  readonly kind = 'duration';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Timestamp {
  readonly kind = 'timestamp';
  /** Since 1970-01-01T00:00:00Z. */
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class TypeName {
  readonly kind = 'type';
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export class Optional {
  readonly kind = 'optional';
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export const NONE = new Optional(undefined);

/** A credential: it prints as `<redacted>` and equals nothing; `unredacted()` opens it. */
export class Masked {
  readonly kind = 'secret';
  readonly reveal: () => string;

  constructor(reveal: () => string) {
    this.reveal = reveal;
  }
}

/** What `flatten` makes: in logs it expands to one field per entry. */
export class Flattened {
  readonly kind = 'flattened';
  readonly value: CelMap | readonly Value[];
  readonly recursive: boolean;

  constructor(value: CelMap | readonly Value[], recursive: boolean) {
    this.value = value;
    this.recursive = recursive;
  }
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isMap(value: Value): value is CelMap {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'map';
}

export function isBytes(value: Value): value is Uint8Array {
  return value instanceof Uint8Array;
}

export function isInt(value: Value): value is Int {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** The name of a value's type, as `type()` and messages tell it. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'number':
    case 'bigint':
      return 'int';
    default:
      break;
  }
  if (value === null) return 'null_type';
  if (isList(value)) return 'list';
  if (isBytes(value)) return 'bytes';
  switch (value.kind) {
    case 'duration':
      return 'google.protobuf.Duration';
    case 'timestamp':
      return 'google.protobuf.Timestamp';
    case 'optional':
      return 'optional_type';
    case 'secret':
      return 'secret';
    case 'ip':
      return 'net.IP';
    case 'cidr':
      return 'net.CIDR';
    case 'flattened':
      return 'map';
    default:
      return value.kind;
  }
}

/** No function or operator of that name takes these types. */
export function noOverload(what: string, ...args: readonly Value[]): CelError {
  return new CelError('overload', `no such overload: ${what}(${args.map(typeName).join(', ')})`);
}

export function noSuchKey(key: string): CelError {
  return new CelError('no_such_key', `no such key: ${key}`);
}
