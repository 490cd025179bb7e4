import type { LlmRouteType as RouteType } from '../../src/config/ir/index.ts';

export type { RouteType };

/** Path suffixes with what they stand for, in the order in which they are tried; `*` matches every path. */
export type RouteTypes = readonly (readonly [suffix: string, type: RouteType])[];

/** Longest first, `*` last. */
export function orderedRouteTypes(entries: Iterable<readonly [string, RouteType]>): RouteTypes {
  return [...entries].toSorted(([left], [right]) => rank(right) - rank(left) || (left < right ? -1 : 1));
}

function rank(suffix: string): number {
  return suffix === '*' ? -1 : suffix.length;
}

/** By the path alone, without its query; chat completions when nothing matches. */
export function routeTypeOf(path: string, types: RouteTypes): RouteType {
  return types.find(([suffix]) => suffix === '*' || path.endsWith(suffix))?.[1] ?? 'completions';
}
