import { z } from 'zod';
import type { Names } from '../normalize/names.ts';
import { checkMark, notBuiltMark } from '../schema/marks.ts';
import { REMOVED_KEYS } from '../schema/process.ts';
import { candidates, childSchema, isExpression, isMap, layers } from '../schema/walk.ts';
import { checkValue } from './check-value.ts';
import { formatPath, type Path, type Problem } from './problem.ts';
import { nearest } from './suggest.ts';
import { isCollected, type CheckedText } from './texts.ts';

export interface Screened {
  /** The value without the keys that were refused, and without keys that hold nothing. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Paths of objects that lost a key: what misses there may be what was refused. */
  readonly thinned: ReadonlySet<string>;
  /** Texts met whose readers are loaded only when there are some. */
  readonly texts: readonly CheckedText[];
}

/**
 * Looks at the keys before the schema looks at the values: unknown, removed and not yet built ones are told and taken out,
 * so that the rest of the file is still checked in one go. On the way, names and addresses are checked by themselves.
 */
export function screen(schema: z.core.$ZodType, value: unknown, names: Names): Screened {
  const problems: Problem[] = [];
  const thinned = new Set<string>();
  const texts: CheckedText[] = [];
  return { value: visit(schema, value, []), problems, thinned, texts };

  function visit(at: z.core.$ZodType, current: unknown, path: Path): unknown {
    const options = candidates(at, current);
    if (Array.isArray(current)) {
      const list = options.find((option) => option instanceof z.ZodArray);
      return list === undefined ? current : current.map((item, index) => child(list, index, item, path));
    }
    if (!isMap(current)) return current;
    const map = options.find((option) => option instanceof z.ZodObject || option instanceof z.ZodRecord);
    return map === undefined ? current : visitMap(map, current, path);
  }

  function visitMap(map: z.core.$ZodType, current: Readonly<Record<string, unknown>>, path: Path): unknown {
    const kept: [string, unknown][] = [];
    for (const [key, item] of Object.entries(current)) {
      const known = childSchema(map, key);
      if (known === undefined) refuse([...path, key], unknownKey(map, key, path));
      else if (item !== null || map instanceof z.ZodRecord || takesNull(known))
        kept.push([key, child(map, key, item, path)]);
    }
    return Object.fromEntries(kept.filter(([, item]) => item !== undefined));
  }

  function child(parent: z.core.$ZodType, key: string | number, item: unknown, path: Path): unknown {
    const schemaOfChild = childSchema(parent, key);
    const childPath = [...path, key];
    if (schemaOfChild === undefined) return item;
    if (isExpression(schemaOfChild, item)) texts.push({ kind: 'cel', path: childPath, source: item });
    for (const layer of layers(schemaOfChild)) {
      check(layer, item, childPath);
      const mark = notBuiltMark(layer);
      if (mark === undefined || mark.when?.(item) === false) continue;
      refuse(childPath, {
        code: 'GW_CONFIG_NOT_BUILT',
        message: `${mark.what} is not built in this release`,
        atKey: mark.when === undefined,
      });
      return undefined;
    }
    return visit(schemaOfChild, item, childPath);
  }

  function check(layer: z.core.$ZodType, item: unknown, path: Path): void {
    const kind = checkMark(layer);
    if (kind === undefined || kind === 'cel') return;
    if (isCollected(kind)) {
      if (typeof item === 'string') texts.push({ kind, path, source: item });
    } else problems.push(...checkValue(kind, item, { path, names }));
  }

  function refuse(path: Path, problem: Omit<Problem, 'path'>): void {
    problems.push({ path, ...problem });
    thinned.add(formatPath(path.slice(0, -1)));
  }
}

function unknownKey(map: z.core.$ZodType, key: string, path: Path): Omit<Problem, 'path'> {
  const removed = REMOVED_KEYS[formatPath([...path, key])];
  if (removed !== undefined) return { code: 'GW_CONFIG_REMOVED', message: removed, atKey: true };
  const known = map instanceof z.ZodObject ? Object.keys(map.shape) : [];
  const near = nearest(key, known);
  const hint =
    near === undefined
      ? known.length === 0
        ? 'it takes no keys'
        : `known keys: ${known.join(', ')}`
      : `did you mean \`${near}\`?`;
  return { code: 'GW_CONFIG_UNKNOWN_KEY', message: 'unknown key', hint, atKey: true };
}

/** A key with nothing behind it counts as absent, unless nothing means something there; a key that is not built is refused either way. */
function takesNull(schema: z.core.$ZodType): boolean {
  return [...layers(schema)].some(
    (layer) =>
      layer instanceof z.ZodNullable ||
      layer instanceof z.ZodNull ||
      (notBuiltMark(layer)?.when === undefined && notBuiltMark(layer) !== undefined),
  );
}
