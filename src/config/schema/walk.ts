import { z } from 'zod';
import { checkMark, isCredential, SECRET_VALUE } from './marks.ts';

/** A schema without its wrappers: optional, default, nullable, lazy, and the input side of a transformation. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  for (const layer of layers(schema)) schema = layer;
  return schema;
}

/** The schema and what its wrappers hold, from the outside in. */
export function* layers(schema: z.core.$ZodType): Generator<z.core.$ZodType> {
  for (let current: z.core.$ZodType | undefined = schema; current !== undefined; current = inner(current))
    yield current;
}

function inner(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable
  )
    return schema.def.innerType;
  if (schema instanceof z.ZodPipe) return schema.def.in;
  if (schema instanceof z.ZodLazy) return schema.def.getter();
  return undefined;
}

/**
 * The schemas that a value may have: those of a union that fit its kind, the one that knows most of its keys first, else
 * the schema itself.
 */
export function candidates(schema: z.core.$ZodType, value: unknown): readonly z.core.$ZodType[] {
  const bare = unwrap(schema);
  if (!(bare instanceof z.ZodUnion)) return [bare];
  const fitting: z.core.$ZodType[] = bare.def.options
    .flatMap((option: z.core.$ZodType) => candidates(option, value))
    .filter((option: z.core.$ZodType) => fits(option, value));
  if (fitting.length < 2 || !isMap(value)) return fitting;
  return fitting.toSorted((left, right) => knownKeys(right, value) - knownKeys(left, value));
}

function knownKeys(schema: z.core.$ZodType, value: Readonly<Record<string, unknown>>): number {
  return Object.keys(value).filter((key) => childSchema(schema, key) !== undefined).length;
}

/** Every schema on the way to a value: the layers, and those of the alternatives that fit its kind. */
export function* alternatives(schema: z.core.$ZodType, value: unknown): Generator<z.core.$ZodType> {
  yield* layers(schema);
  const bare = unwrap(schema);
  if (!(bare instanceof z.ZodUnion)) return;
  for (const option of bare.def.options) {
    if (candidates(option, value).some((candidate) => fits(candidate, value))) yield* alternatives(option, value);
  }
}

/** Whether a text is meant as an expression: where it could be something else as well, such as a duration, it is that. */
export function isExpression(schema: z.core.$ZodType, value: unknown): value is string {
  if (typeof value !== 'string') return false;
  for (const layer of layers(schema)) if (checkMark(layer) === 'cel') return true;
  const bare = unwrap(schema);
  if (!(bare instanceof z.ZodUnion)) return false;
  const [expressions, others] = [true, false].map((wanted) =>
    bare.def.options.filter((option: z.core.$ZodType) => isExpression(option, value) === wanted),
  );
  return expressions?.length !== 0 && others?.every((option) => !z.safeParse(option, value).success) === true;
}

function fits(schema: z.core.$ZodType, value: unknown): boolean {
  if (schema instanceof z.ZodArray) return Array.isArray(value);
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) return isMap(value);
  return !Array.isArray(value) && !isMap(value);
}

/** The schema of a key of an object, of an entry of a record, of an element of a list. */
export function childSchema(schema: z.core.$ZodType, key: string | number): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject) return Object.hasOwn(schema.shape, key) ? schema.shape[key] : undefined;
  if (schema instanceof z.ZodRecord) return isCredential(schema, String(key)) ? SECRET_VALUE : schema.def.valueType;
  if (schema instanceof z.ZodArray) return schema.def.element;
  return undefined;
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
