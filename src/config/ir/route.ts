import type { Backend } from './backend.ts';
import type { BackendPolicies, RoutePolicies } from './policy.ts';

/** One HTTP route. `key` is `<listenerKey>/<namespace>/<name>` and unique. */
export interface HttpRoute {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly ruleName?: string | undefined;
  /** Exact or `*.suffix`, lower case; empty is any host. */
  readonly hostnames: readonly string[];
  /** Alternatives; an empty list never matches. */
  readonly matches: readonly RouteMatch[];
  readonly policies: RoutePolicies;
  readonly backends: readonly RouteBackend[];
}

/** Every part has to hold. */
export interface RouteMatch {
  readonly path: PathMatch;
  readonly method?: string | undefined;
  readonly headers: readonly ValueMatch[];
  readonly query: readonly ValueMatch[];
}

export type PathMatch =
  | { readonly kind: 'exact'; readonly value: string }
  | { readonly kind: 'pathPrefix'; readonly value: string }
  | { readonly kind: 'regex'; readonly value: string };

/** A header (or pseudo-header such as `:method`; lower case) or a query parameter, compared whole. */
export interface ValueMatch {
  readonly name: string;
  readonly value: { readonly kind: 'exact' | 'regex'; readonly value: string };
}

export interface RouteBackend {
  readonly weight: number;
  /** Position in the route's list, for keys and messages. */
  readonly index: number;
  readonly target: RouteTarget;
  readonly policies: BackendPolicies;
}

export type RouteTarget =
  | { readonly kind: 'reference'; readonly backend: string }
  | { readonly kind: 'inline'; readonly backend: Backend }
  | { readonly kind: 'service'; readonly hostname: string; readonly namespace: string; readonly port: number }
  | { readonly kind: 'routeGroup'; readonly name: string }
  | { readonly kind: 'invalid' };

export interface RouteGroup {
  readonly name: string;
  readonly routes: readonly HttpRoute[];
}

export interface TcpRoute {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly ruleName?: string | undefined;
  /** Compared with the SNI; empty is any. */
  readonly hostnames: readonly string[];
  readonly policies: Pick<RoutePolicies, 'backendTLS'>;
  readonly backends: readonly RouteBackend[];
}
