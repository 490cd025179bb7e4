import type { Backend, GatewayConfig, HttpRoute, RoutePolicies, TargetedPolicy } from '../../src/config/ir/index.ts';
import { leadsTo, type PlacedRoute, placedRoutes } from './leads-to.ts';
import { listenerFit, policySource, routeFit, routeSource } from './target.ts';

/** A limit of tokens that counts nothing. */
export interface IdleTokenLimit {
  /** The entry of `policies` (`namespace/name`), or the route, that it is written on. */
  readonly at: { readonly kind: 'policy' | 'route'; readonly name: string };
  readonly policy: 'localRateLimit' | 'remoteRateLimit';
  readonly message: string;
}

const MODELS: ReadonlySet<Backend['kind']> = new Set(['ai', 'models']);

/** Limits of tokens on routes of which none leads to a language model: nothing is counted, and nothing refused. */
export function idleTokenLimits(config: GatewayConfig): readonly IdleTokenLimit[] {
  const placed = placedRoutes(config);
  const seen = new Set<string>();
  const ofRoutes = placed.flatMap(({ route }) => {
    // A route that is attached twice is written once.
    const name = `${route.namespace}/${route.name}`;
    if (seen.has(name)) return [];
    seen.add(name);
    return idleOf(route.policies, [route], config).map((policy) => ({
      at: { kind: 'route', name } as const,
      policy,
      message: messageFor(routeSource(route), policy),
    }));
  });
  const ofPolicies = config.policies.flatMap((targeted) => {
    if (targeted.policy.kind !== 'traffic') return [];
    const routes = placed.filter((each) => isMeant(targeted, each)).map(({ route }) => route);
    return idleOf(targeted.policy.traffic, routes, config).map((policy) => ({
      at: { kind: 'policy', name: `${targeted.namespace}/${targeted.name}` } as const,
      policy,
      message: messageFor(policySource(targeted), policy),
    }));
  });
  return [...ofRoutes, ...ofPolicies];
}

function messageFor(source: string, policy: string): string {
  return `${source}: \`${policy}\` of \`type: tokens\` has no effect, as no backend is a language model`;
}

/** Of nowhere, nothing is said: that a policy is not attached is told by itself. */
function idleOf(
  { localRateLimit, remoteRateLimit }: Pick<RoutePolicies, 'localRateLimit' | 'remoteRateLimit'>,
  routes: readonly HttpRoute[],
  config: GatewayConfig,
): readonly IdleTokenLimit['policy'][] {
  const local = localRateLimit?.entries.some(({ settings }) => settings.some(({ type }) => type === 'tokens'));
  const remote = remoteRateLimit?.entries.some(({ settings }) =>
    settings.descriptors.some(({ type }) => type === 'tokens'),
  );
  if (local !== true && remote !== true) return [];
  if (routes.length === 0 || routes.some((route) => leadsTo(route, config, MODELS))) return [];
  return [
    ...(local === true ? (['localRateLimit'] as const) : []),
    ...(remote === true ? (['remoteRateLimit'] as const) : []),
  ];
}

function isMeant({ target }: TargetedPolicy, { route, place }: PlacedRoute): boolean {
  return routeFit(target, route) !== null || (place !== null && listenerFit(target, place) !== null);
}
