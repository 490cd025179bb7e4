import { Ajv, type ValidateFunction } from 'ajv';

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, Schema>>;

export const text: Schema = { type: 'string' };
export const filled: Schema = { type: 'string', minLength: 1 };
export const number: Schema = { type: 'number' };
export const integer: Schema = { type: 'integer' };
export const count: Schema = { type: 'integer', minimum: 0 };
export const bool: Schema = { type: 'boolean' };
export const anyObject: Schema = { type: 'object' };
export const anything: Schema = {};

export function list(items: Schema, limits: Schema = {}): Schema {
  return { type: 'array', items, ...limits };
}

export function between(minimum: number, maximum: number): Schema {
  return { type: 'number', minimum, maximum };
}

export function oneOf(...values: readonly unknown[]): Schema {
  return { enum: values };
}

export function either(...schemas: readonly Schema[]): Schema {
  return { anyOf: schemas };
}

export function nullable(schema: Schema): Schema {
  return { anyOf: [{ type: 'null' }, schema] };
}

export function mapOf(values: Schema): Schema {
  return { type: 'object', additionalProperties: values };
}

/** Nothing but these fields. */
export function fields(required: Fields, optional: Fields = {}): Schema {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

/** Objects that are told apart by one field. */
export function byField(name: string, variants: Readonly<Record<string, Schema>>): Schema {
  const options = Object.entries(variants).map(([value, schema]) => ({
    ...schema,
    // `as`: made by `fields`, or free.
    properties: { ...(schema['properties'] as Fields | undefined), [name]: { const: value } },
    required: [...((schema['required'] as readonly string[] | undefined) ?? []), name],
  }));
  return { type: 'object', required: [name], discriminator: { propertyName: name }, oneOf: options };
}

/** Exactly one of these fields. */
export function onlyOne(variants: Fields): Schema {
  return { ...fields({}, variants), minProperties: 1, maxProperties: 1 };
}

/** Null for what fits; otherwise what is wrong, as `path message`. */
export type Check = (value: unknown) => string | null;

export function check(schema: Schema, definitions: Fields = {}): Check {
  const ajv = new Ajv({ strict: false, discriminator: true, allErrors: false });
  const validate = ajv.compile({ ...schema, $defs: definitions });
  return (value) => (validate(value) ? null : problem(validate));
}

function problem({ errors }: ValidateFunction): string {
  const [first] = (errors ?? []).toSorted((left, right) => right.instancePath.length - left.instancePath.length);
  if (first === undefined) return 'invalid request';
  const extra = first.params['additionalProperty'];
  const what = extra === undefined ? first.message : `unknown field ${String(extra)}`;
  return `${first.instancePath === '' ? '(root)' : first.instancePath} ${what}`;
}
