import type { BackendPolicies, PolicyTarget, RoutePolicies, TargetedPolicy } from '../ir/policy.ts';
import type { Path } from '../load/problem.ts';
import { gatewayPolicyShape } from '../schema/policy-sets.ts';
import type { TargetedPolicySpec } from '../schema/targeted-policy.ts';
import type { Context } from './context.ts';
import type { BindDraft, ListenerDraft } from './listener.ts';
import { plainName } from './names.ts';
import { routePolicies } from './policy.ts';

/** Policies that connections to a backend take when they are attached to one. */
const BACKEND_KEYS: readonly (keyof RoutePolicies & keyof BackendPolicies)[] = [
  'requestHeaderModifier',
  'responseHeaderModifier',
  'requestRedirect',
  'requestMirror',
  'backendTLS',
  'backendTunnel',
  'backendAuth',
  'authorization',
  'extAuthz',
  'transformations',
  'ai',
  'mcpAuthorization',
  'mcpGuardrails',
  'a2a',
];

/** Those that have no place in the order of routes: they hold for the backends of whatever they are attached to. */
const ALWAYS_BACKEND: ReadonlySet<string> = new Set([
  'backendTLS',
  'backendTunnel',
  'backendAuth',
  'mcpAuthorization',
  'mcpGuardrails',
  'a2a',
]);

/** Policies that have a gateway phase. */
const GATEWAY_KEYS: ReadonlySet<string> = new Set(Object.keys(gatewayPolicyShape));

/** The entries of `policies`. One that targets a single gateway of the file becomes one for each of its listeners. */
export function targetedPolicies(
  context: Context,
  specs: readonly (TargetedPolicySpec | undefined)[],
  binds: readonly BindDraft[],
): TargetedPolicy[] {
  const keys = new Set<string>();
  return specs.flatMap((spec, index) => {
    if (spec === undefined) return [];
    const path = ['policies', index];
    const { name, namespace } = spec.name;
    checkPhase(context, spec, [...path, 'phase']);
    const found = targets(context, spec, { path: [...path, 'target'], binds });
    const own = found.map(() => unique(keys, `${namespace}/${name}`));
    const origin = `policy/${own[0] ?? ''}`;
    return found.map((target, at) => {
      const key = own[at] ?? '';
      const place = { path: [...path, 'policy'], key: `policy/${key}`, origin };
      const traffic = routePolicies(context, spec.policy, place);
      return {
        key,
        name,
        namespace,
        target,
        phase: spec.phase,
        policy: placement(context, { traffic, target, path: [...path, 'policy'] }),
      };
    });
  });
}

/** The gateway phase comes before routing: few policies know it, and only gateways and listeners have it. */
function checkPhase(context: Context, { phase, policy, target }: TargetedPolicySpec, path: Path): void {
  if (phase !== 'gateway') return;
  const key = Object.keys(policy)[0] ?? '';
  if (!GATEWAY_KEYS.has(key)) {
    context.report(path, 'GW_CONFIG_CONFLICT', `\`${key}\` has no gateway phase: it runs once a route is chosen`, {
      hint: `leave \`phase\` out, or use one of ${[...GATEWAY_KEYS].join(', ')}`,
    });
  } else if (target.gateway === undefined && target.listenerSet === undefined) {
    context.report(path, 'GW_CONFIG_CONFLICT', 'only a policy on a gateway or a listener has a gateway phase');
  }
}

function unique(keys: Set<string>, wanted: string): string {
  let key = wanted;
  for (let count = 2; keys.has(key); count += 1) key = `${wanted}#${count}`;
  keys.add(key);
  return key;
}

/** Whether the policy belongs to the route phase or to the connection to the backend. */
function placement(
  context: Context,
  { traffic, target, path }: { readonly traffic: RoutePolicies; readonly target: PolicyTarget; readonly path: Path },
): TargetedPolicy['policy'] {
  const key = Object.keys(traffic)[0] ?? '';
  const backendSide = target.kind === 'backend' || target.kind === 'service';
  const chosen = BACKEND_KEYS.find((name) => name === key);
  if (chosen !== undefined && (backendSide || ALWAYS_BACKEND.has(chosen))) {
    if (hasConditions(traffic[chosen]))
      context.report([...path, chosen], 'GW_CONFIG_CONFLICT', 'policies of a backend have no conditional form', {
        hint: 'attach it to the route or the gateway',
      });
    return { kind: 'backend', backend: { [chosen]: traffic[chosen] } };
  }
  if (target.kind === 'backend' && key !== '') {
    context.report(
      [...path, key],
      'GW_CONFIG_CONFLICT',
      `\`${key}\` cannot be attached to a backend: it is decided before one is chosen`,
      { hint: 'attach it to the route or the gateway' },
    );
  }
  return { kind: 'traffic', traffic };
}

/** The policy is a choice between several settings, see `Choice`. */
function hasConditions(policy: object | undefined): boolean {
  if (policy === undefined || !('entries' in policy) || !Array.isArray(policy.entries)) return false;
  return policy.entries.some((entry: { readonly condition?: unknown }) => entry.condition !== undefined);
}

interface TargetPlace {
  readonly path: Path;
  readonly binds: readonly BindDraft[];
}

function targets(context: Context, { target }: TargetedPolicySpec, place: TargetPlace): PolicyTarget[] {
  if (target.gateway !== undefined) return gatewayTargets(context, target.gateway, place);
  if (target.listenerSet !== undefined) {
    unattached(context, [...place.path, 'listenerSet'], 'a file has no listener sets');
    return [{ kind: 'listenerSet', ...target.listenerSet }];
  }
  if (target.route !== undefined) {
    const { kind: routeKind, ...route } = target.route;
    return [{ kind: 'route', ...route, routeKind }];
  }
  const { backend, service } = target.backend ?? {};
  if (backend !== undefined) return [backendTarget(context, backend, [...place.path, 'backend', 'backend'])];
  return service === undefined ? [] : [serviceTarget(context, service, [...place.path, 'backend', 'service'])];
}

type GatewayTarget = Extract<PolicyTarget, { kind: 'gateway' }>;

function gatewayTargets(
  context: Context,
  spec: Omit<GatewayTarget, 'kind'>,
  { path, binds }: TargetPlace,
): GatewayTarget[] {
  const at = [...path, 'gateway'];
  const single = spec.gatewayName !== 'default' && context.names.gateways.has(spec.gatewayName);
  const candidates = binds
    .flatMap((bind) => bind.listeners.map((listener) => ({ bind, listener })))
    .filter(({ listener }) => !single || listener.gateway === spec.gatewayName);
  const matching = candidates.filter(
    ({ bind, listener }) =>
      (spec.port === undefined || bind.port === spec.port) && isNamed(listener, spec.listenerName),
  );
  if (!single && spec.gatewayName !== 'default')
    unattached(context, at, `there is no gateway ${JSON.stringify(spec.gatewayName)}`);
  else if (matching.length === 0 && !context.partial) unattached(context, at, 'no listener fits it');
  if (single || (spec.listenerName !== undefined && matching.length > 0))
    return matching.map(({ listener }) => ({
      kind: 'gateway',
      gatewayName: 'default',
      gatewayNamespace: spec.gatewayNamespace,
      listenerName: listener.name,
    }));
  return [{ kind: 'gateway', ...spec }];
}

/** A listener goes by its full name, `gateway/listener`. */
function isNamed(listener: ListenerDraft, name: string | undefined): boolean {
  return name === undefined || listener.name === name || listener.name === `${listener.gateway}/${name}`;
}

function backendTarget(
  context: Context,
  spec: { readonly name: string; readonly namespace: string; readonly section?: string | undefined },
  path: Path,
): PolicyTarget {
  if (!context.names.backends.has(plainName(spec.name)))
    unattached(context, path, `there is no backend ${JSON.stringify(spec.name)}`);
  return { kind: 'backend', ...spec };
}

function serviceTarget(
  context: Context,
  spec: { readonly hostname: string; readonly namespace: string; readonly port?: number | undefined },
  path: Path,
): PolicyTarget {
  const hostname = spec.hostname.toLowerCase();
  if (!context.names.services.has(`${spec.namespace}/${hostname}`))
    unattached(context, path, `there is no service ${spec.namespace}/${hostname}`);
  return { kind: 'service', ...spec, hostname };
}

/** A policy that nothing takes is not an error, since what it waits for may come, but nobody should miss it. */
function unattached(context: Context, path: Path, reason: string): void {
  context.report(path, 'GW_CONFIG_REFERENCE', `this policy applies to nothing: ${reason}`, { severity: 'warning' });
}
