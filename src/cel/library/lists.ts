import type { FunctionDef } from '../compile/host.ts';
import { compare, equals } from '../value/compare.ts';
import { CelError, failure, isList, noOverload, type Result, type Value } from '../value/value.ts';
import { call, method } from './define.ts';

const MAX_RANGE = 10_000;

export const listFunctions: readonly FunctionDef[] = [
  call('lists.range', (count) => {
    if (typeof count !== 'number') return noOverload('lists.range', count);
    if (count > MAX_RANGE) return new CelError('limit', `lists.range() of more than ${MAX_RANGE}`);
    return Array.from({ length: Math.max(0, count) }, (_, i) => i);
  }),
  method('sort', (list) => {
    if (!isList(list)) return noOverload('sort', list);
    const odd = list.find((item) => compare(list[0] ?? null, item) === undefined);
    return odd === undefined ? list.toSorted((a, b) => compare(a, b) ?? 0) : noOverload('sort', list[0] ?? null, odd);
  }),
  method('distinct', (list) => (isList(list) ? distinct(list) : noOverload('distinct', list))),
  method('slice', (list, from, to) => {
    if (!isList(list) || typeof from !== 'number' || typeof to !== 'number') return noOverload('slice', list, from, to);
    return from < 0 || to > list.length || from > to
      ? failure(`invalid slice: from ${from} to ${to}`)
      : list.slice(from, to);
  }),
  method('reverse', (list) => (isList(list) ? list.toReversed() : noOverload('reverse', list))),
];

const MAX_DISTINCT = 1000;

function distinct(list: readonly Value[]): Result {
  if (list.length > MAX_DISTINCT) return new CelError('limit', `distinct() of more than ${MAX_DISTINCT}`);
  const kept: Value[] = [];
  for (const item of list) if (!kept.some((known) => equals(known, item) === true)) kept.push(item);
  return kept;
}
