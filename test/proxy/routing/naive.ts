import type { RoutedRequest } from '../../../proxy/routing/facts.ts';
import type { HttpRoute, RouteMatch, ValueMatch } from '../../../src/config/ir/index.ts';

/** The matching rules written down as plainly as possible: sort everything, take the first that holds. */
export function naiveMatch(
  routes: readonly HttpRoute[],
  request: RoutedRequest,
): { key: string; match: number } | null {
  const host = request.authority
    .replace(/:\d*$/, '')
    .replace(/(?<=.)\.$/, '')
    .toLowerCase();
  const all = routes.flatMap((route, routeIndex) =>
    route.matches.flatMap((match, matchIndex) =>
      (route.hostnames.length === 0 ? [''] : route.hostnames).map((hostname) => ({
        route,
        match,
        routeIndex,
        matchIndex,
        hostname,
      })),
    ),
  );
  const kinds = ['exact', 'pathPrefix', 'regex'];
  all.sort(
    (a, b) =>
      bucket(a.hostname) - bucket(b.hostname) ||
      b.hostname.length - a.hostname.length ||
      kinds.indexOf(a.match.path.kind) - kinds.indexOf(b.match.path.kind) ||
      b.match.path.value.length - a.match.path.value.length ||
      (a.match.method === undefined ? 1 : 0) - (b.match.method === undefined ? 1 : 0) ||
      b.match.headers.length - a.match.headers.length ||
      b.match.query.length - a.match.query.length ||
      a.routeIndex - b.routeIndex ||
      a.matchIndex - b.matchIndex,
  );
  const found = all.find((each) => hostHolds(each.hostname, host) && holds(each.match, request));
  return found === undefined ? null : { key: found.route.key, match: found.matchIndex };
}

function bucket(hostname: string): number {
  if (hostname === '') return 3;
  if (hostname === '*') return 2;
  return hostname.startsWith('*') ? 1 : 0;
}

function hostHolds(hostname: string, host: string): boolean {
  if (hostname === '' || hostname === '*') return true;
  if (hostname.startsWith('*.')) return host.endsWith(hostname.slice(1)) && host !== hostname.slice(1);
  return host === hostname.toLowerCase();
}

function holds(match: RouteMatch, request: RoutedRequest): boolean {
  const [rawPath = '', query = ''] = request.target.split(/\?(.*)/s);
  const path = rawPath === '' || rawPath === '*' ? '/' : rawPath;
  return (
    pathHolds(match, path) &&
    (match.method === undefined || match.method === request.method) &&
    match.headers.every((header) => headerValues(header.name, request).some((value) => valueHolds(header, value))) &&
    match.query.every((parameter) => {
      const last = new URLSearchParams(query).getAll(parameter.name).pop();
      return last !== undefined && valueHolds(parameter, last);
    })
  );
}

function pathHolds(match: RouteMatch, path: string): boolean {
  const { kind, value } = match.path;
  if (kind === 'exact') return path === value;
  if (kind === 'regex') return new RegExp(`^(?:${value})$`).test(path);
  const prefix = value.replace(/\/+$/, '');
  return path === prefix || path.startsWith(`${prefix}/`);
}

function headerValues(name: string, request: RoutedRequest): string[] {
  if (name === ':method') return [request.method];
  if (name === ':authority') return [request.authority];
  return request.headers.getAll(name.toLowerCase());
}

function valueHolds(match: ValueMatch, value: string): boolean {
  return match.value.kind === 'exact'
    ? value === match.value.value
    : new RegExp(`^(?:${match.value.value})$`).test(value);
}
