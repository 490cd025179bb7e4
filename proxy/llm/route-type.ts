import type { LlmRouteType as RouteType, ModelsBackend } from '../../src/config/ir/index.ts';

export type { RouteType };

/** Path suffixes with what they stand for, in the order in which they are tried; `*` matches every path. */
export type RouteTypes = readonly (readonly [suffix: string, type: RouteType])[];

/** By the path alone, without its query; chat completions when nothing matches. */
export function routeTypeOf(path: string, types: RouteTypes): RouteType {
  return types.find(([suffix]) => suffix === '*' || path.endsWith(suffix))?.[1] ?? 'completions';
}

/** How formats of clients are told apart: the same for all models but for paths that none of them knows. */
export function typesOf({ models }: Pick<ModelsBackend, 'models'>): RouteTypes {
  return models[0]?.backend.groups[0]?.[0]?.policies.ai?.routes ?? [];
}
