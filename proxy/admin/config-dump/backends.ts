import type { BackendDump, EndpointGroupDump, ServiceDump } from '../../../src/admin/protocol/config-dump.ts';
import type {
  AgentCoreBackend,
  Backend,
  HostBackend,
  NamedBackend,
  Service,
  Workload,
} from '../../../src/config/ir/index.ts';
import type { EndpointInfo } from '../../backends/endpoint-view.ts';
import { infoDump } from './endpoint-info.ts';
import { type McpSurroundings, mcpTarget } from './mcp.ts';
import { aiTarget, type LiveMembers } from './models.ts';
import { backendPolicies } from './policies.ts';
import { targetText } from './target-text.ts';

/** Live numbers of the endpoints, where they are known. */
export interface LiveEndpoints extends LiveMembers {
  ofBackend(backend: HostBackend): EndpointInfo | undefined;
  ofService(service: Service, workload: Workload): EndpointInfo | undefined;
}

/** What a backend is shown with. */
export interface Surroundings extends McpSurroundings {
  readonly live: LiveEndpoints;
}

export function backendDump({ name, backend, policies }: NamedBackend, around: Surroundings): BackendDump {
  const inlinePolicies = backendPolicies(policies);
  return { ...(inlinePolicies.length > 0 ? { inlinePolicies } : {}), backend: variant(backend, name, around) };
}

/** Host backends that routes hold themselves, listed with the named ones so that their health has one place. */
export function inlineBackendDump(backend: Backend, around: Surroundings): BackendDump {
  return { backend: variant(backend, backend.key, around) };
}

export function serviceDump(service: Service, workloads: readonly Workload[], live: LiveEndpoints): ServiceDump {
  return {
    name: service.name,
    namespace: service.namespace,
    hostname: service.hostname,
    vips: service.vips,
    ports: service.ports,
    appProtocols: service.appProtocols,
    endpoints: [serviceEndpoints(service, workloads, live)],
    subjectAltNames: service.subjectAltNames,
    ...(service.loadBalancer === undefined ? {} : { loadBalancer: service.loadBalancer }),
    ...(service.ipFamilies === undefined ? {} : { ipFamilies: service.ipFamilies }),
  };
}

function variant(backend: Backend, name: string, around: Surroundings): Readonly<Record<string, unknown>> {
  const { live } = around;
  const names = { name, namespace: 'default' };
  if (backend.kind === 'dynamic') return { dynamic: names };
  if (backend.kind === 'internal') return { internal: { ...names, path: backend.path } };
  if (backend.kind === 'ai') return { ai: { ...names, target: aiTarget(backend, live) } };
  if (backend.kind === 'models') return { llmRouter: names };
  if (backend.kind === 'mcp') return { mcp: { ...names, target: mcpTarget(backend, around) } };
  if (backend.kind === 'agentCore') return { aws: { ...names, agentCore: agentCoreDump(backend) } };
  const info = live.ofBackend(backend);
  const target = targetText(backend.target);
  if (info === undefined) return { host: { ...names, target } };
  const entry = { [target]: { endpoint: { name: target }, info: infoDump(info, live.nowMs), capacity: 1 } };
  const group = info.evictedUntil === null ? { active: entry, rejected: {} } : { active: {}, rejected: entry };
  return { host: { ...names, target, endpoints: [group] } };
}

/** What the configuration says of an agent on AWS. */
export function agentCoreDump({ arn, qualifier }: AgentCoreBackend): Readonly<Record<string, unknown>> {
  return { agentRuntimeArn: arn, ...(qualifier === undefined ? {} : { qualifier }) };
}

function serviceEndpoints(service: Service, workloads: readonly Workload[], live: LiveEndpoints): EndpointGroupDump {
  const active: Record<string, EndpointGroupDump['active'][string]> = {};
  const rejected: typeof active = {};
  for (const workload of workloads) {
    const port = workload.services[`${service.namespace}/${service.hostname}`];
    if (port === undefined) continue;
    const info = live.ofService(service, workload);
    const evicted = info !== undefined && info.evictedUntil !== null;
    (evicted ? rejected : active)[workload.uid] = {
      endpoint: { workloadUid: workload.uid, port, status: workload.status },
      info: infoDump(info, live.nowMs),
      capacity: workload.capacity,
    };
  }
  return { active, rejected };
}
