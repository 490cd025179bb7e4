import type { HttpRoute, PathMatch, RouteMatch } from '../../src/config/ir/index.ts';

/** One alternative of one route, with its place in the file. */
export interface Ranked {
  readonly route: HttpRoute;
  readonly match: RouteMatch;
  readonly routeIndex: number;
  readonly matchIndex: number;
}

/**
 * The order inside one hostname bucket: exact paths before prefixes before regular expressions; the longer path;
 * with a method; more headers; more query parameters; first in the file. Negative when `a` wins.
 */
export function comparePrecedence(a: Ranked, b: Ranked): number {
  return (
    PATH_RANK[a.match.path.kind] - PATH_RANK[b.match.path.kind] ||
    b.match.path.value.length - a.match.path.value.length ||
    Number(b.match.method !== undefined) - Number(a.match.method !== undefined) ||
    b.match.headers.length - a.match.headers.length ||
    b.match.query.length - a.match.query.length ||
    a.routeIndex - b.routeIndex ||
    a.matchIndex - b.matchIndex
  );
}

/** Why `winner` comes before `loser` in the same bucket, in the words of a trace. */
export function precedenceReason(winner: Ranked, loser: Ranked): { expected: string; actual: string } {
  const won = winner.match;
  const lost = loser.match;
  if (won.path.kind !== lost.path.kind || won.path.value.length !== lost.path.value.length) {
    return { expected: `better than ${describePath(won.path)}`, actual: describePath(lost.path) };
  }
  if ((won.method === undefined) !== (lost.method === undefined)) {
    return { expected: 'a method match', actual: 'none' };
  }
  if (won.headers.length !== lost.headers.length) {
    return { expected: `at least ${won.headers.length} header matches`, actual: String(lost.headers.length) };
  }
  if (won.query.length !== lost.query.length) {
    return { expected: `at least ${won.query.length} query matches`, actual: String(lost.query.length) };
  }
  return { expected: `before ${winner.route.key} in the file`, actual: 'after it' };
}

export function describePath(path: PathMatch): string {
  return `${PATH_WORD[path.kind]} ${path.value}`;
}

const PATH_RANK = { exact: 0, pathPrefix: 1, regex: 2 } as const;
const PATH_WORD = { exact: 'exact', pathPrefix: 'prefix', regex: 'regex' } as const;
