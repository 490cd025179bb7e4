import { splitAuthority } from '../exchange/message.ts';
import { type Bound, chooseBound, hash64 } from './affinity.ts';
import { choose, compileBuckets, isEvicted, type BalanceDeps, type Bucket } from './balance.ts';
import { AddressBook } from './dynamic-backend.ts';
import type { EndpointView } from './endpoint-view.ts';
import type { Endpoint } from './health.ts';
import type { OriginTemplate } from './origin.ts';
import { PickSet, type VersionChoice } from './pick-set.ts';
import { noHealthyBackends } from './refusal.ts';
import { refused, type PickFacts, type Picked, type Refused, type ResolvedBackend } from './resolved.ts';
import type { ServiceEndpoint } from './service-endpoints.ts';

const unavailable: Refused = refused(noHealthyBackends);

interface ServiceCandidate extends Bound {
  /** Null for a wildcard host name, which has no address before it knows the request. */
  readonly picks: PickSet | null;
  readonly wildcard: { readonly suffix: string; readonly port: number; readonly book: AddressBook } | null;
}

export interface ServiceBackendOptions {
  readonly key: string;
  readonly name: string;
  /** Rewritten to by `authority: auto`. */
  readonly authority: string;
  /** In order of preference. */
  readonly groups: readonly (readonly ServiceEndpoint[])[];
  readonly endpointFor: (endpoint: ServiceEndpoint) => Endpoint;
  readonly templateFor: (endpoint: ServiceEndpoint) => OriginTemplate;
  readonly choice: VersionChoice;
  readonly view: EndpointView;
  readonly random: () => number;
  /** Epoch milliseconds */
  readonly now: () => number;
}

/** Balances over the workloads of one port of a service. */
export class ServiceBackend implements ResolvedBackend {
  readonly kind = 'service';
  readonly key: string;
  readonly name: string;
  readonly host: string | undefined;
  readonly internalPath = undefined;
  readonly #options: ServiceBackendOptions;
  readonly #buckets: readonly Bucket<ServiceCandidate>[];
  readonly #hasWildcards: boolean;

  constructor(options: ServiceBackendOptions) {
    this.key = options.key;
    this.name = options.name;
    this.host = options.authority.startsWith('*.') ? undefined : options.authority;
    this.#options = options;
    this.#buckets = compileBuckets(options.groups.map((group) => group.map((endpoint) => this.#candidate(endpoint))));
    this.#hasWildcards = options.groups.some((group) => group.some((endpoint) => endpoint.host.startsWith('*.')));
  }

  pick(facts: PickFacts): Picked | Refused {
    const picks = this.#choose(facts.authority, facts.affinity);
    return picks === undefined ? unavailable : picks.http(this.#options.choice, facts);
  }

  pickTunnel(authority: string | null): Picked | Refused {
    return this.#choose(authority ?? '')?.tunnel() ?? unavailable;
  }

  originKeys(): string[] {
    return this.#buckets.flatMap((bucket) => bucket.candidates.flatMap((candidate) => candidate.picks?.keys() ?? []));
  }

  #choose(authority: string, affinity?: string): PickSet | undefined {
    const { view, random, now } = this.#options;
    const host = this.#hasWildcards ? splitAuthority(authority).host.toLowerCase() : '';
    const viable = this.#hasWildcards ? (candidate: ServiceCandidate) => covers(candidate, host) : null;
    const deps: BalanceDeps<ServiceCandidate> = { view, random, nowMs: view.someEvicted() ? now() : 0, viable };
    const chosen =
      affinity === undefined
        ? choose(this.#buckets, deps)
        : chooseBound(this.#buckets, affinity, { viable, isEvicted: (candidate) => isEvicted(candidate, deps) });
    return chosen?.picks ?? chosen?.wildcard?.book.get(host, chosen.wildcard.port);
  }

  #candidate(source: ServiceEndpoint): ServiceCandidate {
    const { authority, templateFor, endpointFor } = this.#options;
    const template = templateFor(source);
    const endpoint = endpointFor(source);
    const hash = hash64(endpoint.identity);
    const common = { endpoint, authorityHost: null, autoAuthority: authority };
    if (!source.host.startsWith('*.')) {
      const address = { kind: 'tcp', host: source.host, port: source.port } as const;
      return {
        endpoint,
        hash,
        capacity: source.capacity,
        picks: new PickSet({ ...common, template, address }),
        wildcard: null,
      };
    }
    const book = new AddressBook((address) => new PickSet({ ...common, template, address }));
    const wildcard = { suffix: source.host.slice(1).toLowerCase(), port: source.port, book };
    return { endpoint, hash, capacity: source.capacity, picks: null, wildcard };
  }
}

function covers({ wildcard }: ServiceCandidate, host: string): boolean {
  return wildcard === null || (host.length > wildcard.suffix.length && host.endsWith(wildcard.suffix));
}
