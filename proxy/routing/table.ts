import type { HttpRoute, PathMatch, RouteBackend, RouteMatch } from '../../src/config/ir/index.ts';
import { Bucket } from './bucket.ts';
import type { Candidate } from './candidate-list.ts';
import type { Conditions } from './condition.ts';
import { compileConditions, LazyQuery } from './condition.ts';
import type { RoutedRequest } from './facts.ts';
import { routedHost, routedPath } from './facts.ts';
import { WeightedPick } from './weighted.ts';

export interface RouteEntry<T> {
  readonly route: HttpRoute;
  readonly value: T;
}

/** The winner of a look-up. Made while compiling: a request allocates none. */
export interface Matched<T> extends Candidate {
  readonly value: T;
  readonly route: HttpRoute;
  /** The alternative of the route that held. */
  readonly match: RouteMatch;
  readonly path: PathMatch;
  /** The route's hostname that fitted; null when the route takes any. */
  readonly hostname: string | null;
  readonly backends: WeightedPick<RouteBackend>;
  /** Some backend hands over to a route group. */
  readonly delegates: boolean;
}

/** Routes in the order of the file, compiled for look-ups that do not grow with their number. Throws `GW_ROUTE_REGEX`. */
export function compileRouteTable<T>(entries: readonly RouteEntry<T>[]): RouteTable<T> {
  return new RouteTable(entries);
}

export class RouteTable<T> {
  readonly entries: readonly RouteEntry<T>[];
  readonly #exact = new Map<string, Bucket<Matched<T>>>();
  /** By suffix with its leading dot. */
  readonly #wildcard = new Map<string, Bucket<Matched<T>>>();
  readonly #everyHost: Bucket<Matched<T>> | null;
  readonly #noHostname: Bucket<Matched<T>> | null;
  readonly #longestSuffix: number;
  /** Look-ups are synchronous, so one serves them all. */
  readonly #query = new LazyQuery();

  constructor(entries: readonly RouteEntry<T>[]) {
    this.entries = entries;
    const byHostname = groupByHostname(entries);
    let longest = 0;
    for (const [hostname, candidates] of byHostname) {
      if (hostname === '' || hostname === '*') continue;
      const wildcard = hostname.startsWith('*.');
      if (wildcard) longest = Math.max(longest, hostname.length - 1);
      (wildcard ? this.#wildcard : this.#exact).set(wildcard ? hostname.slice(1) : hostname, new Bucket(candidates));
    }
    this.#longestSuffix = longest;
    this.#everyHost = bucketOf(byHostname.get('*'));
    this.#noHostname = bucketOf(byHostname.get(''));
  }

  /** The first hostname bucket with a match wins: the exact host, wildcards from the longest, any host. */
  match(request: RoutedRequest): Matched<T> | null {
    const path = routedPath(request.target);
    const query = this.#query;
    query.reset(request.target);
    if (this.#exact.size > 0 || this.#wildcard.size > 0) {
      const found = this.#matchHost(routedHost(request.authority), path, request);
      if (found !== null) return found;
    }
    return this.#everyHost?.find(path, request, query) ?? this.#noHostname?.find(path, request, query) ?? null;
  }

  #matchHost(host: string, path: string, request: RoutedRequest): Matched<T> | null {
    const exact = this.#exact.get(host)?.find(path, request, this.#query) ?? null;
    if (exact !== null || this.#wildcard.size === 0) return exact;
    let dot = host.indexOf('.', Math.max(1, host.length - this.#longestSuffix));
    for (; dot !== -1; dot = host.indexOf('.', dot + 1)) {
      const found = this.#wildcard.get(host.slice(dot))?.find(path, request, this.#query) ?? null;
      if (found !== null) return found;
    }
    return null;
  }
}

/** A route's hostname as it is compared: lower case, without the root's dot. */
export function normalHostname(hostname: string): string {
  const lower = hostname.toLowerCase();
  return lower.length > 1 && lower.endsWith('.') ? lower.slice(0, -1) : lower;
}

function groupByHostname<T>(entries: readonly RouteEntry<T>[]): Map<string, Matched<T>[]> {
  const groups = new Map<string, Matched<T>[]>();
  for (const [routeIndex, entry] of entries.entries()) {
    const backends = new WeightedPick(entry.route.backends, (backend) => backend.weight);
    const conditions = entry.route.matches.map((match) => compileConditions(match, `route ${entry.route.key}`));
    const hostnames = new Set(entry.route.hostnames.length === 0 ? [''] : entry.route.hostnames.map(normalHostname));
    for (const hostname of hostnames) {
      const group = groups.get(hostname) ?? [];
      groups.set(hostname, group);
      group.push(...alternatives({ entry, routeIndex, backends, conditions, hostname }));
    }
  }
  return groups;
}

interface RouteParts<T> {
  readonly entry: RouteEntry<T>;
  readonly routeIndex: number;
  readonly backends: WeightedPick<RouteBackend>;
  readonly conditions: readonly Conditions[];
  readonly hostname: string;
}

function alternatives<T>({ entry, routeIndex, backends, conditions, hostname }: RouteParts<T>): Matched<T>[] {
  const { route, value } = entry;
  const delegates = route.backends.some((backend) => backend.target.kind === 'routeGroup');
  return route.matches.map((match, matchIndex) => ({
    value,
    route,
    match,
    path: match.path,
    routeIndex,
    matchIndex,
    hostname: hostname === '' ? null : hostname,
    conditions: conditions[matchIndex] ?? compileConditions(match, `route ${route.key}`),
    backends,
    delegates,
  }));
}

function bucketOf<T>(candidates: readonly Matched<T>[] | undefined): Bucket<Matched<T>> | null {
  return candidates === undefined ? null : new Bucket(candidates);
}
