import type { Backend, GatewayConfig, HttpRoute, RouteTarget } from '../../src/config/ir/index.ts';

/** Whether some backend of a route, or of the groups that it hands over to, is of the kinds. */
export function leadsTo(route: HttpRoute, config: GatewayConfig, kinds: ReadonlySet<Backend['kind']>): boolean {
  return reaches(route, { config, kinds, visited: new Set() });
}

/** Whether a backend of a route is, or leads to, one of the kinds. */
export function isOfKind(target: RouteTarget, config: GatewayConfig, kinds: ReadonlySet<Backend['kind']>): boolean {
  return isWanted(target, { config, kinds, visited: new Set() });
}

interface Search {
  readonly config: GatewayConfig;
  readonly kinds: ReadonlySet<Backend['kind']>;
  /** Names of groups. */
  readonly visited: Set<string>;
}

function reaches({ backends }: HttpRoute, search: Search): boolean {
  return backends.some(({ target }) => isWanted(target, search));
}

function isWanted(target: RouteTarget, search: Search): boolean {
  const { config, kinds, visited } = search;
  switch (target.kind) {
    case 'inline':
      return kinds.has(target.backend.kind);
    case 'reference': {
      const named = config.backends.find(({ backend }) => backend.key === target.backend);
      return named !== undefined && kinds.has(named.backend.kind);
    }
    case 'routeGroup': {
      if (visited.has(target.name)) return false;
      visited.add(target.name);
      const group = config.routeGroups.find(({ name }) => name === target.name);
      return group?.routes.some((route) => reaches(route, search)) ?? false;
    }
    default:
      return false;
  }
}

export type PlacedRoute = ReturnType<typeof placedRoutes>[number];

/** Every HTTP route, with the listener that it is on; those of groups are on none. */
export function placedRoutes(config: GatewayConfig) {
  const attached = config.binds.flatMap((bind) =>
    bind.listeners.flatMap((listener) => listener.routes.map((route) => ({ route, place: { bind, listener } }))),
  );
  const grouped = config.routeGroups.flatMap(({ routes }) => routes.map((route) => ({ route, place: null })));
  return [...attached, ...grouped];
}
