import type { HttpRoute, RouteBackend } from '../../src/config/ir/index.ts';
import type { Refusal } from '../exchange/refusal.ts';
import { refuse } from '../exchange/refusal.ts';
import type { RoutedRequest } from './facts.ts';
import type { Matched, RouteTable } from './table.ts';
import type { Random } from './weighted.ts';

/** Where a chain of routes ends. `chain` runs from the listener's route to the last one that was entered. */
export type Delegation<T> =
  | { readonly kind: 'backend'; readonly chain: readonly Matched<T>[]; readonly backend: RouteBackend }
  /** No backends, or none with a weight: policies still run. */
  | { readonly kind: 'noBackend'; readonly chain: readonly Matched<T>[] }
  | { readonly kind: 'refused'; readonly chain: readonly Matched<T>[]; readonly refusal: Refusal };

export interface DelegationFacts<T> {
  readonly request: RoutedRequest;
  /** Tables of the route groups by name. */
  readonly groups: ReadonlyMap<string, RouteTable<T>>;
  readonly random: Random;
}

export const routeNotFound: Refusal = refuse(404, 'NotFound', 'route not found');
const cycleDetected: Refusal = refuse(500, 'Internal', 'route delegation cycle detected');

/** Follows `routeGroup` backends from the route that the listener's table chose; the weights are drawn at each level. */
export function resolveDelegation<T>(start: Matched<T>, facts: DelegationFacts<T>): Delegation<T> {
  const chain = [start];
  for (let current = start; ;) {
    const backend = current.backends.choose(facts.random);
    if (backend === undefined) return { kind: 'noBackend', chain };
    if (backend.target.kind !== 'routeGroup') return { kind: 'backend', chain, backend };
    const child = facts.groups.get(backend.target.name)?.match(facts.request) ?? null;
    if (child === null) return { kind: 'refused', chain, refusal: routeNotFound };
    if (chain.some((route) => route.route.key === child.route.key))
      return { kind: 'refused', chain, refusal: cycleDetected };
    chain.push(child);
    current = child;
  }
}

/**
 * What was compiled for a chain of routes, made when a chain is first met: the chains that a configuration allows can
 * be too many to make them all at load, those that are in use are few. `build` must not fail.
 */
export class ChainCache<T> {
  readonly #root: ChainNode<T> = { children: new Map(), value: undefined };
  readonly #build: (chain: readonly HttpRoute[]) => T;

  constructor(build: (chain: readonly HttpRoute[]) => T) {
    this.#build = build;
  }

  get(chain: readonly { readonly route: HttpRoute }[]): T {
    let node = this.#root;
    for (const { route } of chain) {
      let child = node.children.get(route);
      if (child === undefined) node.children.set(route, (child = { children: new Map(), value: undefined }));
      node = child;
    }
    node.value ??= { made: this.#build(chain.map(({ route }) => route)) };
    return node.value.made;
  }
}

interface ChainNode<T> {
  readonly children: Map<HttpRoute, ChainNode<T>>;
  value: { readonly made: T } | undefined;
}
