import type { GatewayConfig, HttpRoute, RouteMatch, ValueMatch } from '../../../src/config/ir/index.ts';
import { comparePrecedence, describePath, type Ranked } from '../../routing/precedence.ts';
import type { Found, LintRule } from '../finding.ts';
import { routeSource } from '../../policy/target.ts';
import { sourceOfRoute } from '../places.ts';
import { type Path, under } from '../walk.ts';

/** A match whose requests all go to another route. */
export const shadowedRoute: LintRule = {
  code: 'GW_LINT_SHADOWED_ROUTE',
  severity: 'warning',
  summary: 'a route that no request can reach, because another one takes them all or its host never comes in',
  check: ({ config, raw }) => {
    const verdicts = new Map<string, (Verdict | null)[]>();
    for (const table of tables(config)) {
      for (const route of table.routes) {
        const key = JSON.stringify([table.group, routeSource(route)]);
        verdicts.set(key, [...(verdicts.get(key) ?? []), foreignHost(route, table) ?? shadowed(route, table)]);
      }
    }
    return [...verdicts.values()].flatMap((of) => told(of, raw));
  },
};

interface Table {
  readonly routes: readonly HttpRoute[];
  /** Of the listener; empty or `*` takes every host. */
  readonly hostname: string;
  /** Position among the route groups; null for routes of a listener. */
  readonly group: number | null;
  /** Matches by path: only those of one path compete. */
  readonly competing: ReadonlyMap<string, readonly Ranked[]>;
}

/** Why no request of one table reaches a route. */
interface Verdict extends Pick<Found, 'message' | 'hint'> {
  readonly route: HttpRoute;
  readonly group: number | null;
}

function tables(config: GatewayConfig): Table[] {
  const listeners = config.binds.flatMap((bind) => bind.listeners);
  return [
    ...listeners.map(({ routes, hostname }) => ({ routes, hostname, group: null, competing: ranked(routes) })),
    ...config.routeGroups.map(({ routes }, group) => ({ routes, hostname: '', group, competing: ranked(routes) })),
  ];
}

function ranked(routes: readonly HttpRoute[]): ReadonlyMap<string, readonly Ranked[]> {
  const byPath = new Map<string, Ranked[]>();
  for (const [routeIndex, route] of routes.entries()) {
    for (const [matchIndex, match] of route.matches.entries()) {
      const known = byPath.get(pathKey(match)) ?? [];
      known.push({ route, match, routeIndex, matchIndex });
      byPath.set(pathKey(match), known);
    }
  }
  return byPath;
}

function pathKey({ path }: RouteMatch): string {
  return `${path.kind} ${path.value}`;
}

function shadowed(route: HttpRoute, { competing, group }: Table): Verdict | null {
  const own = route.matches.map((match) => competing.get(pathKey(match)) ?? []);
  const winners = own.map((others, at) => {
    const match = others.find((each) => each.route === route && each.match === route.matches[at]);
    return match === undefined ? undefined : others.find((other) => takesAll(other, match));
  });
  const [first] = route.matches;
  const [winner] = winners;
  if (winner === undefined || first === undefined || winners.includes(undefined)) return null;
  return {
    route,
    group,
    message: `no request reaches this route: ${winner.route.name} takes everything with ${describePath(first.path)} first`,
    hint: `give it a match that ${winner.route.name} does not have, or delete it`,
  };
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
function foreignHost(route: HttpRoute, { hostname, group }: Table): Verdict | null {
  if (hostname === '' || hostname === '*' || route.hostnames.length === 0) return null;
  if (route.hostnames.some((each) => hostsMeet(each, hostname))) return null;
  return {
    route,
    group,
    message: `no request reaches this route: its listener serves ${hostname}, and none of its hosts fits that`,
    hint: 'change its `hostnames`, or attach it to another listener',
  };
}

function hostsMeet(a: string, b: string): boolean {
  if (a === b || a === '*' || b === '*') return true;
  if (a.startsWith('*.')) return b.endsWith(a.slice(1)) || (b.startsWith('*.') && a.endsWith(b.slice(1)));
  return b.startsWith('*.') && a.endsWith(b.slice(1));
}

/** A route may stand in the tables of several listeners: one that lets requests through to it is enough. */
function told(verdicts: readonly (Verdict | null)[], raw: unknown): Found[] {
  const [first] = verdicts;
  if (first === undefined || first === null || verdicts.includes(null)) return [];
  const { route, group, message, hint } = first;
  const path = pathOfRoute(route, group, raw);
  return path === null ? [] : [{ path, message, hint }];
}

function pathOfRoute(route: HttpRoute, group: number | null, raw: unknown): Path | null {
  for (const { path, value } of under(raw, 'routes')) {
    if (!Array.isArray(value) || (path[0] === 'routeGroups' ? path[1] : null) !== group) continue;
    const index = value.findIndex((each: unknown, at) => sourceOfRoute(each, at) === routeSource(route));
    if (index !== -1) return [...path, index];
  }
  return null;
}
