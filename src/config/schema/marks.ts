import { z } from 'zod';

/** Why a key, or some of its values, is refused although the schema knows it. */
export interface NotBuiltMark {
  /** What is missing, as the subject of "… is not built in this release". */
  readonly what: string;
  /** Which values are meant; without it the key itself. */
  readonly when?: (value: unknown) => boolean;
}

/** What a value has to agree with beyond its own form: names that the file declares, syntaxes with a reader of their own. */
export type CheckKind =
  | 'backend'
  | 'routeGroup'
  | 'service'
  | 'gateway'
  | 'regex'
  | 'host'
  | 'serviceHost'
  | 'mcpPlace'
  | 'openApiPlace'
  | 'address'
  | 'cel'
  | 'celFunctions';

const checkMarks = z.registry<{ readonly kind: CheckKind }>();
const notBuiltMarks = z.registry<NotBuiltMark>();
const secretMarks = z.registry<{ readonly secret: true; readonly unlessPath?: true }>();
const addressMarks = z.registry<{ readonly address: true }>();

/** Marks a key whose behaviour does not exist yet: it stays in the published schema and is refused at load. Building the feature means deleting this wrapper. */
export function notBuilt<S extends z.ZodType>(schema: S, what: string): z.ZodOptional<S> {
  const marked = schema.optional();
  notBuiltMarks.add(marked, { what });
  return marked;
}

/** Marks some values of a key (one word of an enumeration, one form of a union) as not built yet. */
export function notBuiltWhen<S extends z.ZodType>(schema: S, when: (value: unknown) => boolean, what: string): S {
  const marked = copyOf(schema);
  notBuiltMarks.add(marked, { what, when });
  return marked;
}

/** Marks a value that is never printed: differences and messages show it as redacted. */
export function secret<S extends z.ZodType>(schema: S): S {
  const marked = copyOf(schema);
  secretMarks.add(marked, { secret: true });
  return marked;
}

/** The same for a text that may be the path of a PEM file instead, which messages may name. */
export function secretPem<S extends z.ZodType>(schema: S): S {
  const marked = copyOf(schema);
  secretMarks.add(marked, { secret: true, unlessPath: true });
  return marked;
}

/** Marks an address: one that holds credentials, or values in its query, is not shown. */
export function address<S extends z.ZodType>(schema: S): S {
  const marked = copyOf(schema);
  addressMarks.add(marked, { address: true });
  return marked;
}

/** A user before the host, or a value in the query. */
const ADDRESS_CREDENTIALS = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#]*@|\?[^#]*=/i;

const headerMapMarks = z.registry<{ readonly headers: true }>();

/** Stands for the values that are secret by their key alone. */
export const SECRET_VALUE: z.ZodType = secret(z.unknown());

/** Marks a map of header names to values: those of headers that carry credentials are secret. */
export function headerMap<S extends z.ZodType>(schema: S): S {
  headerMapMarks.add(schema, { headers: true });
  return schema;
}

/** Whether an entry of a map is secret because its key is a header that carries credentials. */
export function isCredential(map: z.core.$ZodType, key: string): boolean {
  return headerMapMarks.has(map) && CREDENTIAL_HEADER.test(key);
}

const CREDENTIAL_HEADER =
  /^(authorization|proxy-authorization|cookie|set-cookie)$|token|secret|password|credential|api[-_]?key/i;

export function notBuiltMark(schema: z.core.$ZodType): NotBuiltMark | undefined {
  return notBuiltMarks.get(schema);
}

export function isSecret(schema: z.core.$ZodType): boolean {
  // Not `has`: a schema that was described since is a copy, which inherits the mark.
  return secretMarks.get(schema) !== undefined;
}

/** Whether messages may not show a value that stands at a schema. */
export function hides(schema: z.core.$ZodType, value: unknown): boolean {
  if (addressMarks.get(schema) !== undefined && typeof value === 'string' && ADDRESS_CREDENTIALS.test(value))
    return true;
  const mark = secretMarks.get(schema);
  if (mark === undefined) return false;
  return mark.unlessPath !== true || typeof value !== 'string' || value.includes('-----BEGIN');
}

/** Has values of this schema looked at by `load/check-value.ts`, whatever else is wrong around them. */
export function checked<S extends z.ZodType>(schema: S, kind: CheckKind): S {
  checkMarks.add(schema, { kind });
  return schema;
}

export function checkMark(schema: z.core.$ZodType): CheckKind | undefined {
  return checkMarks.get(schema)?.kind;
}

/** A schema of the same meaning that can be marked by itself. */
function copyOf<S extends z.ZodType>(schema: S): S {
  const copy = schema.clone() as S; // clone() is typed as the base class
  const description = schema.description;
  if (description !== undefined) z.globalRegistry.add(copy, { description });
  return copy;
}
