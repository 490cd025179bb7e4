import type { PathChange, PathMatch } from '../../src/config/ir/index.ts';
import { pathOf, queryOf } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';
import { refuse } from '../exchange/refusal.ts';
import { normalPrefix } from '../routing/bucket.ts';

/** What traces say of it. */
export const noPrefix = 'the route did not match by path prefix';

/** A prefix can be replaced only where a prefix has matched. */
export const needsPrefixMatch: Refusal = refuse(500, 'Internal', `failed to apply filters: ${noPrefix}`);

/**
 * The target with its path changed and its query kept (unless a full replacement brings its own); null when a prefix
 * is to be replaced and none has matched. Targets that are not paths (`*`) stay as they are.
 */
export function changeTarget(change: PathChange, target: string, matched: PathMatch | null): string | null {
  if (target.charCodeAt(0) !== 47) return target;
  if (change.kind === 'full') return change.value.includes('?') ? change.value : change.value + queryOf(target);
  if (matched?.kind !== 'pathPrefix') return null;
  const path = replacePrefix(pathOf(target), matched.value, change.value);
  return path === null ? null : path + queryOf(target);
}

/**
 * Replaces a matched prefix, on segment boundaries: slashes at the end of the prefix do not count, one slash joins
 * replacement and rest, an empty result is `/`. Null when the path does not begin with the prefix.
 */
export function replacePrefix(path: string, matchedPrefix: string, replacement: string): string | null {
  const prefix = normalPrefix(matchedPrefix);
  const rest = path.slice(prefix.length);
  if (!path.startsWith(prefix) || (rest !== '' && rest.charCodeAt(0) !== 47)) return null;
  const joined = rest === '' ? replacement : normalPrefix(replacement) + rest;
  return joined.charCodeAt(0) === 47 ? joined : `/${joined}`;
}
