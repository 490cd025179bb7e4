import { isIP } from 'node:net';

import type {
  AgentCoreBackend,
  Backend,
  BackendPolicies,
  BackendTunnel,
  GatewayConfig,
  HostBackend,
  HostTarget,
  Locality,
  NamedBackend,
  RouteTarget,
  Service,
  SimpleBackendRef,
} from '../../src/config/ir/index.ts';
import { GwError } from '../../src/shared/errors.ts';
import { agentCoreHost, agentCorePolicies } from './agent-core.ts';
import { DynamicBackend } from './dynamic-backend.ts';
import { dynamicIdentity, hostIdentity, memberIdentity, virtualModelIdentity } from './endpoint-identity.ts';
import type { EndpointView } from './endpoint-view.ts';
import type { Endpoint } from './health.ts';
import { peerOf } from './connect.ts';
import { TlsContexts } from './origin-tls.ts';
import { OriginTemplate, type ProxyWay } from './origin.ts';
import { authorityOf, PickSet, type VersionChoice } from './pick-set.ts';
import { connectionKey, proxyWay } from './proxy-way.ts';
import { backendDoesNotExist, invalidBackendType, serviceNotFound } from './refusal.ts';
import { refused, type ResolvedBackend } from './resolved.ts';
import { ServiceBackend } from './service-backend.ts';
import { byPreference, serviceEndpoints } from './service-endpoints.ts';
import type { Refusal } from '../exchange/refusal.ts';

export interface BackendDeps {
  /** From endpoint identity to its row in the shared endpoint state. */
  readonly rows: ReadonlyMap<string, number>;
  readonly view: EndpointView;
  /** Shared with other compilations to parse certificates once. */
  readonly contexts?: TlsContexts | undefined;
  readonly random?: (() => number) | undefined;
  /** Epoch milliseconds */
  readonly now?: (() => number) | undefined;
  /** Where this gateway runs; undefined prefers no endpoint by place. */
  readonly locality?: Locality | undefined;
}

/** Anything a route or a mirror can name that traffic can be sent to; route groups are routing's business. */
export type BackendTarget = Exclude<RouteTarget, { readonly kind: 'routeGroup' }> | SimpleBackendRef;

/** The compiled backends of one configuration. */
export function compileBackends(config: GatewayConfig, deps: BackendDeps): BackendTable {
  return new BackendTable(config, deps);
}

export class BackendTable {
  readonly #config: GatewayConfig;
  readonly #deps: BackendDeps;
  readonly #contexts: TlsContexts;
  readonly #named: ReadonlyMap<string, NamedBackend>;
  readonly #services: ReadonlyMap<string, Service>;
  readonly #resolved = new Map<string, ResolvedBackend>();
  readonly #originKeys = new Set<string>();
  /** Proxies whose own way is being compiled. */
  readonly #proxies = new Set<string>();

  constructor(config: GatewayConfig, deps: BackendDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#contexts = deps.contexts ?? new TlsContexts();
    this.#named = new Map(config.backends.map((named) => [`/${named.name}`, named]));
    this.#services = new Map(config.services.map((service) => [`${service.namespace}/${service.hostname}`, service]));
  }

  /** A named backend; both spellings, `name` and `/name`. */
  named(reference: string): NamedBackend | undefined {
    return this.#named.get(reference.startsWith('/') ? reference : `/${reference}`);
  }

  /**
   * The backend under the policies that hold for it, already merged. Equal ones are one object. Throws a `GwError` for a
   * reference to nothing and for TLS that cannot be used.
   */
  resolve(target: BackendTarget, policies: BackendPolicies): ResolvedBackend {
    const key = `${targetKey(target)}|${connectionKey(policies)}`;
    let resolved = this.#resolved.get(key);
    if (resolved === undefined) {
      resolved = this.#compile(target, policies);
      this.#resolved.set(key, resolved);
    }
    return resolved;
  }

  /** Keys of all origins with fixed addresses; what `UpstreamPools.retainOnly` takes. */
  originKeys(): ReadonlySet<string> {
    return this.#originKeys;
  }

  #compile(target: BackendTarget, policies: BackendPolicies): ResolvedBackend {
    switch (target.kind) {
      case 'inline':
        return this.#backend(target.backend, policies);
      case 'service':
        return this.#service(target, policies);
      case 'invalid':
        return refusing({ kind: 'invalid', key: 'invalid', name: 'invalid' }, backendDoesNotExist);
      case 'reference': {
        const named = this.named(target.backend);
        if (named !== undefined) return this.#backend(named.backend, policies);
        throw new GwError(`backend ${target.backend} does not exist`, {
          code: 'GW_UNKNOWN_BACKEND',
          hint: `add an entry with name: ${target.backend.replace(/^\//, '')} to backends`,
        });
      }
    }
  }

  #backend(backend: Backend, policies: BackendPolicies): ResolvedBackend {
    switch (backend.kind) {
      case 'host':
        return this.#host(backend, policies);
      case 'dynamic': {
        const { key } = backend;
        const endpoint = this.#endpoint(dynamicIdentity(key), key, policies);
        const template = this.#template(policies, true);
        return new DynamicBackend({ key, template, choice: choiceOf(policies), endpoint });
      }
      case 'internal':
        return refusing({ kind: 'internal', key: backend.key, name: backend.key }, invalidBackendType, backend.path);
      // Calls go to one of their members.
      case 'ai':
      case 'models':
        return refusing({ kind: 'ai', key: backend.key, name: backend.key }, invalidBackendType);
      // Calls go to one or several of its targets.
      case 'mcp':
        return refusing({ kind: 'mcp', key: backend.key, name: backend.key }, invalidBackendType);
      case 'agentCore':
        return this.#agentCore(backend, policies);
    }
  }

  /**
   * One host of a member of a backend. The member keeps its own account of health, whichever of its hosts is called; `key`
   * is that of the member. Throws a `GwError` for TLS that cannot be used.
   */
  member(key: string, target: HostTarget, policies: BackendPolicies): ResolvedBackend {
    const choice = choiceOf(policies);
    // What the client speaks with the gateway says nothing of a service that is not asked (TLS asks).
    const appProtocol = choice.backendTls ? undefined : 'Http11';
    const endpoint = this.memberEndpoint(key, policies);
    return this.#address({ key, target, endpoint, choice: { ...choice, appProtocol } }, policies);
  }

  /** The account of a member. */
  memberEndpoint(key: string, policies: BackendPolicies): Endpoint {
    return this.#endpoint(memberIdentity(key), key, policies);
  }

  /** The account of what a virtual model passes on to others. */
  virtualModelEndpoint(name: string): Endpoint {
    return this.#endpoint(virtualModelIdentity(name), name, {});
  }

  #agentCore(backend: AgentCoreBackend, own: BackendPolicies): ResolvedBackend {
    const { key } = backend;
    const target = { kind: 'tcp', host: agentCoreHost(backend), port: 443 } as const;
    const member = this.member(key, target, agentCorePolicies(own, backend));
    // Only requests can be signed.
    return { ...member, kind: 'agentCore', agent: backend, pickTunnel: () => refused(invalidBackendType) };
  }

  #host(backend: HostBackend, policies: BackendPolicies): ResolvedBackend {
    const { key, target } = backend;
    const endpoint = this.#endpoint(hostIdentity(backend), peerOf(target), policies);
    return this.#address({ key, target, endpoint, choice: choiceOf(policies) }, policies);
  }

  #address({ key, target, endpoint, choice }: Addressed, policies: BackendPolicies): ResolvedBackend {
    const template = this.#template(policies, false);
    const authority = authorityOf(target, template.usesTls);
    const picks = new PickSet({
      template,
      address: target,
      endpoint,
      authorityHost: authority,
      autoAuthority: authority,
    });
    for (const originKey of picks.keys()) this.#originKeys.add(originKey);
    return {
      kind: 'host',
      key,
      name: key,
      ...(target.kind === 'unix' ? {} : { host: target.host }),
      internalPath: undefined,
      pick: (facts) => picks.http(choice, facts),
      pickTunnel: () => picks.tunnel(),
    };
  }

  #service(target: BackendTarget & { kind: 'service' }, policies: BackendPolicies): ResolvedBackend {
    const { namespace, hostname, port } = target;
    const names = { key: `service/${namespace}/${hostname}:${port}`, name: `${namespace}/${hostname}:${port}` };
    const service = this.#services.get(`${namespace}/${hostname}`);
    if (service === undefined || service.ports[String(port)] === undefined) {
      return refusing({ kind: 'service', ...names }, serviceNotFound);
    }
    // Addresses are verified by the service's names, host names by themselves; wildcards take names from requests.
    const byAddress = this.#template(withServiceNames(policies, service), false);
    const byName = this.#template(policies, false);
    const byRequest = this.#template(policies, true);
    const { view, random, now, locality } = this.#deps;
    const backend = new ServiceBackend({
      ...names,
      authority: hostname,
      groups: byPreference(service, serviceEndpoints(service, port, this.#config.workloads), locality),
      endpointFor: (endpoint) => this.#endpoint(endpoint.identity, endpoint.workload.uid, policies),
      templateFor: ({ host }) => (host.startsWith('*.') ? byRequest : isIP(host) === 0 ? byName : byAddress),
      choice: { ...choiceOf(policies), appProtocol: service.appProtocols[String(port)] },
      view,
      random: random ?? Math.random,
      now: now ?? Date.now,
    });
    for (const originKey of backend.originKeys()) this.#originKeys.add(originKey);
    return backend;
  }

  #template({ backendTLS, http, tcp, backendTunnel }: BackendPolicies, ephemeral: boolean): OriginTemplate {
    const defaults = this.#config.process.backend;
    const proxy = backendTunnel && this.#proxy(backendTunnel);
    return new OriginTemplate({ tls: backendTLS, http, tcp, defaults, contexts: this.#contexts, ephemeral, proxy });
  }

  #proxy(tunnel: BackendTunnel): ProxyWay {
    const { proxy } = tunnel;
    const named = proxy.kind === 'reference' ? this.named(proxy.backend) : undefined;
    const policies: BackendPolicies = { ...named?.policies, ...tunnel.policies };
    const key = targetKey(proxy);
    if (this.#proxies.has(key))
      throw new GwError(`backendTunnel: the way to the proxy ${key} leads through itself`, {
        code: 'GW_BACKEND_TUNNEL',
      });
    this.#proxies.add(key);
    try {
      return proxyWay(this.resolve(proxy, policies), policies);
    } finally {
      this.#proxies.delete(key);
    }
  }

  #endpoint(identity: string, name: string, { health }: BackendPolicies): Endpoint {
    const row = this.#deps.rows.get(identity);
    if (row === undefined) throw new Error(`endpoint ${identity} has no row in the shared state`);
    return { identity, name, row, health };
  }
}

interface Addressed {
  readonly key: string;
  readonly target: HostTarget;
  readonly endpoint: Endpoint;
  readonly choice: VersionChoice;
}

function choiceOf({ http, backendTLS }: BackendPolicies): VersionChoice {
  return { http, appProtocol: undefined, backendTls: backendTLS !== undefined };
}

/** What the certificates of a service's addresses have to carry. */
function withServiceNames(policies: BackendPolicies, service: Service): BackendPolicies {
  const tls = policies.backendTLS;
  if (tls === undefined) return policies;
  const names = service.subjectAltNames.length > 0 ? service.subjectAltNames : undefined;
  return {
    ...policies,
    backendTLS: {
      ...tls,
      hostname: tls.hostname ?? service.hostname,
      subjectAltNames: tls.subjectAltNames ?? names,
    },
  };
}

/** A backend that takes no calls over the network. */
function refusing(
  names: Pick<ResolvedBackend, 'kind' | 'key' | 'name'>,
  refusal: Refusal,
  internalPath?: string,
): ResolvedBackend {
  const answer = refused(refusal);
  return { ...names, internalPath, pick: () => answer, pickTunnel: () => answer };
}

function targetKey(target: BackendTarget): string {
  switch (target.kind) {
    case 'inline':
      return `inline ${target.backend.kind} ${target.backend.key}`;
    case 'reference':
      return `reference ${target.backend}`;
    case 'service':
      return `service ${target.namespace}/${target.hostname}:${target.port}`;
    case 'invalid':
      return 'invalid';
  }
}
