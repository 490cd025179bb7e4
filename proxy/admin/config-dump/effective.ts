import type { EffectivePolicyDump, PolicyBody } from '../../../src/admin/protocol/config-dump.ts';
import type { Bind, GatewayConfig, HttpRoute, Listener, RouteBackend, TcpRoute } from '../../../src/config/ir/index.ts';
import {
  type BackendScope,
  type Effective,
  effectiveBackendPolicies,
  effectiveGatewayPolicies,
  effectiveRoutePolicies,
} from '../../policy/effective.ts';
import { backendPolicies, routePolicies } from './policies.ts';

/** Chains of routes that are told of one route of a group. */
const MAX_CHAINS = 8;
/** Characters of a policy that are repeated at each place where it holds. */
const MAX_LENGTH = 4000;
/** Levels of delegation that are followed. */
const MAX_DEPTH = 8;

/** Where a route takes effect. */
interface Place {
  readonly bind: Bind;
  readonly listener: Listener;
  readonly chain: readonly HttpRoute[];
}

/** What the dump tells of the policies that hold at each place, once those of all levels are put together. */
export class EffectivePolicies {
  readonly #config: GatewayConfig;
  /** Places of the routes of groups. */
  readonly #entered = new Map<HttpRoute, Place[]>();
  /** Several places share a policy, which is written out once. */
  readonly #written = new WeakMap<object, Written>();

  constructor(config: GatewayConfig) {
    this.#config = config;
    const groups = new Map(config.routeGroups.map((group) => [group.name, group.routes]));
    if (groups.size === 0) return;
    for (const bind of config.binds)
      for (const listener of bind.listeners)
        for (const route of listener.routes) this.#enter({ bind, listener, chain: [route] }, groups);
  }

  listener(bind: Bind, listener: Listener): readonly EffectivePolicyDump[] {
    return this.#list(effectiveGatewayPolicies(this.#config, { bind, listener }), routePolicies);
  }

  /** Of a route of a listener. */
  route(bind: Bind, listener: Listener, route: HttpRoute): EffectiveOfRoute {
    return this.#ofRoute([{ bind, listener, chain: [route] }]);
  }

  /** Of a backend of a TCP route. */
  tcpBackend(bind: Bind, listener: Listener, route: TcpRoute): EffectiveOfRoute['backend'] {
    return (routeBackend) => this.#backend({ bind, listener, chain: [route] }, routeBackend);
  }

  /** Of a route of a group, for each way that leads to it. */
  grouped(route: HttpRoute): EffectiveOfRoute {
    return this.#ofRoute(this.#entered.get(route) ?? []);
  }

  #ofRoute(places: readonly Place[]): EffectiveOfRoute {
    const each = (list: (place: Place) => readonly EffectivePolicyDump[]): EffectivePolicyDump[] =>
      places.flatMap((place) => {
        const via = place.chain.slice(0, -1).map(({ key }) => key);
        return list(place).map((entry) => (via.length === 0 ? entry : { ...entry, via }));
      });
    return {
      policies: each((place) => this.#list(effectiveRoutePolicies(this.#config, place), routePolicies)),
      backend: (routeBackend) => each((place) => this.#backend(place, routeBackend)),
    };
  }

  #backend(place: Omit<BackendScope, 'routeBackend'>, routeBackend: RouteBackend): readonly EffectivePolicyDump[] {
    const { target } = routeBackend;
    if (target.kind === 'routeGroup') return [];
    const named =
      target.kind === 'reference'
        ? this.#config.backends.find(({ backend }) => backend.key === target.backend)
        : undefined;
    const service = target.kind === 'service' ? target : undefined;
    return this.#list(
      effectiveBackendPolicies(this.#config, { ...place, routeBackend, named, service }),
      backendPolicies,
    );
  }

  #enter(place: Place, groups: ReadonlyMap<string, readonly HttpRoute[]>): void {
    const last = place.chain.at(-1);
    if (last === undefined || place.chain.length > MAX_DEPTH) return;
    for (const { target } of last.backends) {
      if (target.kind !== 'routeGroup') continue;
      for (const route of groups.get(target.name) ?? []) {
        if (place.chain.includes(route)) continue;
        const known = this.#entered.get(route) ?? [];
        if (known.length >= MAX_CHAINS) continue;
        const entered = { ...place, chain: [...place.chain, route] };
        this.#entered.set(route, [...known, entered]);
        this.#enter(entered, groups);
      }
    }
  }

  #list<P extends object>(
    { values, sources }: Effective<P>,
    show: (policies: P) => readonly Readonly<Record<string, unknown>>[],
  ): readonly EffectivePolicyDump[] {
    return Object.entries(values).flatMap(([kind, value]): EffectivePolicyDump[] => {
      if (typeof value !== 'object' || value === null) return [];
      // `as`: the sources have the keys of the policies.
      const source = (sources as Readonly<Record<string, string>>)[kind] ?? '';
      // `as`: one policy of the set is a set of its kind.
      const written = this.#written.get(value) ?? writtenOut(show({ [kind]: value } as P)[0]);
      this.#written.set(value, written);
      return [{ kind, source, ...written }];
    });
  }
}

type Written = Pick<EffectivePolicyDump, 'policy'>;

/** A large policy of a gateway is not repeated at each of its routes. */
function writtenOut(policy: PolicyBody | undefined): Written {
  return policy === undefined || JSON.stringify(policy).length > MAX_LENGTH ? {} : { policy };
}

export interface EffectiveOfRoute {
  readonly policies: readonly EffectivePolicyDump[];
  /** Of one of its backends. */
  backend(routeBackend: RouteBackend): readonly EffectivePolicyDump[];
}
