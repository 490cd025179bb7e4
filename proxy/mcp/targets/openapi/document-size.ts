import { unusable } from './problem.ts';

const MAX_DEPTH = 200;
const MAX_VALUES = 5_000_000;

/**
 * Throws for a document that is too deep or too large to be walked and written. Those that were read from YAML may hold one
 * part in many places, or in itself.
 */
export function checkSize(document: unknown): void {
  const waiting: { readonly value: object; readonly depth: number }[] = [];
  let values = 0;
  const add = (value: unknown, depth: number): void => {
    if (++values > MAX_VALUES) throw unusable('document', `more than ${MAX_VALUES} values`);
    if (typeof value !== 'object' || value === null) return;
    if (depth > MAX_DEPTH) throw unusable('document', `more than ${MAX_DEPTH} levels deep`);
    waiting.push({ value, depth });
  };
  add(document, 0);
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop())
    for (const value of Object.values(at.value)) add(value, at.depth + 1);
}
