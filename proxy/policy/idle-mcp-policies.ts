import type { Backend, BackendPolicies, GatewayConfig, HttpRoute, TargetedPolicy } from '../../src/config/ir/index.ts';
import { isOfKind, leadsTo, type PlacedRoute, placedRoutes } from './leads-to.ts';
import { backendFits, listenerFit, policySource, routeFit, routeSource } from './target.ts';

/** A policy about MCP that nothing is told to. */
export interface IdleMcpPolicy {
  /** The entry of `policies` (`namespace/name`) or `backends`, or the route, that it is written on. */
  readonly at: { readonly kind: 'policy' | 'route' | 'backend'; readonly name: string };
  readonly policy: McpPolicy;
  readonly message: string;
}

type McpPolicy = 'mcpAuthorization' | 'mcpGuardrails';

const POLICIES: readonly McpPolicy[] = ['mcpAuthorization', 'mcpGuardrails'];
const SERVERS: ReadonlySet<Backend['kind']> = new Set(['mcp']);

/**
 * Rules and processors of MCP where every backend is of another kind: they see nothing, and refuse nothing. Behind a plain
 * `host` may well be a server of MCP, but the gateway does not look into its messages.
 */
export function idleMcpPolicies(config: GatewayConfig): readonly IdleMcpPolicy[] {
  const placed = placedRoutes(config);
  return [...onRoutes(config, placed), ...onNamedBackends(config), ...onTargets(config, placed)];
}

function onRoutes(config: GatewayConfig, placed: readonly PlacedRoute[]): IdleMcpPolicy[] {
  // A route that is attached twice is written once.
  const routes = new Map(placed.map(({ route }) => [`${route.namespace}/${route.name}`, route]));
  return [...routes].flatMap(([name, route]) => {
    const own = leadsTo(route, config, SERVERS) ? [] : present(route.policies);
    const ofBackends = route.backends.flatMap(({ target, policies }) =>
      isOfKind(target, config, SERVERS) ? [] : present(policies),
    );
    return [...new Set([...own, ...ofBackends])].map((policy) =>
      idle({ kind: 'route', name }, policy, routeSource(route)),
    );
  });
}

function onNamedBackends({ backends }: GatewayConfig): IdleMcpPolicy[] {
  return backends.flatMap(({ name, backend, policies }) =>
    SERVERS.has(backend.kind)
      ? []
      : present(policies).map((policy) => idle({ kind: 'backend', name }, policy, `backend ${backend.key}`)),
  );
}

function onTargets(config: GatewayConfig, placed: readonly PlacedRoute[]): IdleMcpPolicy[] {
  return config.policies.flatMap((targeted) => {
    const { policy, name, namespace } = targeted;
    const found = present(policy.kind === 'backend' ? policy.backend : policy.traffic);
    if (found.length === 0 || isUseful(targeted, config, placed)) return [];
    const at = { kind: 'policy', name: `${namespace}/${name}` } as const;
    return found.map((each) => idle(at, each, policySource(targeted)));
  });
}

/** Of what is attached to nothing, that is told by itself. */
function isUseful({ target }: TargetedPolicy, config: GatewayConfig, placed: readonly PlacedRoute[]): boolean {
  if (target.kind === 'backend') {
    const named = config.backends.find((each) => backendFits({ ...target, section: undefined }, each));
    return named === undefined || SERVERS.has(named.backend.kind);
  }
  const routes = placed.filter(
    ({ route, place }) => routeFit(target, route) !== null || (place !== null && listenerFit(target, place) !== null),
  );
  return (
    routes.length === 0 || routes.some(({ route }: { readonly route: HttpRoute }) => leadsTo(route, config, SERVERS))
  );
}

function present(policies: Pick<BackendPolicies, McpPolicy>): McpPolicy[] {
  return POLICIES.filter((name) => policies[name] !== undefined);
}

function idle(at: IdleMcpPolicy['at'], policy: McpPolicy, source: string): IdleMcpPolicy {
  return { at, policy, message: `${source}: \`${policy}\` has no effect, as no backend is of the kind \`mcp\`` };
}
