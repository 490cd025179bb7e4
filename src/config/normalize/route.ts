import type { HttpRoute, PathMatch, RouteGroup, RouteMatch, TcpRoute } from '../ir/route.ts';
import type { Path } from '../load/problem.ts';
import type { PathMatchSpec, RouteMatchSpec } from '../schema/match.ts';
import type { RouteGroupSpec, RouteSpec, TcpRouteSpec } from '../schema/route.ts';
import { routeBackends, tcpBackends } from './backend.ts';
import type { Context } from './context.ts';
import { headerMatches, valueMatch } from './match.ts';
import { routePolicies } from './policy.ts';

export interface RoutePlace {
  readonly path: Path;
  /** Position in its list, for the default name. */
  readonly index: number;
  /** Key of the listener or group that it belongs to. */
  readonly parent: string;
  /** Names the place in the file instead of `parent`, for a route that belongs to several listeners. */
  readonly attachedTo?: string | undefined;
}

/** One HTTP route of a listener or a group. */
export function httpRoute(context: Context, spec: RouteSpec, place: RoutePlace): HttpRoute {
  const name = spec.name ?? `route${place.index}`;
  const namespace = spec.namespace ?? 'default';
  const key = `${place.parent}/${namespace}/${name}`;
  const origin = `${place.attachedTo ?? place.parent}/${namespace}/${name}/${spec.ruleName ?? ''}`;
  return {
    key,
    name,
    namespace,
    ruleName: spec.ruleName,
    hostnames: anyHost(spec.hostnames),
    matches: spec.matches.map(routeMatch),
    policies: routePolicies(context, spec.policies, { path: [...place.path, 'policies'], key, origin }),
    backends: routeBackends(context, spec.backends, { path: place.path, key }),
  };
}

/** One TCP route of a listener. */
export function tcpRoute(context: Context, spec: TcpRouteSpec, place: RoutePlace): TcpRoute {
  const name = spec.name ?? `tcproute${place.index}`;
  const namespace = spec.namespace ?? 'default';
  const key = `${place.parent}/${namespace}/${name}`;
  return {
    key,
    name,
    namespace,
    ruleName: spec.ruleName,
    hostnames: anyHost(spec.hostnames),
    policies: routePolicies(context, spec.policies, { path: [...place.path, 'policies'], key }),
    backends: tcpBackends(context, spec.backends, { path: place.path, key }),
  };
}

/** The entries of `routeGroups`. */
export function routeGroups(context: Context, specs: readonly (RouteGroupSpec | undefined)[]): RouteGroup[] {
  const seen = new Map<string, number>();
  return specs.flatMap((spec, group) => {
    if (spec === undefined) return [];
    const earlier = seen.get(spec.name);
    if (earlier !== undefined)
      context.report(
        ['routeGroups', group, 'name'],
        'GW_CONFIG_CONFLICT',
        `routeGroups[${earlier}] is called ${JSON.stringify(spec.name)} already`,
      );
    else seen.set(spec.name, group);
    const placed = spec.routes.map((route, index) => {
      const path = ['routeGroups', group, 'routes', index];
      return { path, route: httpRoute(context, route, { path, index, parent: `routeGroup/${spec.name}` }) };
    });
    return [{ name: spec.name, routes: uniqueRoutes(context, placed) }];
  });
}

/**
 * Makes the keys of routes of one listener or group unique: rules of one route share its name and differ in `ruleName`;
 * anything else that shares a name is a problem.
 */
export function uniqueRoutes<R extends HttpRoute | TcpRoute>(
  context: Context,
  placed: readonly { readonly path: Path; readonly route: R }[],
): R[] {
  const seen = new Set<string>();
  return placed.map(({ path, route }) => {
    if (!seen.has(route.key)) return remember(route);
    const key = route.ruleName === undefined ? route.key : `${route.key}/${route.ruleName}`;
    if (!seen.has(key)) return remember({ ...route, key });
    context.report(
      [...path, 'name'],
      'GW_CONFIG_CONFLICT',
      `another route is called ${JSON.stringify(route.name)} here`,
      { hint: 'give it another `name`, or a `ruleName` of its own' },
    );
    return route;
  });

  function remember(route: R): R {
    seen.add(route.key);
    return route;
  }
}

/** `*` among the hostnames means any host, which the model writes as an empty list. */
function anyHost(hostnames: readonly string[]): readonly string[] {
  return hostnames.includes('*') ? [] : [...new Set(hostnames)];
}

function routeMatch(spec: RouteMatchSpec): RouteMatch {
  return {
    path: pathMatch(spec.path),
    method: spec.method,
    headers: headerMatches(spec.headers),
    query: spec.query.map(({ name, value }) => ({ name, value: valueMatch(value) })),
  };
}

function pathMatch(spec: PathMatchSpec | undefined): PathMatch {
  if (spec?.exact !== undefined) return { kind: 'exact', value: spec.exact };
  if (spec?.regex !== undefined) return { kind: 'regex', value: spec.regex };
  return { kind: 'pathPrefix', value: spec?.pathPrefix ?? '/' };
}
