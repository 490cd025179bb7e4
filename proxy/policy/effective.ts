import type {
  Authorization,
  BackendPolicies,
  GatewayConfig,
  GatewayPolicies,
  HandedOn,
  HttpRoute,
  Listener,
  NamedBackend,
  RouteBackend,
  RoutePolicies,
  TargetedPolicy,
} from '../../src/config/ir/index.ts';
import type { Merge } from './registry.ts';
import { backendPolicies, gatewayPolicies, routePolicies } from './registry.ts';
import type { AnyRoute, Place, ServiceRef } from './target.ts';
import { backendFits, listenerFit, memberFits, policySource, routeFit, routeSource, serviceFit } from './target.ts';

/** Policies after merging, each with the resource that it came from. */
export interface Effective<P> {
  readonly values: P;
  readonly sources: { readonly [K in keyof P]?: string };
}

export interface RouteScope extends Place {
  /** From the listener's route to the last one that delegation entered. */
  readonly chain: readonly HttpRoute[];
}

export interface BackendScope extends Place {
  readonly chain: readonly AnyRoute[];
  readonly routeBackend: RouteBackend;
  /** What `routeBackend` refers to, when it refers to a named backend. */
  readonly named?: NamedBackend | undefined;
  /** What `routeBackend` refers to, when it refers to a service. */
  readonly service?: ServiceRef | undefined;
  /** One of several services of the backend, which may have policies of its own. */
  readonly member?: Member | undefined;
}

export interface GatewayScope extends Place {
  readonly listener: Place['listener'] & Pick<Listener, 'policies'>;
}

interface Member {
  readonly name: string;
  readonly policies: BackendPolicies;
  /** What its address implies; set for targets of MCP alone. */
  readonly defaults?: BackendPolicies | undefined;
  /** The backend that it refers to, when it refers to one. */
  readonly named?: NamedBackend | undefined;
}

type Policies = Pick<GatewayConfig, 'policies'>;

/** A definition and who wrote it. */
interface Layer<P> {
  readonly values: P;
  readonly source: string;
}

/** Gateway-phase policies, least specific first: gateway, listener, what is written on the listener itself. */
export function effectiveGatewayPolicies(config: Policies, scope: GatewayScope): Effective<GatewayPolicies> {
  const targeted = (fit: 'gateway' | 'listener'): Layer<GatewayPolicies>[] =>
    config.policies
      .filter(({ phase, target }) => phase === 'gateway' && listenerFit(target, scope) === fit)
      .map((policy) => ({ values: trafficOf(policy), source: policySource(policy) }));
  const { policies, name, gatewayNamespace } = scope.listener;
  const own = { values: policies, source: `listener ${gatewayNamespace}/${name}` };
  return mergeLevels<GatewayPolicies>([targeted('gateway'), targeted('listener'), [own]], gatewayPolicies);
}

/**
 * Route-phase policies, least specific first: gateway, listener, targeted routes of the chain (parent before child,
 * route before rule), inline policies of the chain. Of several policies on one target the first in the file counts.
 */
export function effectiveRoutePolicies(config: Policies, scope: RouteScope): Effective<RoutePolicies> {
  const traffic = config.policies.filter((policy) => policy.phase === 'route' && policy.policy.kind === 'traffic');
  const targeted = (fits: (policy: TargetedPolicy) => boolean): Layer<RoutePolicies>[] =>
    traffic.filter(fits).map((policy) => ({ values: trafficOf(policy), source: policySource(policy) }));
  const levels = [
    targeted(({ target }) => listenerFit(target, scope) === 'gateway'),
    targeted(({ target }) => listenerFit(target, scope) === 'listener'),
    ...scope.chain.flatMap((route) => [
      targeted(({ target }) => routeFit(target, route) === 'route'),
      targeted(({ target }) => routeFit(target, route) === 'rule'),
    ]),
    ...scope.chain.map((route) => [{ values: route.policies, source: routeSource(route) }]),
  ];
  return mergeLevels<RoutePolicies>(levels, routePolicies);
}

/**
 * Policies about a backend, least specific first: gateway, listener, backend or service, one port of the service, the
 * routes of the chain (parent before child, route before rule before inline), the named backend, the reference itself;
 * of a member that is a named backend itself, that one.
 */
export function effectiveBackendPolicies(config: Policies, scope: BackendScope): Effective<BackendPolicies> {
  const { named, service, routeBackend, chain, member } = scope;
  const targeted = (fits: (policy: TargetedPolicy) => boolean): Layer<BackendPolicies>[] =>
    config.policies
      .filter((policy) => policy.phase === 'route' && fits(policy))
      .map((policy) => ({ values: backendOf(policy), source: policySource(policy) }));
  const last = chain.at(-1);
  const shared = member?.named;
  const referenceSource = `${last === undefined ? '' : `${routeSource(last)} `}backend ${routeBackend.index}`;
  const levels = [
    // What the address of a member implies gives way to whatever anybody says.
    member?.defaults === undefined ? [] : [{ values: member.defaults, source: `target ${member.name}` }],
    targeted(({ target }) => listenerFit(target, scope) === 'gateway'),
    targeted(({ target }) => listenerFit(target, scope) === 'listener'),
    targeted(
      ({ target }) =>
        (named !== undefined && backendFits(target, named)) || serviceLevel(target, service) === 'backend',
    ),
    targeted(
      ({ target }) =>
        serviceLevel(target, service) === 'section' ||
        (named !== undefined && member !== undefined && memberFits(target, named, member.name)),
    ),
    ...chain.flatMap((route) => [
      targeted(({ target }) => routeFit(target, route) === 'route'),
      targeted(({ target }) => routeFit(target, route) === 'rule'),
      [{ values: routeAsBackend(route.policies), source: routeSource(route) }],
    ]),
    named === undefined ? [] : [{ values: named.policies, source: `backend ${named.backend.key}` }],
    [{ values: routeBackend.policies, source: referenceSource }],
    ...(shared === undefined
      ? []
      : [
          targeted(({ target }) => backendFits(target, shared)),
          [{ values: shared.policies, source: `backend ${shared.backend.key}` }],
        ]),
    member === undefined ? [] : [{ values: member.policies, source: `${kindOf(member)} ${member.name}` }],
  ];
  return mergeLevels<BackendPolicies>(levels, backendPolicies);
}

/** Policies of a backend that no route sends to, least specific first: what targets it, or one port of it, and its own. */
export function effectiveMirrorPolicies(
  config: Policies,
  { named, service }: Pick<BackendScope, 'named' | 'service'>,
): Effective<BackendPolicies> {
  const targeted = (fits: (target: TargetedPolicy['target']) => boolean): Layer<BackendPolicies>[] =>
    config.policies
      .filter(({ phase, target }) => phase === 'route' && fits(target))
      .map((policy) => ({ values: backendOf(policy), source: policySource(policy) }));
  const levels = [
    targeted(
      (target) => (named !== undefined && backendFits(target, named)) || serviceLevel(target, service) === 'backend',
    ),
    targeted((target) => serviceLevel(target, service) === 'section'),
    named === undefined ? [] : [{ values: named.policies, source: `backend ${named.backend.key}` }],
  ];
  return mergeLevels<BackendPolicies>(levels, backendPolicies);
}

/** As the configuration calls it: services of language models are providers, servers of MCP are targets. */
function kindOf({ defaults }: Member): 'provider' | 'target' {
  return defaults === undefined ? 'provider' : 'target';
}

function serviceLevel(target: TargetedPolicy['target'], service: ServiceRef | undefined): 'section' | 'backend' | null {
  return service === undefined ? null : serviceFit(target, service);
}

function trafficOf({ policy }: TargetedPolicy): RoutePolicies {
  return policy.kind === 'traffic' ? policy.traffic : {};
}

function backendOf({ policy }: TargetedPolicy): BackendPolicies {
  return policy.kind === 'backend' ? policy.backend : routeAsBackend(policy.traffic);
}

/** What a route says about its backends. */
function routeAsBackend(policies: HandedOn): BackendPolicies {
  const { ai, backendTLS, backendTunnel, backendAuth, mcpAuthorization, mcpGuardrails, a2a } = policies;
  // What is undefined counts as absent where levels are merged.
  return { ai, backendTLS, backendTunnel, backendAuth, mcpAuthorization, mcpGuardrails, a2a };
}

/** `levels` run from the least to the most specific; inside a level the first definition counts. */
function mergeLevels<P extends object>(
  levels: readonly (readonly Layer<P>[])[],
  rules: { readonly [K in keyof P]?: Merge },
): Effective<P> {
  const values: Partial<P> = {};
  const sources: { [K in keyof P]?: string } = {};
  for (const level of levels) {
    const seen = new Set<keyof P>();
    for (const { values: layer, source } of level) {
      for (const name in layer) {
        const rule = rules[name];
        const value = layer[name];
        if (value === undefined || rule === undefined) continue;
        if (rule === 'rules') {
          values[name] = withRules(values[name], value, source);
          sources[name] = sources[name] === undefined ? source : `${sources[name]}, ${source}`;
          continue;
        }
        if (seen.has(name)) continue;
        seen.add(name);
        if (rule === 'fields') {
          sources[name] = values[name] === undefined ? source : `${sources[name]}, ${source}`;
          values[name] = withFields(values[name], value);
          continue;
        }
        if (rule === 'leastSpecific' && values[name] !== undefined) continue;
        values[name] = value;
        sources[name] = source;
      }
    }
  }
  // Every part of the policy models is optional, which a type parameter cannot say.
  return { values: values as P, sources };
}

/** The fields of the more specific definition, and of the other those that it leaves open. */
function withFields<V>(known: V | undefined, value: V): V {
  const fields = Object.entries(value ?? {}).filter(([, field]) => field !== undefined);
  // `as`: both are of the type that has these fields.
  return { ...known, ...Object.fromEntries(fields) } as V;
}

/** The rules of several definitions together, each with the resource that it came from. */
function withRules<V>(known: V | undefined, value: V, source: string): V {
  // `as`: only policies that are lists of rules are registered to be put together.
  const earlier = (known as Authorization | undefined)?.rules ?? [];
  const added = (value as Authorization).rules.map((rule) => ({ ...rule, source }));
  return { ...value, rules: [...earlier, ...added] };
}
