import type { TokenCacheSettings } from '../../../../src/config/ir/index.ts';
import type { PolicyDeps } from '../../../policy/contract.ts';
import { TokenCache } from '../token-cache.ts';

/** A token that has no more left may have ended before the backend reads it. */
const MARGIN_MS = 15_000;

/** Tokens of one definition, kept over reloads that leave it as it is. */
export function tokenCache(
  { maxEntries, defaultTtlMs }: TokenCacheSettings,
  { stores }: PolicyDeps,
  key: string,
): TokenCache<string> {
  return stores.get(`${key} tokens`, () => new TokenCache({ maxEntries, defaultTtlMs, marginMs: MARGIN_MS }));
}
