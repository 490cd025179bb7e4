import { Double, Uint } from '../../../src/cel/value/value.ts';
import type { EvalContext, Expression } from '../../expression/contract.ts';

/** A text that two requests share only when every part has the same value of the same type; null: not to be cached. */
export function cacheKey(parts: readonly Expression[], context: EvalContext): string | null {
  if (parts.length === 0) return null;
  let key = '';
  for (const part of parts) {
    const text = scalarKey(part.value(context));
    if (text === null) return null;
    key += `${text.length}:${text}`;
  }
  return key;
}

/** The first letter tells the type; lists, maps and everything opaque have no key. */
function scalarKey(value: unknown): string | null {
  if (value === null) return 'z';
  if (typeof value === 'string') return `s${value}`;
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (typeof value === 'number' || typeof value === 'bigint') return `i${value}`;
  if (value instanceof Uint) return `u${value.value}`;
  if (value instanceof Double) return Number.isNaN(value.value) ? null : `d${value.value}`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('base64')}`;
  return null;
}
