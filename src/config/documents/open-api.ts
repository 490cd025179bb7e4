import type { JsonObject } from '../../shared/json.ts';

/** As for configuration files; whoever walks through it need not count. */
const MAX_DEPTH = 100;

/**
 * An OpenAPI document of version 3; a text says what is wrong with it. Only the frame is looked at: what its operations
 * are is for whoever calls them.
 */
export function openApiOf(document: unknown): { readonly document: JsonObject } | string {
  if (!isObject(document)) return 'it is not an object';
  const { openapi, swagger, paths } = document;
  if (swagger !== undefined) return 'it is of Swagger 2: OpenAPI 3 is needed';
  if (typeof openapi !== 'string' || !/^3\.\d+/.test(openapi)) return 'it does not say `openapi: 3.…`';
  if (!isObject(paths)) return 'it has no `paths`';
  const problem = unwalkable(document, 0);
  return problem ?? { document };
}

/** What makes a value no safe part of a configuration. */
function unwalkable(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} levels`;
  for (const [key, child] of Object.entries(value)) {
    if (key.startsWith('\0')) return 'it has a key that begins with NUL';
    const problem = unwalkable(child, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
