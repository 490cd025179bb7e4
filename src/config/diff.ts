import { isDeepStrictEqual } from 'node:util';
import { REDACTED } from '../shared/secret.ts';
import { formatPath, type Path } from './load/problem.ts';
import { isSecret } from './schema/marks.ts';
import { root } from './schema/root.ts';
import { alternatives, candidates, childSchema, isMap } from './schema/walk.ts';
import type { z } from 'zod';

/** One place where two configurations differ. */
export interface Difference {
  readonly kind: 'added' | 'removed' | 'changed';
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What differs between two parsed configurations, in the order of their keys; values that are secret by the schema are redacted. */
export function diffConfigs(before: unknown, after: unknown): Difference[] {
  const differences: Difference[] = [];
  compare([root], { before: before ?? {}, after: after ?? {} }, []);
  return differences;

  function compare(
    schemas: readonly z.core.$ZodType[],
    pair: { readonly before: unknown; readonly after: unknown },
    path: Path,
  ): void {
    if (isDeepStrictEqual(pair.before, pair.after)) return;
    const keys = sharedKeys(pair.before, pair.after);
    if (keys === undefined || schemas.some((schema) => isSecretFor(schema, pair))) {
      differences.push(difference(schemas, pair, path));
      return;
    }
    for (const key of keys) {
      const children = [...childSchemas(schemas, pair.before, key), ...childSchemas(schemas, pair.after, key)];
      compare(children, { before: at(pair.before, key), after: at(pair.after, key) }, [...path, key]);
    }
  }
}

/** Keys of two maps, or positions of two lists; undefined when the values have no parts in common. */
function sharedKeys(before: unknown, after: unknown): readonly (string | number)[] | undefined {
  if (isMap(before) && isMap(after)) return [...new Set([...Object.keys(before), ...Object.keys(after)])];
  if (Array.isArray(before) && Array.isArray(after)) return [...Array(Math.max(before.length, after.length)).keys()];
  return undefined;
}

function difference(
  schemas: readonly z.core.$ZodType[],
  { before, after }: { readonly before: unknown; readonly after: unknown },
  path: Path,
): Difference {
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  return {
    kind,
    path: formatPath(path),
    ...(before === undefined ? {} : { before: redact(schemas, before) }),
    ...(after === undefined ? {} : { after: redact(schemas, after) }),
  };
}

function redact(schemas: readonly z.core.$ZodType[], value: unknown): unknown {
  if (schemas.some((schema) => isSecretValue(schema, value))) return REDACTED;
  if (Array.isArray(value)) return value.map((item, index) => redact(childSchemas(schemas, value, index), item));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redact(childSchemas(schemas, value, key), item)]),
  );
}

function childSchemas(schemas: readonly z.core.$ZodType[], value: unknown, key: string | number): z.core.$ZodType[] {
  return schemas.flatMap((schema) => candidates(schema, value)).flatMap((schema) => childSchema(schema, key) ?? []);
}

function isSecretFor(
  schema: z.core.$ZodType,
  { before, after }: { readonly before: unknown; readonly after: unknown },
): boolean {
  return isSecretValue(schema, before) || isSecretValue(schema, after);
}

function isSecretValue(schema: z.core.$ZodType, value: unknown): boolean {
  return [...alternatives(schema, value)].some(isSecret);
}

function at(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
