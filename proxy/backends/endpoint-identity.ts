import type { Backend, GatewayConfig, HostBackend, ModelsBackend } from '../../src/config/ir/index.ts';
import { peerOf } from './connect.ts';
import { serviceEndpoints } from './service-endpoints.ts';

/** Who an endpoint is, across reloads: the same definition keeps its health and its counters. */
export function hostIdentity(backend: HostBackend): string {
  return `backend/${backend.key}/${peerOf(backend.target)}`;
}

export function dynamicIdentity(key: string): string {
  return `dynamic/${key}`;
}

/** A member of a backend that has several, by the member's key. */
export function memberIdentity(key: string): string {
  return `member/${key}`;
}

/** Names of the virtual models that pass requests on to models which serve others too. */
export function passingOn({ virtualModels }: ModelsBackend): readonly string[] {
  return virtualModels.flatMap(({ name, routing }) => (routing.kind === 'failover' ? [] : [name]));
}

/** The account of a virtual model that passes requests on to others, beside theirs. */
export function virtualModelIdentity(name: string): string {
  return `virtual-model/${name}`;
}

/** Every endpoint identity of a configuration; the control thread acquires a row for each. */
export function endpointIdentities(config: GatewayConfig): Set<string> {
  const identities = new Set<string>();
  for (const named of config.backends) addBackend(named.backend, identities);
  for (const service of config.services) {
    for (const port of Object.keys(service.ports)) {
      for (const endpoint of serviceEndpoints(service, Number(port), config.workloads))
        identities.add(endpoint.identity);
    }
  }
  addInline([config.backends, config.binds, config.routeGroups, config.policies, config.frontend], identities);
  return identities;
}

/** Backends are written inline in many places: in routes, and in policies that call or copy to one. */
function addInline(value: unknown, identities: Set<string>): void {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  if (isInline(value)) addBackend(value.backend, identities);
  // What others wrote says nothing of backends.
  else if (isDocument(value)) return;
  for (const part of Object.values(value)) addInline(part, identities);
}

function isInline(value: object): value is { readonly kind: 'inline'; readonly backend: Backend } {
  return 'kind' in value && value.kind === 'inline' && 'backend' in value;
}

function isDocument(value: object): boolean {
  return 'kind' in value && value.kind === 'inline' && 'document' in value;
}

function addBackend(backend: Backend, identities: Set<string>): void {
  if (backend.kind === 'host') identities.add(hostIdentity(backend));
  else if (backend.kind === 'dynamic') identities.add(dynamicIdentity(backend.key));
  else if (backend.kind === 'ai') for (const { key } of backend.groups.flat()) identities.add(memberIdentity(key));
  else if (backend.kind === 'models') {
    for (const model of backend.models) addBackend(model.backend, identities);
    for (const { routing } of backend.virtualModels)
      if (routing.kind === 'failover') addBackend(routing.backend, identities);
    for (const name of passingOn(backend)) identities.add(virtualModelIdentity(name));
  } else if (backend.kind === 'agentCore') identities.add(memberIdentity(backend.key));
  else if (backend.kind === 'mcp') {
    for (const { key, server } of backend.targets) if (server.kind !== 'stdio') identities.add(memberIdentity(key));
  }
}
