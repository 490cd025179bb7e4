import type {
  Bind,
  HttpRoute,
  Listener,
  NamedBackend,
  PolicyTarget,
  TargetedPolicy,
  TcpRoute,
} from '../../src/config/ir/index.ts';
import { assertNever } from '../../src/shared/assert-never.ts';

export type AnyRoute = HttpRoute | TcpRoute;

/** Where a listener stands. */
export interface Place {
  readonly bind: Pick<Bind, 'port'>;
  readonly listener: Pick<Listener, 'name' | 'gatewayName' | 'gatewayNamespace'>;
}

export interface ServiceRef {
  readonly hostname: string;
  readonly namespace: string;
  readonly port: number;
}

type TargetOf<K extends PolicyTarget['kind']> = Extract<PolicyTarget, { readonly kind: K }>;

/** How closely a policy is attached to a listener; null when it is not. */
export function listenerFit(target: PolicyTarget, { bind, listener }: Place): 'gateway' | 'listener' | null {
  if (target.kind !== 'gateway') return null;
  if (target.gatewayName !== listener.gatewayName || target.gatewayNamespace !== listener.gatewayNamespace) return null;
  if (target.listenerName !== undefined) return target.listenerName === listener.name ? 'listener' : null;
  if (target.port !== undefined) return target.port === bind.port ? 'listener' : null;
  return 'gateway';
}

/** How closely a policy is attached to a route; null when it is not. */
export function routeFit(target: PolicyTarget, route: AnyRoute): 'route' | 'rule' | null {
  if (target.kind !== 'route' || target.name !== route.name || target.namespace !== route.namespace) return null;
  if (target.routeKind !== undefined && !kindFits(target.routeKind, route)) return null;
  if (target.ruleName === undefined) return 'route';
  return target.ruleName === route.ruleName ? 'rule' : null;
}

export function backendFits(target: PolicyTarget, named: NamedBackend): boolean {
  return target.kind === 'backend' && target.section === undefined && isNamed(target, named);
}

/** Whether a policy is attached to one of several services of a backend, by name. */
export function memberFits(target: PolicyTarget, named: NamedBackend, member: string): boolean {
  return target.kind === 'backend' && target.section === member && isNamed(target, named);
}

/** How closely a policy is attached to a service (`section`: to the port of one); null when it is not. */
export function serviceFit(target: PolicyTarget, service: ServiceRef): 'section' | 'backend' | null {
  if (target.kind !== 'service') return null;
  if (target.hostname !== service.hostname || target.namespace !== service.namespace) return null;
  if (target.port === undefined) return 'backend';
  return target.port === service.port ? 'section' : null;
}

/** For traces and messages: `policy default/p on gateway default/default`. */
export function policySource(policy: TargetedPolicy): string {
  return `policy ${policy.namespace}/${policy.name} on ${describeTarget(policy.target)}`;
}

export function routeSource(route: AnyRoute): string {
  return `route ${route.namespace}/${route.name}${route.ruleName === undefined ? '' : ` rule ${route.ruleName}`}`;
}

export function describeTarget(target: PolicyTarget): string {
  switch (target.kind) {
    case 'gateway':
      return `gateway ${target.gatewayNamespace}/${target.gatewayName}${listenerPart(target)}`;
    case 'listenerSet':
      return `listener set ${target.namespace}/${target.name}${suffix(' section ', target.section)}`;
    case 'route':
      return `route ${target.namespace}/${target.name}${suffix(' rule ', target.ruleName)}`;
    case 'backend':
      return `backend ${target.namespace}/${target.name}${suffix(' section ', target.section)}`;
    case 'service':
      return `service ${target.namespace}/${target.hostname}${suffix(' port ', target.port)}`;
    default:
      return assertNever(target);
  }
}

function listenerPart(target: TargetOf<'gateway'>): string {
  return suffix(' listener ', target.listenerName) + suffix(' port ', target.port);
}

function suffix(word: string, value: string | number | undefined): string {
  return value === undefined ? '' : `${word}${value}`;
}

/** Named backends of a file have no namespace; `default` is what a file writes for it. */
function isNamed(target: TargetOf<'backend'>, named: NamedBackend): boolean {
  return target.name === named.name && (target.namespace === '' || target.namespace === 'default');
}

function kindFits(routeKind: string, route: AnyRoute): boolean {
  const kinds =
    'matches' in route ? ['httproute', 'grpcroute', 'http', 'grpc'] : ['tcproute', 'tlsroute', 'tcp', 'tls'];
  return kinds.includes(routeKind.toLowerCase());
}
