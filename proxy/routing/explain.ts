import type { RejectedRoute } from '../../src/admin/protocol/trace-event.ts';
import type { HttpRoute, RouteMatch } from '../../src/config/ir/index.ts';
import { REDACTED } from '../../src/shared/secret.ts';
import { pathOf } from '../exchange/message.ts';
import { normalPrefix } from './bucket.ts';
import type { NamedTest } from './condition.ts';
import { compileConditions, headerHolds, LazyQuery, pseudoHeader, queryHolds } from './condition.ts';
import type { RoutedRequest } from './facts.ts';
import { routedHost, routedPath } from './facts.ts';
import { comparePrecedence, describePath, precedenceReason } from './precedence.ts';
import type { Matched, RouteTable } from './table.ts';
import { normalHostname } from './table.ts';

export interface Explanation {
  /** Keys of the routes whose host fitted, sorted. */
  readonly evaluated: readonly string[];
  /** Every route but the winner, with the first thing that did not match; those that came furthest first. */
  readonly rejected: readonly RejectedRoute[];
}

export interface ExplainOptions<T> {
  /** What the look-up found; looked up again when left out. */
  readonly winner?: Matched<T> | null | undefined;
  /** Whether the values of a header or query parameter of this name must not be shown. */
  readonly isSensitive: (name: string) => boolean;
}

/** Says why each route but the winner lost. Slow by design: it looks at every route, and is called only for a trace. */
export function explain<T>(table: RouteTable<T>, request: RoutedRequest, options: ExplainOptions<T>): Explanation {
  const winner = options.winner === undefined ? table.match(request) : options.winner;
  const view = viewOf(request, options.isSensitive);
  const evaluated: string[] = [];
  const losses: Loss[] = [];
  for (const [index, { route }] of table.entries.entries()) {
    const won = winner !== null && winner.routeIndex === index;
    const hostname = fittingHostname(route, view.host);
    if (hostname !== undefined) evaluated.push(route.key);
    if (won) continue;
    losses.push(
      hostname === undefined ? hostnameLoss(route, view) : bestLoss({ route, index, hostname }, view, winner),
    );
  }
  losses.sort((a, b) => b.progress - a.progress);
  return { evaluated: evaluated.sort(), rejected: losses.map((loss) => loss.rejected) };
}

interface View {
  readonly request: RoutedRequest;
  readonly host: string;
  readonly path: string;
  readonly query: LazyQuery;
  readonly isSensitive: (name: string) => boolean;
}

interface Loss {
  /** How many kinds of conditions held before one did not. */
  readonly progress: number;
  readonly rejected: RejectedRoute;
}

interface Fitting {
  readonly route: HttpRoute;
  readonly index: number;
  readonly hostname: string;
}

const PROGRESS = { hostname: 0, path: 1, method: 2, header: 3, query: 4, precedence: 5 } as const;

function viewOf(request: RoutedRequest, isSensitive: (name: string) => boolean): View {
  const query = new LazyQuery();
  query.reset(request.target);
  return { request, host: routedHost(request.authority), path: routedPath(request.target), query, isSensitive };
}

/** The most specific hostname of the route that fits; empty for a route of any host, undefined when none fits. */
function fittingHostname(route: HttpRoute, host: string): string | undefined {
  if (route.hostnames.length === 0) return '';
  const fitting = route.hostnames.map(normalHostname).filter((hostname) => hostnameFits(hostname, host));
  return fitting.sort((a, b) => hostnameRank(a) - hostnameRank(b))[0];
}

function hostnameFits(hostname: string, host: string): boolean {
  if (hostname === '' || hostname === '*') return true;
  if (!hostname.startsWith('*.')) return hostname === host;
  return host.length > hostname.length - 1 && host.endsWith(hostname.slice(1));
}

/** Order of the hostname buckets, smallest first. */
export function hostnameRank(hostname: string): number {
  if (hostname === '') return Number.POSITIVE_INFINITY;
  if (hostname === '*') return Number.MAX_SAFE_INTEGER;
  return hostname.startsWith('*.') ? 1_000_000 - hostname.length : 0;
}

function hostnameLoss(route: HttpRoute, view: View): Loss {
  const rejected = { route: route.key, failed: 'hostname', expected: route.hostnames.join(', '), actual: view.host };
  return { progress: PROGRESS.hostname, rejected };
}

/** Of several alternatives, the one that came furthest tells most. */
function bestLoss<T>(fitting: Fitting, view: View, winner: Matched<T> | null): Loss {
  let best: Loss | null = null;
  for (const [matchIndex, match] of fitting.route.matches.entries()) {
    const loss = conditionLoss(fitting.route, match, view) ?? precedenceLoss(fitting, matchIndex, winner);
    if (best === null || loss.progress > best.progress) best = loss;
  }
  return best ?? noMatches(fitting.route, view);
}

function noMatches(route: HttpRoute, view: View): Loss {
  const rejected = { route: route.key, failed: 'path', expected: 'nothing: matches is empty', actual: view.path };
  return { progress: PROGRESS.path, rejected };
}

function conditionLoss(route: HttpRoute, match: RouteMatch, view: View): Loss | null {
  const { request } = view;
  const conditions = compileConditions(match, `route ${route.key}`);
  const lost = (kind: keyof typeof PROGRESS, failed: string, expected: string, actual: string | null): Loss => ({
    progress: PROGRESS[kind],
    rejected: { route: route.key, failed, expected, actual },
  });
  const pathFits = conditions.pathRegex?.(view.path) ?? literalPathFits(match, view.path);
  if (!pathFits) return lost('path', 'path', describePath(match.path), view.path);
  if (conditions.method !== null && conditions.method !== request.method) {
    return lost('method', 'method', conditions.method, request.method);
  }
  for (const header of conditions.headers) {
    if (headerHolds(header, request)) continue;
    return lost('header', `header ${header.name}`, ...shown(header, actualHeader(header.name, request), view));
  }
  for (const parameter of conditions.query) {
    if (queryHolds(parameter, view.query)) continue;
    const actual = view.query.get(parameter.name) ?? null;
    return lost('query', `query ${parameter.name}`, ...shown(parameter, actual, view));
  }
  return null;
}

function precedenceLoss<T>(fitting: Fitting, matchIndex: number, winner: Matched<T> | null): Loss {
  const match = fitting.route.matches[matchIndex];
  const progress = PROGRESS.precedence;
  const base = { route: fitting.route.key, failed: 'precedence' };
  if (winner === null || match === undefined)
    return { progress, rejected: { ...base, expected: 'first', actual: null } };
  if ((winner.hostname ?? '') !== fitting.hostname) {
    const expected = `host ${winner.hostname ?? 'any'}`;
    return { progress, rejected: { ...base, expected, actual: `host ${fitting.hostname || 'any'}` } };
  }
  const loser = { route: fitting.route, match, routeIndex: fitting.index, matchIndex };
  const first = comparePrecedence(winner, loser) <= 0;
  return { progress, rejected: { ...base, ...precedenceReason(first ? winner : loser, first ? loser : winner) } };
}

function literalPathFits(match: RouteMatch, path: string): boolean {
  if (match.path.kind === 'exact') return match.path.value === path;
  const prefix = normalPrefix(match.path.value);
  return path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 47);
}

/** Expected and actual value, unless the name says that they are secrets. */
function shown(condition: NamedTest, actual: string | null, view: View): [expected: string, actual: string | null] {
  if (view.isSensitive(condition.name)) return [REDACTED, actual === null ? null : REDACTED];
  const { kind, value } = condition.match.value;
  return [kind === 'regex' ? `regex ${value}` : value, actual];
}

function actualHeader(name: string, request: RoutedRequest): string | null {
  if (name === ':path') return pathOf(request.target); // a query may hold credentials
  const pseudo = pseudoHeader(name, request);
  if (pseudo !== undefined) return pseudo;
  const values = request.headers.getAll(name);
  return values.length === 0 ? null : values.join(', ');
}
