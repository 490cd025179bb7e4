import type { ConfigDump, VersionDump } from '../../../src/admin/protocol/config-dump.ts';
import type { Backend, GatewayConfig, ListenAddress, ProcessConfig } from '../../../src/config/ir/index.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import type { McpLive } from '../../mcp/records/live.ts';
import { backendDump, inlineBackendDump, serviceDump, type LiveEndpoints } from './backends.ts';
import { EffectivePolicies } from './effective.ts';
import { modelBackends, modelsDump } from './models.ts';
import { durations, frontendPolicies, targetedPolicy } from './policies.ts';
import { bindDump, routeDump } from './routes.ts';

export interface DumpFacts {
  readonly config: GatewayConfig;
  readonly revision: string;
  readonly live: LiveEndpoints;
  /** What data threads have seen of MCP, where there are some. */
  readonly mcp?: McpLive | undefined;
  /** The port that a bind got. */
  readonly portOf: (bindKey: string) => number;
  readonly version: VersionDump;
  readonly threads: number;
}

/** Everything that is loaded, as `/config_dump` shows it. Key order is part of the protocol's habit. */
export function configDump(facts: DumpFacts): ConfigDump {
  const { config, live } = facts;
  const effective = new EffectivePolicies(config);
  const around = { live, sessions: config.process.mcpSessions, mcp: facts.mcp };
  return {
    workloads: config.workloads.map((workload) => ({ ...workload })),
    services: config.services.map((service) => serviceDump(service, config.workloads, live)),
    binds: config.binds.map((bind) => bindDump(bind, facts.portOf(bind.key), effective)),
    routes: {
      httpMesh: {},
      tcpMesh: {},
      routeGroups: Object.fromEntries(
        config.routeGroups.map((group) => [
          group.name,
          Object.fromEntries(group.routes.map((route) => [route.key, routeDump(route, effective.grouped(route))])),
        ]),
      ),
    },
    policies: [...frontendPolicies(config.frontend), ...config.policies.map(targetedPolicy)],
    backends: [
      ...config.backends.map((backend) => backendDump(backend, around)),
      ...[...inlineBackends(config), ...modelBackends(config)].map((backend) => inlineBackendDump(backend, around)),
    ],
    models: modelsDump(config, live),
    version: facts.version,
    config: processDump(config.process, facts.threads),
    revision: facts.revision,
  };
}

/** Backends written inside routes, each once. */
function inlineBackends(config: GatewayConfig): Backend[] {
  const routes = [
    ...config.binds.flatMap((bind) => bind.listeners.flatMap(({ routes: http, tcpRoutes }) => [...http, ...tcpRoutes])),
    ...config.routeGroups.flatMap((group) => group.routes),
  ];
  const found = new Map<string, Backend>();
  for (const { target } of routes.flatMap((route) => route.backends)) {
    if (target.kind === 'inline') found.set(target.backend.key, target.backend);
  }
  return [...found.values()];
}

function processDump(config: ProcessConfig, threads: number): Readonly<Record<string, unknown>> {
  return {
    ipv6Enabled: config.enableIpv6,
    network: '',
    selfIdentity: null,
    terminationMaxDeadline: formatDuration(config.terminationMaxDeadlineMs),
    terminationMinDeadline: formatDuration(config.terminationMinDeadlineMs),
    numWorkerThreads: threads,
    adminAddr: addressText(config.adminAddr),
    statsAddr: addressText(config.statsAddr),
    readinessAddr: addressText(config.readinessAddr),
    selfAddr: null,
    histograms: config.histograms,
    metrics: config.metrics,
    logging: config.logging,
    sensitiveHeaders: config.sensitiveHeaders,
    dns: config.dns,
    threadingMode: 'multithreaded',
    sessionEncoder: config.mcpSessions.key === undefined ? 'base64' : 'aes',
    backend: { ...durations(config.backend), keepalives: durations(config.backend.keepalives) },
    mcp: { sessionTtl: formatDuration(config.mcpSessions.ttlMs) },
  };
}

/** As the setting is written. */
export function addressText(address: ListenAddress): string {
  if (address.kind === 'off') return 'off';
  if (address.kind === 'unix') return `unix:${address.path}`;
  const [host = ''] = address.hosts;
  if (address.hosts.length > 1) return `localhost:${address.port}`;
  return host.includes(':') ? `[${host}]:${address.port}` : `${host}:${address.port}`;
}
