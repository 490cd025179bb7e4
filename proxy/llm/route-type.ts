import type { LlmRouteType as RouteType, ModelsBackend } from '../../src/config/ir/index.ts';

export type { RouteType };

/** Path suffixes with what they stand for, in the order in which they are tried; `*` matches every path. */
export type RouteTypes = readonly (readonly [suffix: string, type: RouteType])[];

/**
 * By the path alone, without its query; chat completions when nothing matches. Other spellings of a path, which a service
 * would take for the same one, are the same: nothing gets around what is configured for a type by them.
 */
export function routeTypeOf(path: string, types: RouteTypes): RouteType {
  const plain = ODD.test(path) ? plainPath(path) : path;
  return (
    types.find(([suffix]) => suffix === '*' || plain.endsWith(suffix) || path.endsWith(suffix))?.[1] ?? 'completions'
  );
}

/** Escapes, dot segments, empty segments. */
const ODD = /%|\/\.|\/\/|\/$/;

function plainPath(path: string): string {
  const decoded = unescaped(path);
  const segments: string[] = [];
  for (const segment of decoded.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

/** A broken escape stands for itself. */
function unescaped(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** How formats of clients are told apart: the same for all models but for paths that none of them knows. */
export function typesOf({ models }: Pick<ModelsBackend, 'models'>): RouteTypes {
  return models[0]?.backend.groups[0]?.[0]?.policies.ai?.routes ?? [];
}
