import type { BackendPolicies, GatewayPolicies, RoutePolicies } from '../../src/config/ir/index.ts';
import type { Phase, PolicyContext, PolicyDeps, RequestStep, ResponseStep } from './contract.ts';
import type { Effective } from './effective.ts';
import type { NamedResponseStep, NamedStep } from './run.ts';

/** One place in the order of the request side: makes the step when the policy is configured. */
export type RequestLine<P> = (effective: Effective<P>, deps: PolicyDeps) => NamedStep | null;

/** The sides that a response may meet; the route's and the backend's are null when none has a part in it. */
export interface ResponseScope {
  readonly gateway: Effective<GatewayPolicies>;
  readonly route: Effective<RoutePolicies> | null;
  readonly backend: Effective<BackendPolicies> | null;
}

/** One place in the order of the response side. */
export type ResponseLine = (scope: ResponseScope, deps: PolicyDeps) => NamedResponseStep | null;

type Compile<Spec, Step> = (spec: NonNullable<Spec>, context: PolicyContext) => Step | null;

/** A policy of the gateway phase on the request. */
export function onGateway<K extends keyof GatewayPolicies>(
  policy: K,
  stage: string | null,
  compile: Compile<GatewayPolicies[K], RequestStep>,
): RequestLine<GatewayPolicies> {
  return requestLine<GatewayPolicies, K>('gateway', { policy, stage, compile });
}

/** A policy of the route on the request. `stage` is what a trace calls the state after it; null for none. */
export function onRoute<K extends keyof RoutePolicies>(
  policy: K,
  stage: string | null,
  compile: Compile<RoutePolicies[K], RequestStep>,
): RequestLine<RoutePolicies> {
  return requestLine<RoutePolicies, K>('route', { policy, stage, compile });
}

/** A step of the route phase that no configuration turns off. */
export function always(policy: string, run: RequestStep): RequestLine<RoutePolicies> {
  return (_effective, deps) => ({ policy, stage: null, run, snapshot: deps.snapshot });
}

/** A policy of the backend on each attempt. */
export function onBackend<K extends keyof BackendPolicies>(
  policy: K,
  stage: string | null,
  compile: Compile<BackendPolicies[K], RequestStep>,
): RequestLine<BackendPolicies> {
  return requestLine<BackendPolicies, K>('backend', { policy, stage, compile });
}

/** A policy of the gateway phase on every response. */
export function onGatewayResponse<K extends keyof GatewayPolicies>(
  policy: K,
  stage: string,
  compile: Compile<GatewayPolicies[K], ResponseStep>,
): ResponseLine {
  return (scope, deps) => responseStep(scope.gateway, deps, { phase: 'gateway', policy, stage, compile });
}

/** A policy of the route on every response. */
export function onRouteResponse<K extends keyof RoutePolicies>(
  policy: K,
  stage: string,
  compile: Compile<RoutePolicies[K], ResponseStep>,
): ResponseLine {
  return (scope, deps) =>
    scope.route === null ? null : responseStep(scope.route, deps, { phase: 'route', policy, stage, compile });
}

/** A policy of the backend on the responses that it has a part in. */
export function onBackendResponse<K extends keyof BackendPolicies>(
  policy: K,
  stage: string,
  compile: Compile<BackendPolicies[K], ResponseStep>,
): ResponseLine {
  return (scope, deps) =>
    scope.backend === null ? null : responseStep(scope.backend, deps, { phase: 'backend', policy, stage, compile });
}

function requestLine<P, K extends keyof P & string>(
  phase: Phase,
  { policy, stage, compile }: Omit<Place<P, K, RequestStep>, 'phase'> & { readonly stage: string | null },
): RequestLine<P> {
  return (effective, deps) => {
    const make = (): RequestStep | null => compiled(effective, deps, { phase, policy, compile });
    const run = deps.dryRun === undefined ? make() : deps.dryRun.request(policy, effective.values[policy], make);
    return run === null ? null : { policy, stage, run, snapshot: deps.snapshot };
  };
}

interface Place<P, K extends keyof P, Step> {
  readonly phase: Phase;
  readonly policy: K;
  readonly compile: Compile<P[K], Step>;
}

function responseStep<P, K extends keyof P & string>(
  effective: Effective<P>,
  deps: PolicyDeps,
  place: Place<P, K, ResponseStep> & { readonly stage: string },
): NamedResponseStep | null {
  const { policy, stage } = place;
  const make = (): ResponseStep | null => compiled(effective, deps, place);
  const run = deps.dryRun === undefined ? make() : deps.dryRun.response(policy, make);
  return run === null ? null : { policy, stage, run, snapshot: deps.responseSnapshot };
}

function compiled<P, K extends keyof P, Step>(
  effective: Effective<P>,
  deps: PolicyDeps,
  { phase, policy, compile }: Place<P, K, Step>,
): Step | null {
  const spec = effective.values[policy];
  if (spec === undefined || spec === null) return null;
  return compile(spec, { phase, source: effective.sources[policy] ?? '', deps });
}
