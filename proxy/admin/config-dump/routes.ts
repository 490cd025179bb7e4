import type {
  BindDump,
  EffectivePolicyDump,
  ListenerDump,
  RouteBackendDump,
  RouteDump,
} from '../../../src/admin/protocol/config-dump.ts';
import type {
  Bind,
  HttpRoute,
  Listener,
  RouteBackend,
  RouteMatch,
  TcpRoute,
  ValueMatch,
} from '../../../src/config/ir/index.ts';
import { assertNever } from '../../../src/shared/assert-never.ts';
import type { EffectiveOfRoute, EffectivePolicies } from './effective.ts';
import { agentCoreDump } from './backends.ts';
import { backendPolicies, routePolicies } from './policies.ts';
import { targetText } from './target-text.ts';

/** A bind with its listeners; `port` is the number it got when it asked for any. */
export function bindDump(bind: Bind, port: number, effective: EffectivePolicies): BindDump {
  return {
    key: bind.key,
    address: bind.port === 0 ? bind.address.replace(/:0$/, `:${port}`) : bind.address,
    protocol: bind.protocol,
    tunnelProtocol: bind.tunnelProtocol,
    mode: bind.mode,
    listeners: Object.fromEntries(
      bind.listeners.map((listener) => [listener.key, listenerDump(bind, listener, effective)]),
    ),
  };
}

export function routeDump(route: HttpRoute, effective: EffectiveOfRoute): RouteDump {
  const policies = routePolicies(route.policies);
  return {
    ...routeNames(route),
    matches: route.matches.map(matchDump),
    ...(route.backends.length > 0
      ? { backends: route.backends.map((backend) => routeBackend(backend, effective.backend(backend))) }
      : {}),
    ...(policies.length > 0 ? { inlinePolicies: policies } : {}),
    ...(effective.policies.length > 0 ? { effectivePolicies: effective.policies } : {}),
  };
}

function listenerDump(bind: Bind, listener: Listener, effective: EffectivePolicies): ListenerDump {
  const own = routePolicies(listener.policies);
  const gateway = effective.listener(bind, listener);
  return {
    key: listener.key,
    gatewayName: listener.gatewayName,
    gatewayNamespace: listener.gatewayNamespace,
    listenerName: listener.name,
    hostname: listener.hostname,
    protocol: protocolDump(listener),
    ...(own.length > 0 ? { inlinePolicies: own } : {}),
    ...(gateway.length > 0 ? { effectivePolicies: gateway } : {}),
    ...(listener.routes.length > 0
      ? {
          routes: Object.fromEntries(
            listener.routes.map((route) => [route.key, routeDump(route, effective.route(bind, listener, route))]),
          ),
        }
      : {}),
    ...(listener.tcpRoutes.length > 0
      ? {
          tcpRoutes: Object.fromEntries(
            listener.tcpRoutes.map((route) => [
              route.key,
              tcpRouteDump(route, effective.tcpBackend(bind, listener, route)),
            ]),
          ),
        }
      : {}),
  };
}

function protocolDump({ protocol }: Listener): ListenerDump['protocol'] {
  if (protocol.kind === 'HTTP' || protocol.kind === 'TCP') return protocol.kind;
  if (protocol.tls === undefined) return { [protocol.kind]: null };
  return { [protocol.kind]: { certificateSource: protocol.tls.mode === 'static' ? 'Static' : 'DynamicCa' } };
}

function tcpRouteDump(route: TcpRoute, effective: EffectiveOfRoute['backend']): RouteDump {
  const policies = routePolicies(route.policies);
  return {
    ...routeNames(route),
    backends: route.backends.map((backend) => routeBackend(backend, effective(backend))),
    ...(policies.length > 0 ? { inlinePolicies: policies } : {}),
  };
}

function routeNames(route: HttpRoute | TcpRoute): RouteDump {
  return {
    key: route.key,
    name: route.name,
    namespace: route.namespace,
    ...(route.ruleName === undefined ? {} : { ruleName: route.ruleName }),
    ...(route.hostnames.length > 0 ? { hostnames: route.hostnames } : {}),
  };
}

function matchDump(match: RouteMatch): Readonly<Record<string, unknown>> {
  return {
    ...(match.headers.length > 0 ? { headers: match.headers.map(valueDump) } : {}),
    path: { [match.path.kind]: match.path.value },
    ...(match.method === undefined ? {} : { method: match.method }),
    ...(match.query.length > 0 ? { query: match.query.map(valueDump) } : {}),
  };
}

function valueDump({ name, value }: ValueMatch): Readonly<Record<string, unknown>> {
  return { name, value: { [value.kind]: value.value } };
}

function routeBackend(backend: RouteBackend, effective: readonly EffectivePolicyDump[]): RouteBackendDump {
  const policies = backendPolicies(backend.policies);
  return {
    weight: backend.weight,
    ...routeTarget(backend),
    ...(policies.length > 0 ? { inlinePolicies: policies } : {}),
    ...(effective.length > 0 ? { effectivePolicies: effective } : {}),
  };
}

function routeTarget({ target }: RouteBackend): Readonly<Record<string, unknown>> {
  switch (target.kind) {
    case 'reference':
      return { backend: target.backend };
    case 'inline':
      return { inlineBackend: inlineDump(target.backend) };
    case 'service':
      return { service: { name: { namespace: target.namespace, hostname: target.hostname }, port: target.port } };
    case 'routeGroup':
      return { routeGroup: target.name };
    case 'invalid':
      return { invalid: {} };
    default:
      return assertNever(target);
  }
}

function inlineDump(
  backend: Extract<RouteBackend['target'], { kind: 'inline' }>['backend'],
): Readonly<Record<string, unknown>> {
  if (backend.kind === 'host') return { host: { name: backend.key, target: targetText(backend.target) } };
  if (backend.kind === 'dynamic') return { dynamic: { target: backend.target } };
  if (backend.kind === 'ai') return { ai: { name: backend.key } };
  if (backend.kind === 'models') return { llmRouter: { name: backend.key } };
  if (backend.kind === 'mcp') return { mcp: { name: backend.key } };
  if (backend.kind === 'agentCore') return { aws: { name: backend.key, agentCore: agentCoreDump(backend) } };
  return { internal: { path: backend.path } };
}
