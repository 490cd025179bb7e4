import type { FunctionDef, Meter } from '../compile/host.ts';
import { inList } from '../compile/operators.ts';
import { compare } from '../value/compare.ts';
import { CelError, failure, isList, noOverload, type Result, type Value } from '../value/value.ts';
import { call, method, noMeter, slow } from './define.ts';

const MAX_RANGE = 10_000;

export const listFunctions: readonly FunctionDef[] = [
  call('lists.range', (count) => {
    if (typeof count !== 'number') return noOverload('lists.range', count);
    if (count > MAX_RANGE) return new CelError('limit', `lists.range() of more than ${MAX_RANGE}`);
    return Array.from({ length: Math.max(0, count) }, (_, i) => i);
  }),
  slow(
    8,
    method('sort', (list) => {
      if (!isList(list)) return noOverload('sort', list);
      const odd = list.find((item) => compare(list[0] ?? null, item) === undefined);
      return odd === undefined ? list.toSorted((a, b) => compare(a, b) ?? 0) : noOverload('sort', list[0] ?? null, odd);
    }),
  ),
  { ...method('distinct', noMeter, [1, 1]), metered: distinct },
  method('slice', (list, from, to) => {
    if (!isList(list) || typeof from !== 'number' || typeof to !== 'number') return noOverload('slice', list, from, to);
    return from < 0 || to > list.length || from > to
      ? failure(`invalid slice: from ${from} to ${to}`)
      : list.slice(from, to);
  }),
  method('reverse', (list) => (isList(list) ? list.toReversed() : noOverload('reverse', list))),
];

function distinct(meter: Meter, list: Value = null): Result {
  if (!isList(list)) return noOverload('distinct', list);
  const kept: Value[] = [];
  for (const item of list) {
    const known = inList(item, kept, meter);
    if (known instanceof CelError) return known;
    if (known === false) kept.push(item);
  }
  return kept;
}
