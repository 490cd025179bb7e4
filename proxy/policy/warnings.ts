import type {
  Backend,
  GatewayConfig,
  HttpRoute,
  NamedBackend,
  TargetedPolicy,
  TcpRoute,
} from '../../src/config/ir/index.ts';
import { idleMcpPolicies } from './idle-mcp-policies.ts';
import { idleTokenLimits } from './idle-token-limits.ts';
import type { AnyRoute } from './target.ts';
import {
  backendFits,
  describeTarget,
  listenerFit,
  memberFits,
  policySource,
  routeFit,
  routeSource,
  serviceFit,
} from './target.ts';

/** A policy without effect. */
export interface IdlePolicy {
  /** The entry of `policies` (`namespace/name`), or of `backends`, that it is written on. */
  readonly at: { readonly kind: 'policy' | 'backend'; readonly name: string };
  readonly message: string;
}

export function policyWarnings(config: GatewayConfig): readonly string[] {
  return [...idlePolicies(config), ...idleTokenLimits(config), ...idleMcpPolicies(config)].map(
    ({ message }) => message,
  );
}

/** What is valid and yet has no effect: attached to nothing or to what it cannot change, or hidden by an earlier entry. */
export function idlePolicies(config: GatewayConfig): readonly IdlePolicy[] {
  return [
    ...config.policies.flatMap((policy) => unattached(config, policy) ?? onBytes(config, policy) ?? []),
    ...config.binds.flatMap(({ listeners }) =>
      listeners.flatMap(({ tcpRoutes }) => tcpRoutes.flatMap((route) => onBytesOfBackend(config, route))),
    ),
    ...hidden(config.policies),
  ];
}

function idle(policy: TargetedPolicy, why: string): IdlePolicy {
  const at = { kind: 'policy', name: `${policy.namespace}/${policy.name}` } as const;
  return { at, message: `${policySource(policy)} ${why}` };
}

function unattached(config: GatewayConfig, policy: TargetedPolicy): IdlePolicy | null {
  if (isAttached(config, policy)) return null;
  return idle(policy, `is attached to nothing: there is no such ${attachable(policy)}`);
}

/** Policies that mean something where only bytes pass. */
const BYTES_KEYS: ReadonlySet<string> = new Set(['backendTLS', 'backendTunnel', 'tcp', 'health']);

/** A named backend may serve routes of both kinds; what guards its requests does not guard its bytes. */
function onBytesOfBackend(config: GatewayConfig, route: TcpRoute): IdlePolicy[] {
  return route.backends.flatMap(({ target }) => {
    if (target.kind !== 'reference') return [];
    const named = config.backends.find(({ backend }) => backend.key === target.backend);
    const keys = Object.keys(named?.policies ?? {}).filter((key) => !BYTES_KEYS.has(key));
    if (named === undefined || keys.length === 0) return [];
    const where = `${routeSource(route)}, which carries bytes`;
    const message = `policies of backend ${named.name} have no effect on ${where}: ${keys.join(', ')}`;
    return [{ at: { kind: 'backend', name: named.name }, message }];
  });
}

function onBytes(config: GatewayConfig, policy: TargetedPolicy): IdlePolicy | null {
  const { target } = policy;
  const kind = kindOf(policy);
  if (target.kind !== 'route' || BYTES_KEYS.has(kind)) return null;
  const isHttp = allRoutes(config).some((route) => 'matches' in route && routeFit(target, route) !== null);
  return isHttp ? null : idle(policy, `has no effect: ${kind} needs requests, and a TCP route carries bytes`);
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
      return policy.kind === 'backend' && config.backends.some((named) => fitsBackend(target, named));
    case 'service':
      return policy.kind === 'backend' && config.services.some((service) => fitsService(target, service));
    default:
      return false; // a file has no listener sets
  }
}

function fitsBackend(target: TargetedPolicy['target'], named: NamedBackend): boolean {
  return backendFits(target, named) || membersOf(named.backend).some((name) => memberFits(target, named, name));
}

/** Names of the services of a backend that has several. */
function membersOf(backend: Backend): string[] {
  if (backend.kind === 'models') return backend.models.flatMap((model) => membersOf(model.backend));
  if (backend.kind === 'mcp') return backend.targets.map(({ name }) => name);
  return backend.kind === 'ai' ? backend.groups.flat().map(({ name }) => name) : [];
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

function hidden(policies: readonly TargetedPolicy[]): IdlePolicy[] {
  const first = new Map<string, TargetedPolicy>();
  const found: IdlePolicy[] = [];
  for (const policy of policies) {
    const key = JSON.stringify([policy.target, policy.phase, kindOf(policy)]);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, policy);
    else found.push(idle(policy, `has no effect: ${policySource(earlier)} already says ${kindOf(policy)}`));
  }
  return found;
}

function kindOf({ policy }: TargetedPolicy): string {
  return Object.keys(policy.kind === 'traffic' ? policy.traffic : policy.backend).join(', ');
}
