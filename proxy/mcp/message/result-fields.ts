import type { JsonObject } from '../../../src/shared/json.ts';
import type { Era } from './versions.ts';

/** Results that may be kept by clients, for which the modern versions tell how long. */
const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/**
 * A result in the words of the client's generation. Nobody but the gateway knows who may see which part of a list, so modern
 * clients are told to keep none; legacy clients know nothing of it.
 */
export function resultFor(era: Era, method: string, result: JsonObject): JsonObject {
  return era === 'modern' ? modernResult(method, result) : legacyResult(result);
}

function modernResult(method: string, result: JsonObject): JsonObject {
  const typed = typeof result['resultType'] === 'string' ? result : { ...result, resultType: 'complete' };
  return CACHEABLE.has(method) ? { ...typed, ttlMs: 0, cacheScope: 'private' } : typed;
}

function legacyResult(result: JsonObject): JsonObject {
  if (!('resultType' in result || 'ttlMs' in result || 'cacheScope' in result)) return result;
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = result;
  return rest;
}
