import { isIP } from 'node:net';

import type { Locality, Service, Workload } from '../../src/config/ir/index.ts';

/** One workload that serves a port of a service. */
export interface ServiceEndpoint {
  /** `service/<namespace>/<hostname>:<port>/<uid>` */
  readonly identity: string;
  readonly workload: Workload;
  /** IP address or hostname to dial; `*.suffix` takes the request's host. */
  readonly host: string;
  readonly port: number;
  readonly capacity: number;
}

/** The endpoints of one port of a service, unhealthy ones left out unless the service's health policy wants them. */
export function serviceEndpoints(service: Service, port: number, workloads: readonly Workload[]): ServiceEndpoint[] {
  const everyone = service.loadBalancer?.healthPolicy === 'AllowAll';
  const endpoints: ServiceEndpoint[] = [];
  for (const workload of workloads) {
    if (!everyone && workload.status === 'Unhealthy') continue;
    const endpoint = endpointOf(service, port, workload);
    if (endpoint !== undefined) endpoints.push(endpoint);
  }
  return endpoints;
}

function endpointOf(service: Service, port: number, workload: Workload): ServiceEndpoint | undefined {
  const serviceKey = `${service.namespace}/${service.hostname}`;
  const ports = workload.services[serviceKey];
  const targetPort = ports === undefined ? undefined : workloadPort(ports, service, port);
  const host = hostOf(workload, service);
  if (targetPort === undefined || host === undefined) return undefined;
  const identity = `service/${serviceKey}:${port}/${workload.uid}`;
  return { identity, workload, host, port: targetPort, capacity: workload.capacity };
}

/** The workload's own mapping; where it has none, or 0, the service's target port. */
function workloadPort(ports: Readonly<Record<string, number>>, service: Service, port: number): number | undefined {
  const key = String(port);
  const own = ports[key];
  if (own === undefined && Object.keys(ports).length > 0) return undefined;
  return own === undefined || own === 0 ? service.ports[key] : own;
}

function hostOf(workload: Workload, service: Service): string | undefined {
  if (workload.workloadIps.length === 0) return workload.hostname;
  const family = service.ipFamilies === 'IPv4' ? 4 : service.ipFamilies === 'IPv6' ? 6 : undefined;
  return workload.workloadIps.find((address) => family === undefined || isIP(address) === family);
}

/**
 * Endpoints in order of preference. Failover: those that share most of the leading routing preferences with the gateway
 * first; Strict: only those that share all. Without a known locality of its own the gateway prefers none. Passthrough is
 * Standard: a gateway ends connections, so there is no original destination to keep.
 */
export function byPreference(
  service: Service,
  endpoints: readonly ServiceEndpoint[],
  own: Locality | undefined,
): ServiceEndpoint[][] {
  const balancer = service.loadBalancer;
  const mode = balancer?.mode;
  if (balancer === undefined || own === undefined || (mode !== 'Failover' && mode !== 'Strict'))
    return [[...endpoints]];
  const wanted = balancer.routingPreferences;
  const rank = ({ workload }: ServiceEndpoint): number => {
    const differs = wanted.findIndex((scope) => scopeOf(workload, scope) !== ownScope(own, scope));
    return differs === -1 ? wanted.length : differs;
  };
  if (mode === 'Strict') return [endpoints.filter((endpoint) => rank(endpoint) === wanted.length)];
  return wanted
    .map((_scope, missing) => endpoints.filter((endpoint) => rank(endpoint) === wanted.length - missing))
    .concat([endpoints.filter((endpoint) => rank(endpoint) === 0)]);
}

type Scope = NonNullable<Service['loadBalancer']>['routingPreferences'][number];

function scopeOf(workload: Workload, scope: Scope): string {
  switch (scope) {
    case 'Region':
      return workload.locality.region;
    case 'Zone':
      return workload.locality.zone;
    case 'Subzone':
      return workload.locality.subzone;
    case 'Node':
      return workload.node;
    case 'Cluster':
      return workload.clusterId;
    case 'Network':
      return workload.network;
  }
}

function ownScope(own: Locality, scope: Scope): string {
  switch (scope) {
    case 'Region':
      return own.region;
    case 'Zone':
      return own.zone;
    case 'Subzone':
      return own.subzone;
    case 'Node':
      return own.node;
    case 'Cluster':
      return own.cluster;
    case 'Network':
      return own.network;
  }
}
