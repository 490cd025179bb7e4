import { Headers } from '../../../proxy/exchange/headers.ts';
import type { RoutedRequest } from '../../../proxy/routing/facts.ts';
import type { HttpRoute, PathMatch, RouteBackend, RouteMatch, ValueMatch } from '../../../src/config/ir/index.ts';

type Value = string | { regex: string };

export interface MatchShort {
  exact?: string;
  prefix?: string;
  regex?: string;
  method?: string;
  headers?: Record<string, Value>;
  query?: Record<string, Value>;
}

/** A route in short hand, key `<name>`. */
export interface RouteShort {
  name: string;
  hosts?: string[];
  matches?: MatchShort[];
  backends?: RouteBackend[];
}

export function route(short: RouteShort): HttpRoute {
  return {
    key: short.name,
    name: short.name,
    namespace: 'default',
    hostnames: short.hosts ?? [],
    matches: (short.matches ?? [{ prefix: '/' }]).map(match),
    policies: {},
    backends: short.backends ?? [],
  };
}

export function match(short: MatchShort): RouteMatch {
  return {
    path: pathMatch(short),
    ...(short.method === undefined ? {} : { method: short.method }),
    headers: Object.entries(short.headers ?? {}).map(valueMatch),
    query: Object.entries(short.query ?? {}).map(valueMatch),
  };
}

export interface RequestShort {
  method?: string;
  host?: string;
  target?: string;
  headers?: [string, string][];
}

export function request(short: RequestShort = {}): RoutedRequest {
  return {
    method: short.method ?? 'GET',
    scheme: 'http',
    authority: short.host ?? 'shop.test',
    target: short.target ?? '/',
    headers: Headers.from(short.headers ?? []),
  };
}

export function groupBackend(name: string, weight = 1, index = 0): RouteBackend {
  return { weight, index, target: { kind: 'routeGroup', name }, policies: {} };
}

export function referenceBackend(backend: string, weight = 1, index = 0): RouteBackend {
  return { weight, index, target: { kind: 'reference', backend }, policies: {} };
}

function pathMatch(short: MatchShort): PathMatch {
  if (short.exact !== undefined) return { kind: 'exact', value: short.exact };
  if (short.regex !== undefined) return { kind: 'regex', value: short.regex };
  return { kind: 'pathPrefix', value: short.prefix ?? '/' };
}

function valueMatch([name, value]: [string, Value]): ValueMatch {
  return {
    name,
    value: typeof value === 'string' ? { kind: 'exact', value } : { kind: 'regex', value: value.regex },
  };
}
