import type { GatewayConfig, HttpRoute, TargetedPolicy, TcpRoute } from '../../src/config/ir/index.ts';
import type { AnyRoute } from './target.ts';
import { backendFits, describeTarget, listenerFit, policySource, routeFit, routeSource, serviceFit } from './target.ts';

/** What is valid and yet has no effect: attached to nothing or to what it cannot change, or hidden by an earlier entry. */
export function policyWarnings(config: GatewayConfig): readonly string[] {
  return [
    ...config.policies.flatMap((policy) => attachmentWarning(config, policy) ?? bytesWarning(config, policy)),
    ...config.binds.flatMap(({ listeners }) =>
      listeners.flatMap(({ tcpRoutes }) => tcpRoutes.flatMap((route) => namedBackendWarnings(config, route))),
    ),
    ...hiddenWarnings(config.policies),
  ];
}

function attachmentWarning(config: GatewayConfig, policy: TargetedPolicy): string | null {
  if (isAttached(config, policy)) return null;
  return `${policySource(policy)} is attached to nothing: there is no such ${attachable(policy)}`;
}

/** Policies that mean something where only bytes pass. */
const BYTES_KEYS: ReadonlySet<string> = new Set(['backendTLS', 'backendTunnel', 'tcp', 'health']);

/** A named backend may serve routes of both kinds; what guards its requests does not guard its bytes. */
function namedBackendWarnings(config: GatewayConfig, route: TcpRoute): string[] {
  return route.backends.flatMap(({ target }) => {
    if (target.kind !== 'reference') return [];
    const named = config.backends.find(({ backend }) => backend.key === target.backend);
    const idle = Object.keys(named?.policies ?? {}).filter((key) => !BYTES_KEYS.has(key));
    if (idle.length === 0) return [];
    const kinds = idle.join(', ');
    return [
      `policies of backend ${named?.name ?? ''} have no effect on ${routeSource(route)}, which carries bytes: ${kinds}`,
    ];
  });
}

function bytesWarning(config: GatewayConfig, policy: TargetedPolicy): string[] {
  const { target } = policy;
  const kind = kindOf(policy);
  if (target.kind !== 'route' || BYTES_KEYS.has(kind)) return [];
  const isHttp = allRoutes(config).some((route) => 'matches' in route && routeFit(target, route) !== null);
  if (isHttp) return [];
  return [`${policySource(policy)} has no effect: ${kind} needs requests, and a TCP route carries bytes`];
}

function isAttached(config: GatewayConfig, { target, policy }: TargetedPolicy): boolean {
  switch (target.kind) {
    case 'gateway':
      return config.binds.some((bind) =>
        bind.listeners.some((listener) => listenerFit(target, { bind, listener }) !== null),
      );
    case 'route':
      return allRoutes(config).some((route) => routeFit(target, route) !== null);
    case 'backend':
      return policy.kind === 'backend' && config.backends.some((named) => backendFits(target, named));
    case 'service':
      return policy.kind === 'backend' && config.services.some((service) => fitsService(target, service));
    default:
      return false; // a file has no listener sets
  }
}

function fitsService(target: TargetedPolicy['target'], service: GatewayConfig['services'][number]): boolean {
  const { hostname, namespace } = service;
  return Object.keys(service.ports).some(
    (port) => serviceFit(target, { hostname, namespace, port: Number(port) }) !== null,
  );
}

function attachable({ target, policy }: TargetedPolicy): string {
  const needsBackendPolicy = target.kind === 'backend' || target.kind === 'service';
  return needsBackendPolicy && policy.kind === 'traffic'
    ? `${describeTarget(target)} for a policy of routes`
    : describeTarget(target);
}

function allRoutes(config: GatewayConfig): readonly AnyRoute[] {
  const listeners = config.binds.flatMap((bind) => bind.listeners);
  const grouped: readonly HttpRoute[] = config.routeGroups.flatMap((group) => group.routes);
  return [...listeners.flatMap((listener) => [...listener.routes, ...listener.tcpRoutes]), ...grouped];
}

function hiddenWarnings(policies: readonly TargetedPolicy[]): string[] {
  const first = new Map<string, TargetedPolicy>();
  const warnings: string[] = [];
  for (const policy of policies) {
    const key = JSON.stringify([policy.target, policy.phase, kindOf(policy)]);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, policy);
    else
      warnings.push(`${policySource(policy)} has no effect: ${policySource(earlier)} already says ${kindOf(policy)}`);
  }
  return warnings;
}

function kindOf({ policy }: TargetedPolicy): string {
  return Object.keys(policy.kind === 'traffic' ? policy.traffic : policy.backend).join(', ');
}
