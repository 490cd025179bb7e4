import type {
  Backend,
  BackendPolicies,
  GatewayConfig,
  HostBackend,
  HttpRoute,
  RouteBackend,
  RoutePolicies,
  SimpleBackendRef,
} from '../../src/config/ir/index.ts';
import { peerOf } from './connect.ts';
import { serviceEndpoints } from './service-endpoints.ts';

/** Who an endpoint is, across reloads: the same definition keeps its health and its counters. */
export function hostIdentity(backend: HostBackend): string {
  return `backend/${backend.key}/${peerOf(backend.target)}`;
}

export function dynamicIdentity(key: string): string {
  return `dynamic/${key}`;
}

/** Every endpoint identity of a configuration; the control thread acquires a row for each. */
export function endpointIdentities(config: GatewayConfig): Set<string> {
  const identities = new Set<string>();
  for (const named of config.backends) {
    addBackend(named.backend, identities);
    addMirrors(named.policies, identities);
  }
  for (const route of routesOf(config)) addRoute(route, identities);
  for (const { policy } of config.policies) {
    addMirrors(policy.kind === 'traffic' ? policy.traffic : policy.backend, identities);
  }
  for (const service of config.services) {
    for (const port of Object.keys(service.ports)) {
      for (const endpoint of serviceEndpoints(service, Number(port), config.workloads))
        identities.add(endpoint.identity);
    }
  }
  return identities;
}

type AnyRoute = Pick<HttpRoute, 'backends'> & { readonly policies: RoutePolicies };

function* routesOf(config: GatewayConfig): Generator<AnyRoute> {
  for (const bind of config.binds) {
    for (const listener of bind.listeners) {
      yield* listener.routes;
      yield* listener.tcpRoutes;
    }
  }
  for (const group of config.routeGroups) yield* group.routes;
}

function addRoute(route: AnyRoute, identities: Set<string>): void {
  addMirrors(route.policies, identities);
  for (const backend of route.backends) addRouteBackend(backend, identities);
}

function addRouteBackend({ target, policies }: RouteBackend, identities: Set<string>): void {
  addMirrors(policies, identities);
  if (target.kind === 'inline') addBackend(target.backend, identities);
}

function addMirrors({ requestMirror }: Pick<BackendPolicies, 'requestMirror'>, identities: Set<string>): void {
  for (const mirror of requestMirror ?? []) addSimple(mirror.backend, identities);
}

function addSimple(ref: SimpleBackendRef, identities: Set<string>): void {
  if (ref.kind === 'inline') identities.add(hostIdentity(ref.backend));
}

function addBackend(backend: Backend, identities: Set<string>): void {
  if (backend.kind === 'host') identities.add(hostIdentity(backend));
  else if (backend.kind === 'dynamic') identities.add(dynamicIdentity(backend.key));
}
