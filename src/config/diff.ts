import { isDeepStrictEqual } from 'node:util';
import { credentialHeaders, hideCredentials, isCredentialParameter, isHeaderModifier } from '../shared/credentials.ts';
import { REDACTED } from '../shared/secret.ts';
import { formatPath, type Path } from './load/problem.ts';
import { hides, isSecret } from './schema/marks.ts';
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

/**
 * What differs between two parsed configurations, in the order of their keys; values that are secret by the schema or by
 * the name of their header are redacted.
 */
export function diffConfigs(before: unknown, after: unknown): Difference[] {
  const differences: Difference[] = [];
  const isSensitive = sensitiveNames(before, after);
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
      differences.push(withoutCredentials(difference(schemas, pair, path), path, isSensitive));
      return;
    }
    for (const key of keys) {
      if (holdsCredential(pair, [...path, key], isSensitive)) {
        const children = { before: at(pair.before, key), after: at(pair.after, key) };
        if (!isDeepStrictEqual(children.before, children.after)) differences.push(hidden(children, [...path, key]));
        continue;
      }
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

interface Pair {
  readonly before: unknown;
  readonly after: unknown;
}

type IsSensitive = (name: string) => boolean;

/** The well-known names, and those that either configuration adds. */
function sensitiveNames(...configs: readonly unknown[]): IsSensitive {
  const own = configs.flatMap((config) => {
    const names = at(at(config, 'config'), 'sensitiveHeaders');
    return Array.isArray(names) ? names.map((name) => String(name).toLowerCase()) : [];
  });
  const headers = new Set([...credentialHeaders, ...own]);
  return (name) => headers.has(name.toLowerCase()) || isCredentialParameter(name);
}

/** What a header modifier writes under the last key of the path, or what a match compares with there. */
function holdsCredential({ before, after }: Pair, path: Path, isSensitive: IsSensitive): boolean {
  const [modifier, part, key] = [path.at(-3), path.at(-2), path.at(-1)];
  if (key === 'value') return [before, after].some((item) => isSensitive(String(at(item, 'name'))));
  const writes = typeof modifier === 'string' && isHeaderModifier(modifier) && (part === 'add' || part === 'set');
  return writes && isSensitive(String(key));
}

function hidden(pair: Pair, path: Path): Difference {
  const found = difference([], pair, path);
  return {
    ...found,
    ...('before' in found ? { before: REDACTED } : {}),
    ...('after' in found ? { after: REDACTED } : {}),
  };
}

/** For parts that were added or removed whole. */
function withoutCredentials(found: Difference, path: Path, isSensitive: IsSensitive): Difference {
  const [above, key] = [String(path.at(-2)), String(path.at(-1))];
  // Shown below its key, as `add` and `set` mean headers only inside of a modifier.
  const shown = (value: unknown): unknown => at(hideCredentials({ [key]: value }, isSensitive, above), key);
  return {
    ...found,
    ...('before' in found ? { before: shown(found.before) } : {}),
    ...('after' in found ? { after: shown(found.after) } : {}),
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
  return [...alternatives(schema, value)].some((each) => isSecret(each) || hides(each, value));
}

function at(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
