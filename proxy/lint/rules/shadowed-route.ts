import type { GatewayConfig, HttpRoute, RouteMatch, ValueMatch } from '../../../src/config/ir/index.ts';
import { comparePrecedence, describePath, type Ranked } from '../../routing/precedence.ts';
import type { Found, LintRule } from '../finding.ts';
import { isMap, type Path, under } from '../walk.ts';

/** A match whose requests all go to another route. */
export const shadowedRoute: LintRule = {
  code: 'GW_LINT_SHADOWED_ROUTE',
  severity: 'warning',
  summary: 'a route that no request can reach, because another one takes them all or its host never comes in',
  check: ({ config, raw }) =>
    tables(config).flatMap(({ routes, hostname }) => [
      ...routes.flatMap((route) => foreignHost(route, hostname, raw)),
      ...shadowed(routes, raw),
    ]),
};

interface Table {
  readonly routes: readonly HttpRoute[];
  /** Of the listener; empty or `*` takes every host. */
  readonly hostname: string;
}

function tables(config: GatewayConfig): Table[] {
  const listeners = config.binds.flatMap((bind) => bind.listeners);
  return [...listeners, ...config.routeGroups.map(({ routes }) => ({ routes, hostname: '' }))];
}

function shadowed(routes: readonly HttpRoute[], raw: unknown): Found[] {
  const ranked = routes.flatMap((route, routeIndex) =>
    route.matches.map((match, matchIndex) => ({ route, match, routeIndex, matchIndex })),
  );
  return routes.flatMap((route, routeIndex) => {
    const own = ranked.filter((each) => each.routeIndex === routeIndex);
    const winners = own.map((match) => ranked.find((other) => takesAll(other, match)));
    const [winner] = winners;
    if (winner === undefined || winners.includes(undefined)) return [];
    const [first] = own;
    if (first === undefined) return [];
    return told(route, raw, {
      message: `no request reaches this route: ${winner.route.name} takes everything with ${describePath(first.match.path)} first`,
      hint: `give it a match that ${winner.route.name} does not have, or delete it`,
    });
  });
}

/** Whether every request of `match` goes to `other`. */
function takesAll(other: Ranked, match: Ranked): boolean {
  if (other.routeIndex === match.routeIndex) return false;
  return comparePrecedence(other, match) < 0 && sameHosts(other.route, match.route) && covers(other.match, match.match);
}

/** Hosts come before paths: only routes of the same hosts compete. */
function sameHosts(other: HttpRoute, route: HttpRoute): boolean {
  if (other.hostnames.length === 0 || route.hostnames.length === 0)
    return other.hostnames.length === route.hostnames.length;
  return route.hostnames.every((hostname) => other.hostnames.includes(hostname));
}

/** Whether whatever fits `match` fits `other`. */
function covers(other: RouteMatch, match: RouteMatch): boolean {
  if (other.path.kind !== match.path.kind || other.path.value !== match.path.value) return false;
  if (other.method !== undefined && other.method !== match.method) return false;
  return includes(match.headers, other.headers) && includes(match.query, other.query);
}

function includes(conditions: readonly ValueMatch[], needed: readonly ValueMatch[]): boolean {
  return needed.every((need) =>
    conditions.some(
      ({ name, value }) => name === need.name && value.kind === need.value.kind && value.value === need.value.value,
    ),
  );
}

/** A route of hosts that its listener never serves. */
function foreignHost(route: HttpRoute, listener: string, raw: unknown): Found[] {
  if (listener === '' || listener === '*' || route.hostnames.length === 0) return [];
  if (route.hostnames.some((hostname) => hostsMeet(hostname, listener))) return [];
  return told(route, raw, {
    message: `no request reaches this route: its listener serves ${listener}, and none of its hosts fits that`,
    hint: 'change its `hostnames`, or attach it to another listener',
  });
}

function hostsMeet(a: string, b: string): boolean {
  if (a === b || a === '*' || b === '*') return true;
  if (a.startsWith('*.')) return b.endsWith(a.slice(1)) || (b.startsWith('*.') && a.endsWith(b.slice(1)));
  return b.startsWith('*.') && a.endsWith(b.slice(1));
}

function told(route: HttpRoute, raw: unknown, about: Pick<Found, 'message' | 'hint'>): Found[] {
  const path = pathOfRoute(route, raw);
  return path === null ? [] : [{ path, ...about }];
}

function pathOfRoute(route: HttpRoute, raw: unknown): Path | null {
  for (const { path, value } of under(raw, 'routes')) {
    if (!Array.isArray(value)) continue;
    const index = value.findIndex(
      (each: unknown, at) =>
        isMap(each) &&
        (each['name'] ?? `route${at}`) === route.name &&
        (each['namespace'] ?? 'default') === route.namespace &&
        each['ruleName'] === route.ruleName,
    );
    if (index !== -1) return [...path, index];
  }
  return null;
}
