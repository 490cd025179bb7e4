import type { z } from 'zod';
import { hides } from '../schema/marks.ts';
import { alternatives, candidates, childSchema, isMap } from '../schema/walk.ts';
import type { Located, Range } from './yaml.ts';

/**
 * The text as it may be shown to people and written to logs: every character of a value that is secret by its schema is a
 * `*`. `place` gives the range of the text that a range of the YAML was written as.
 */
export function maskedText(
  text: string,
  yaml: Located,
  { schema, place }: { readonly schema: z.core.$ZodType; readonly place: (range: Range) => Range },
): string {
  const ranges = [...secretRanges([schema], yaml)].map(place).toSorted(([left], [right]) => left - right);
  const pieces: string[] = [];
  let at = 0;
  for (const [start, end] of ranges) {
    if (end <= at) continue;
    const from = Math.max(start, at);
    pieces.push(text.slice(at, from), text.slice(from, end).replaceAll(/\S/g, '*'));
    at = end;
  }
  return pieces.join('') + text.slice(at);
}

function* secretRanges(schemas: readonly z.core.$ZodType[], located: Located): Generator<Range> {
  const { value, children } = located;
  if (schemas.some((schema) => [...alternatives(schema, value)].some((option) => hides(option, value)))) {
    yield* leaves(located);
    return;
  }
  const fitting = schemas.flatMap((schema) => candidates(schema, value));
  for (const [key, { node }] of children) {
    const inner = fitting.flatMap((schema) => childSchema(schema, key) ?? []);
    if (inner.length > 0) yield* secretRanges(inner, node);
  }
}

/** The name of a file that holds a secret is none. */
function* leaves({ value, range, children }: Located): Generator<Range> {
  if (children.size === 0) yield range;
  else if (!isMap(value) || !Object.hasOwn(value, 'file'))
    for (const { node } of children.values()) yield* leaves(node);
}
