/** Keys and positions from the top of the raw value. */
export type Path = readonly (string | number)[];

export interface Visited {
  readonly path: Path;
  readonly key: string | number;
  readonly value: unknown;
}

/** Every value below, outside in. */
export function* walk(value: unknown, path: Path = []): Generator<Visited> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* visit(item, [...path, index], index);
  } else if (isMap(value)) {
    for (const [key, item] of Object.entries(value)) yield* visit(item, [...path, key], key);
  }
}

function* visit(value: unknown, path: Path, key: string | number): Generator<Visited> {
  yield { path, key, value };
  yield* walk(value, path);
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every value under a key of that name. */
export function* under(raw: unknown, name: string): Generator<Visited> {
  for (const visited of walk(raw)) if (visited.key === name) yield visited;
}
