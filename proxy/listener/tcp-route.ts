import type { RouteBackend, TcpRoute } from '../../src/config/ir/index.ts';
import { hostnameRank, NO_MATCH } from './choose.ts';

/** The route for an SNI name: exact, then the longest wildcard, then a route without hostnames; file order among equals. */
export function chooseTcpRoute(routes: readonly TcpRoute[], sni: string | null): TcpRoute | undefined {
  let best: TcpRoute | undefined;
  let bestRank = NO_MATCH;
  for (const route of routes) {
    const rank = routeRank(route, sni ?? '');
    if (rank > bestRank) {
      best = route;
      bestRank = rank;
    }
  }
  return best;
}

function routeRank(route: TcpRoute, sni: string): number {
  if (route.hostnames.length === 0) return 0;
  return Math.max(...route.hostnames.map((hostname) => hostnameRank(hostname, sni)));
}

/** Weighted draw; `random` is 0 ≤ r < 1. Undefined when there is no backend or every weight is 0. */
export function pickBackend(backends: readonly RouteBackend[], random: number): RouteBackend | undefined {
  let total = 0;
  for (const backend of backends) total += backend.weight;
  let left = random * total;
  for (const backend of backends) {
    if (backend.weight > left) return backend;
    left -= backend.weight;
  }
  return undefined;
}
