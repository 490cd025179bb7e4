import type { AiPolicy, LlmRouteType } from '../../ir/llm.ts';
import type { AiPolicySpec } from '../../schema/policy/ai.ts';
import type { Context } from '../context.ts';
import { promptGuard, type GuardPlace } from './prompt-guard.ts';

/** The fields that are written; those that are not are no keys of the result, so that merging leaves others in place. */
export function ai(context: Context, spec: AiPolicySpec, place: GuardPlace): AiPolicy {
  const { routes, promptGuard: guards, ...fields } = spec;
  const at = { ...place, path: [...place.path, 'promptGuard'], key: `${place.key}/promptGuard` };
  return {
    ...fields,
    ...(routes === undefined ? {} : { routes: orderedRoutes(routes) }),
    ...(guards === undefined ? {} : { promptGuard: promptGuard(context, guards, at) }),
  };
}

/** Longest first, `*` last. */
export function orderedRoutes(
  routes: Readonly<Record<string, LlmRouteType>>,
): readonly (readonly [suffix: string, type: LlmRouteType])[] {
  return Object.entries(routes).toSorted(([left], [right]) => rank(right) - rank(left) || (left < right ? -1 : 1));
}

function rank(suffix: string): number {
  return suffix === '*' ? -1 : suffix.length;
}
