import type {
  AgentCoreBackend,
  BackendPolicies,
  GatewayPolicies,
  RoutePolicies,
  RouteTarget,
} from '../../src/config/ir/index.ts';
import { a2aRequest } from './a2a/compile.ts';
import { a2aResponse } from './a2a/compile-response.ts';
import { apiKey } from './api-key/compile.ts';
import { authorization } from './authorization/compile.ts';
import { agentCorePolicies, agentCoreTarget } from '../backends/agent-core.ts';
import { backendAuth, backendSign } from '../backends/auth/compile.ts';
import type { Apply } from '../backends/auth/contract.ts';
import { configuredHost } from './backend-host.ts';
import { basicAuth } from './basic-auth/compile.ts';
import { bufferRequest, bufferResponse } from './buffer/compile.ts';
import { collectRequestBody } from './body-for-expressions/collect.ts';
import { bodyForLater, composeRequest, composeResponse } from './compose.ts';
import { next, type Outcome, type PolicyDeps } from './contract.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { cors } from './cors/compile.ts';
import { csrf } from './csrf/compile.ts';
import { delay } from './delay/compile.ts';
import { directResponse } from './direct-response/compile.ts';
import type { Expression } from '../expression/contract.ts';
import type { Effective } from './effective.ts';
import { extAuthz } from './ext-authz/compile.ts';
import { extProcRequest } from './ext-proc/compile.ts';
import { extProcResponse } from './ext-proc/compile-response.ts';
import { requestHeaderModifier, responseHeaderModifier, settledHost } from './header-modifier/compile.ts';
import { jwtAuth } from './jwt-auth/compile.ts';
import type { RequestLine } from './line.ts';
import {
  always,
  onBackend,
  onBackendResponse,
  onGateway,
  onGatewayResponse,
  onRoute,
  onRouteResponse,
} from './line.ts';
import { localRateLimit } from './local-rate-limit/compile.ts';
import { localTokenLimit } from './local-rate-limit/token-limit.ts';
import type { MirrorPlan } from './request-mirror/compile.ts';
import { mirrorPlans } from './request-mirror/compile.ts';
import { notingReads } from './reads.ts';
import { oidc } from './oidc/compile.ts';
import { stripReservedCookies } from './oidc/reserved-cookies.ts';
import { remoteRateLimit } from './remote-rate-limit/compile.ts';
import { remoteTokenLimit } from './remote-rate-limit/token-limit.ts';
import { requestRedirect } from './request-redirect/compile.ts';
import type { RetryPlan } from './retry/compile.ts';
import { retry, retryPlan } from './retry/compile.ts';
import type { NamedResponseStep, NamedStep } from './run.ts';
import { timeout } from './timeout/compile.ts';
import { transformRequest, transformResponse } from './transformations/compile.ts';
import type { HostRewrite } from './url-rewrite/compile.ts';
import { hostRewriteOf, urlRewrite } from './url-rewrite/compile.ts';

/**
 * The order in which policies meet a request before its route is chosen. Its place in the order: cors, oidc, jwtAuth,
 * basicAuth, apiKey, extAuthz, authorization, extProc, transformations.
 */
const gatewayRequestOrder: readonly RequestLine<GatewayPolicies>[] = [
  // First: preflights carry no credentials, and refusals of what follows need the headers too.
  onGateway('cors', 'gateway cors', cors),
  // Before tokens, which a program brings where a browser has a session.
  onGateway('oidc', 'gateway oidc', oidc),
  // Before whatever reads the claims.
  onGateway('jwtAuth', 'gateway jwt', jwtAuth),
  // Where tokens are asked for too, those come first: a password costs more to check.
  onGateway('basicAuth', 'gateway basic auth', basicAuth),
  // After the logins that people use.
  onGateway('apiKey', 'gateway api key', apiKey),
  // After everything that finds out who calls, before the rules that read what the service says.
  onGateway('extAuthz', 'gateway ext authz', extAuthz),
  // After everything that finds out who calls.
  onGateway('authorization', 'gateway authorization', authorization),
  // Once callers that may not are refused, and before whatever could answer.
  bodyForLater,
  // Before the gateway's own changes, whose word is the last.
  onGateway('extProc', 'gateway ext proc', extProcRequest),
  // Last: changes what routes are chosen by, with all that is known of the caller.
  onGateway('transformations', 'gateway transformation', transformRequest),
];

/**
 * The order in which policies meet a request once its route is known: each line with the stage of the trace after it,
 * and above it the reason for its place.
 */
const routeRequestOrder = [
  // First: its deadline bounds every wait that follows.
  onRoute('timeout', null, timeout),
  // Before whatever asks for credentials: preflights carry none, and refusals need the headers too.
  onRoute('cors', 'cors', cors),
  // Before tokens, which a program brings where a browser has a session.
  onRoute('oidc', 'oidc', oidc),
  // Once both phases have read them, on every route: upstreams never see the cookies of logins.
  always('reservedCookies', stripReservedCookies),
  // Before whatever reads the claims.
  onRoute('jwtAuth', 'jwt auth', jwtAuth),
  // In its place: it is another way to write it.
  onRoute('mcpAuthentication', 'mcp authentication', jwtAuth),
  // Where tokens are asked for too, those come first: a password costs more to check.
  onRoute('basicAuth', 'basic auth', basicAuth),
  // After the logins that people use.
  onRoute('apiKey', 'api key', apiKey),
  // After everything that finds out who calls, before the rules that read what the service says.
  onRoute('extAuthz', 'ext authz', extAuthz),
  // After everything that finds out who calls, before anything that counts or changes.
  onRoute('authorization', 'authorization', authorization),
  // Once callers that may not are refused, and before whatever could answer.
  bodyForLater,
  // Only tells; the plan runs around the upstream call.
  onRoute('retry', null, retry),
  // Once it is known who asks, and before anything that costs: a refused request is cheap.
  onRoute('localRateLimit', 'local rate limit', localRateLimit),
  // After the limit that costs no call.
  onRoute('remoteRateLimit', 'remote rate limit', remoteRateLimit),
  // Before whatever reads or changes the request, which then has the whole body.
  onRoute('buffer', 'buffer', ({ request }, context) =>
    request === undefined ? null : bufferRequest(request, context),
  ),
  // With the whole body, when it is buffered; the gateway's own changes come after those of others.
  onRoute('extProc', 'ext proc', extProcRequest),
  // With the whole body, when it is buffered; literal changes that follow see the result.
  onRoute('transformations', 'transformation', transformRequest),
  // After what may change the request, before it goes on.
  onRoute('csrf', 'csrf', csrf),
  // Before the rewrite, whose authority wins.
  onRoute('requestHeaderModifier', 'request header modifier', requestHeaderModifier),
  // Before the redirect, which then sees the new path.
  onRoute('urlRewrite', 'url rewrite', urlRewrite),
  // Before the delay: a redirected client does not wait.
  onRoute('requestRedirect', 'request redirect', requestRedirect),
  // Before the direct response, so that it is delayed too.
  onRoute('delay', 'delay', delay),
  // Last: everything that can refuse a request comes before the gateway's own answer.
  onRoute('directResponse', 'direct response', directResponse),
];

/** What counts tokens meets a request to a language model once, when its body is as the service wants it. */
const tokenOrder = [
  // First, as on the route: it costs no call.
  onRoute('localRateLimit', null, localTokenLimit),
  onRoute('remoteRateLimit', null, remoteTokenLimit),
];

/** The order in which the policies of a backend meet each attempt. */
const backendRequestOrder = [
  // First: nothing is signed or changed for a call that is not allowed.
  onBackend('authorization', null, authorization),
  // After the rules, which cost no call.
  onBackend('extAuthz', 'backend ext authz', extAuthz),
  // Before the changes of the backend's own, which may move a credential to where the backend wants it.
  onBackend('backendAuth', 'backend auth', backendAuth),
  // After the route, whose changes it sees.
  onBackend('transformations', 'backend transformation', transformRequest),
  // Literal changes correct computed ones, as on routes.
  onBackend('requestHeaderModifier', 'backend request header modifier', requestHeaderModifier),
  // Last of those that change or answer.
  onBackend('requestRedirect', null, requestRedirect),
];

/** What meets a request when its path is that of the backend. */
const callOrder = [
  // Reads what leaves, and changes nothing.
  onBackend('a2a', null, a2aRequest),
];

/** The order in which policies meet a response. */
const responseOrder = [
  // First: everybody else sees the addresses that clients get.
  onBackendResponse('a2a', 'a2a', a2aResponse),
  // So that the backend's may correct it.
  onRouteResponse('responseHeaderModifier', 'response header modifier', responseHeaderModifier),
  // Closer to the upstream, so it wins.
  onBackendResponse('responseHeaderModifier', 'backend response header modifier', responseHeaderModifier),
  // Last of those: an overflow replaces the response with all its headers.
  onRouteResponse('buffer', 'buffer', ({ response }, context) =>
    response === undefined ? null : bufferResponse(response, context),
  ),
  // From the innermost decision to the outermost: the gateway's word is the last.
  onRouteResponse('transformations', 'transformation', transformResponse),
  onBackendResponse('transformations', 'backend transformation', transformResponse),
  onGatewayResponse('transformations', 'gateway transformation', transformResponse),
  // After everything of the gateway's own: the services see what would leave, the inner one first.
  onRouteResponse('extProc', 'ext proc', extProcResponse),
  onGatewayResponse('extProc', 'gateway ext proc', extProcResponse),
];

/** What was compiled for a listener. */
export interface GatewayPipeline {
  readonly effective: Effective<GatewayPolicies>;
  readonly request: readonly NamedStep[];
  /** For answers to requests that found no route. */
  readonly response: readonly NamedResponseStep[];
}

/** What was compiled for a chain of routes. */
export interface RoutePipeline {
  readonly effective: Effective<RoutePolicies>;
  readonly request: readonly NamedStep[];
  /** Runs before the first call of a language model. */
  readonly tokens: readonly NamedStep[];
  /** For answers that no backend has a part in. */
  readonly response: readonly NamedResponseStep[];
  readonly timeout: NonNullable<RoutePolicies['timeout']> | null;
  readonly retry: RetryPlan | null;
  readonly mirrors: readonly MirrorPlan[];
  readonly hostRewrite: HostRewrite;
}

/** What was compiled for one backend of a route. */
export interface BackendPipeline {
  readonly effective: Effective<BackendPolicies>;
  /** Runs once, before the first attempt. */
  readonly prepare: readonly NamedStep[];
  /** Runs on each attempt. */
  readonly request: readonly NamedStep[];
  /** The whole response side, the route's part included. */
  readonly response: readonly NamedResponseStep[];
  /** Signs what leaves, after everything that changes it; null without such a credential. */
  readonly sign: Apply | null;
  /** Limit of one upstream call up to its response head; null is none. */
  readonly callTimeoutMs: number | null;
  /** Where a dynamic backend is found; null when the request itself names it. */
  readonly dynamicTarget: Expression | null;
  /** What binds a request to an endpoint; null leaves the choice to the balance. */
  readonly affinity: Expression | null;
  /** Whether an endpoint has failed by its response; null judges by the status. */
  readonly unhealthy: Expression | null;
  readonly mirrors: readonly MirrorPlan[];
  readonly hostRewrite: HostRewrite;
}

/** Compiles the policies of a listener. Throws `GW_POLICY_INVALID`. */
export function compileGatewayPipeline(effective: Effective<GatewayPolicies>, engine: PolicyDeps): GatewayPipeline {
  const scope = { gateway: effective, route: null, backend: null };
  const limitBytes = engine.maxBufferSize;
  const { steps, reads } = composeResponse(responseOrder, { scope, deps: engine, limitBytes });
  return {
    effective,
    request: composeRequest(gatewayRequestOrder, { effective, deps: engine, readLater: reads.requestBody, limitBytes }),
    response: steps,
  };
}

/** Compiles the policies of a route under a listener. Throws `GW_POLICY_INVALID`. */
export function compileRoutePipeline(
  effective: Effective<RoutePolicies>,
  gateway: GatewayPipeline,
  engine: PolicyDeps,
): RoutePipeline {
  const { values, sources } = effective;
  const scope = { gateway: gateway.effective, route: effective, backend: null };
  const limits = bodyLimits(effective, engine);
  const { steps, reads } = composeResponse(responseOrder, { scope, deps: engine, limitBytes: limits.response });
  const later = notingReads(engine);
  const retries =
    values.retry === undefined ? null : retryPlan(values.retry, { deps: later.deps, source: sources.retry ?? '' });
  // Nothing is called where requests are only explained.
  const tokens = engine.dryRun === undefined ? tokenOrder.flatMap((line) => line(effective, later.deps) ?? []) : [];
  const readLater = reads.requestBody || later.reads.requestBody;
  return {
    effective,
    request: composeRequest(routeRequestOrder, { effective, deps: engine, readLater, limitBytes: limits.request }),
    tokens,
    response: steps,
    timeout: values.timeout ?? null,
    retry: retries,
    mirrors: mirrorPlans(values.requestMirror, sources.requestMirror ?? ''),
    hostRewrite: routeHostRewrite(values),
  };
}

/** Where a backend is called from, and what it is. */
export interface BackendPlace {
  readonly gateway: GatewayPipeline;
  readonly route: RoutePipeline;
  readonly target?: RouteTarget | undefined;
  /** Its host name, where it has one. */
  readonly host?: string | undefined;
  /** As `ResolvedBackend.agent`. */
  readonly agent?: AgentCoreBackend | undefined;
}

/** Compiles the policies of a backend behind a route. Throws `GW_POLICY_INVALID`. */
export function compileBackendPipeline(
  own: Effective<BackendPolicies>,
  { gateway, route, target, host, agent }: BackendPlace,
  engine: PolicyDeps,
): BackendPipeline {
  const effective = agent === undefined ? own : { ...own, values: agentCorePolicies(own.values, agent) };
  const { values, sources } = effective;
  const backendHost = configuredHost(route.effective.values, values, host);
  const { deps, reads } = notingReads({ ...engine, backendHost });
  const scope = { gateway: gateway.effective, route: route.effective, backend: effective };
  const limits = bodyLimits(route.effective, engine);
  const answering = composeResponse(responseOrder, { scope, deps, limitBytes: limits.response });
  const optional = (source: string | undefined, where: string): Expression | null =>
    source === undefined ? null : deps.expressions.compile(source, where);
  const dynamic = target?.kind === 'inline' && target.backend.kind === 'dynamic' ? target.backend : undefined;
  const choosing = {
    dynamicTarget: optional(dynamic?.target, 'dynamic target'),
    affinity: optional(values.sessionAffinity?.source, 'sessionAffinity source'),
    unhealthy: optional(values.health?.unhealthyExpression, 'health unhealthyExpression'),
  };
  const request = [
    ...requestSteps(effective, agent, deps),
    ...callOrder.flatMap((line) => line(effective, deps) ?? []),
  ];
  return {
    effective,
    prepare: reads.requestBody ? [collectRequestBody({ limitBytes: limits.request, deps: engine })] : [],
    request,
    response: answering.steps,
    ...choosing,
    sign: backendSign(effective, deps),
    callTimeoutMs: values.http?.requestTimeoutMs ?? route.timeout?.backendRequestTimeoutMs ?? null,
    mirrors: mirrorPlans(values.requestMirror, sources.requestMirror ?? ''),
    hostRewrite: settledHost(values.requestHeaderModifier) === null ? route.hostRewrite : 'off',
  };
}

/** What was compiled for a backend that copies of requests go to. */
export interface MirrorPipeline {
  readonly request: readonly NamedStep[];
  /** As in `BackendPipeline`. */
  readonly sign: Apply | null;
  readonly callTimeoutMs: number | null;
  /** A policy has decided on the authority: it stays as it is. */
  readonly keepsAuthority: boolean;
}

/** Compiles the policies that a copy meets, which are those of its backend alone. Throws `GW_POLICY_INVALID`. */
export function compileMirrorPipeline(
  own: Effective<BackendPolicies>,
  { host, agent }: Pick<BackendPlace, 'host' | 'agent'>,
  engine: PolicyDeps,
): MirrorPipeline {
  const effective = agent === undefined ? own : { ...own, values: agentCorePolicies(own.values, agent) };
  const { values } = effective;
  const deps = { ...engine, backendHost: configuredHost({}, values, host) };
  return {
    request: requestSteps(effective, agent, deps),
    sign: backendSign(effective, deps),
    callTimeoutMs: values.http?.requestTimeoutMs ?? null,
    keepsAuthority: settledHost(values.requestHeaderModifier) !== null,
  };
}

function requestSteps(
  effective: Effective<BackendPolicies>,
  agent: AgentCoreBackend | undefined,
  deps: PolicyDeps,
): readonly NamedStep[] {
  const steps = backendRequestOrder.flatMap((line) => line(effective, deps) ?? []);
  return agent === undefined ? steps : [...steps, agentPath(agent, deps)];
}

/** Whatever a client or a policy asks for, the agent has one path. */
function agentPath(agent: AgentCoreBackend, { snapshot }: PolicyDeps): NamedStep {
  const target = agentCoreTarget(agent);
  const run = ({ request, trace }: Exchange): Outcome => {
    request.target = target(request);
    if (trace !== null) trace.applied('aws', `asks for ${request.target}`);
    return next;
  };
  return { policy: 'aws', stage: null, run, snapshot };
}

/** What is held of bodies for expressions. */
function bodyLimits({ values: { buffer } }: Effective<RoutePolicies>, { maxBufferSize }: PolicyDeps) {
  return {
    request: buffer?.request?.maxBytes ?? maxBufferSize,
    response: buffer?.response?.maxBytes ?? maxBufferSize,
  };
}

/** A rewrite of the authority decides; else a `host` that a header modifier has set is kept. */
function routeHostRewrite(values: RoutePolicies): HostRewrite {
  const rewrite = hostRewriteOf(values.urlRewrite);
  return rewrite === 'default' && settledHost(values.requestHeaderModifier) !== null ? 'off' : rewrite;
}
