import type {
  AuthorityChange,
  BackendPolicies,
  BackendTcp,
  GatewayPolicies,
  HeaderModifier,
  PathChange,
  RequestMirror,
  RequestRedirect,
  RoutePolicies,
  UrlRewrite,
} from '../ir/policy.ts';
import type { Choice } from '../ir/policy/conditional.ts';
import type { Keepalives } from '../ir/process.ts';
import type { BackendPoliciesSpec, GatewayPoliciesSpec, RoutePoliciesSpec } from '../schema/policy-sets.ts';
import type { HeaderModifierSpec } from '../schema/policy/header-modifier.ts';
import type { RequestMirrorSpec } from '../schema/policy/request-mirror.ts';
import type { AuthorityChangeSpec, PathChangeSpec, RequestRedirectSpec } from '../schema/policy/request-redirect.ts';
import type { BackendTcpSpec, KeepalivesSpec } from '../schema/policy/tcp.ts';
import type { UrlRewriteSpec } from '../schema/policy/url-rewrite.ts';
import type { Context } from './context.ts';
import { ai } from './policy/ai.ts';
import { apiKey } from './policy/api-key.ts';
import { authorization } from './policy/authorization.ts';
import { basicAuth } from './policy/basic-auth.ts';
import { cors } from './policy/cors.ts';
import { always, mapChoice, wholeChoice } from './policy/conditional.ts';
import { extAuthz } from './policy/ext-authz.ts';
import { extProc } from './policy/ext-proc.ts';
import { backendAuth } from './policy/backend-auth.ts';
import { backendTunnel } from './policy/backend-tunnel.ts';
import { jwtAuth } from './policy/jwt-auth.ts';
import { mcpAuthentication } from './policy/mcp-authentication.ts';
import { oidc } from './policy/oidc.ts';
import { delay } from './policy/delay.ts';
import { directResponse } from './policy/direct-response.ts';
import { localRateLimit } from './policy/local-rate-limit.ts';
import { mcpGuardrails } from './policy/mcp-guardrails.ts';
import type { GuardPlace } from './policy/prompt-guard.ts';
import { plainTransformations, transformations } from './policy/transformations.ts';
import { remoteRateLimit } from './policy/remote-rate-limit.ts';
import { simpleBackendRef, type Place } from './simple-backend.ts';
import { backendTls } from './tls.ts';

/** Policies of a listener, which routes take too; a policy that is not there is not a key of the result. */
export function gatewayPolicies(context: Context, spec: GatewayPoliciesSpec, place: Place): GatewayPolicies {
  return present({
    oidc: spec.oidc && oidc(context, spec.oidc, place),
    jwtAuth: spec.jwtAuth && jwtAuth(context, spec.jwtAuth, [...place.path, 'jwtAuth']),
    cors: spec.cors && cors(spec.cors),
    basicAuth: spec.basicAuth && basicAuth(context, spec.basicAuth, [...place.path, 'basicAuth']),
    apiKey: spec.apiKey && apiKey(context, spec.apiKey, [...place.path, 'apiKey']),
    extAuthz: spec.extAuthz && serviceChoice(context, spec.extAuthz, { ...place, policy: 'extAuthz' }, extAuthz),
    authorization: spec.authorization && authorization(spec.authorization),
    extProc: spec.extProc && serviceChoice(context, spec.extProc, { ...place, policy: 'extProc' }, extProc),
    transformations: spec.transformations && transformations(spec.transformations),
  });
}

/** Policies of a route; a policy that is not there is not a key of the result. */
export function routePolicies(context: Context, spec: RoutePoliciesSpec | undefined, place: Place): RoutePolicies {
  if (spec === undefined) return {};
  return present({
    ...gatewayPolicies(context, spec, place),
    mcpAuthentication:
      spec.mcpAuthentication &&
      mcpAuthentication(context, spec.mcpAuthentication, {
        path: [...place.path, 'mcpAuthentication'],
        besideJwtAuth: spec.jwtAuth !== undefined,
      }),
    csrf: spec.csrf,
    localRateLimit: spec.localRateLimit && localRateLimit(spec.localRateLimit, place),
    remoteRateLimit:
      spec.remoteRateLimit &&
      serviceChoice(context, spec.remoteRateLimit, { ...place, policy: 'remoteRateLimit' }, remoteRateLimit),
    timeout: spec.timeout && {
      requestTimeoutMs: spec.timeout.requestTimeout,
      backendRequestTimeoutMs: spec.timeout.backendRequestTimeout,
    },
    retry: spec.retry && {
      attempts: spec.retry.attempts,
      backoffMs: spec.retry.backoff ?? 0,
      codes: [...new Set(spec.retry.codes)],
      precondition: spec.retry.precondition,
      condition: spec.retry.condition,
    },
    buffer: spec.buffer,
    delay: spec.delay && delay(spec.delay),
    directResponse: spec.directResponse && directResponse(spec.directResponse),
    urlRewrite: spec.urlRewrite && urlRewrite(spec.urlRewrite),
    requestRedirect: spec.requestRedirect && requestRedirect(spec.requestRedirect),
    requestHeaderModifier: spec.requestHeaderModifier && headerModifier(spec.requestHeaderModifier),
    responseHeaderModifier: spec.responseHeaderModifier && headerModifier(spec.responseHeaderModifier),
    requestMirror: spec.requestMirror && requestMirrors(spec.requestMirror, place.key),
    ai: spec.ai && ai(context, spec.ai, aiPlace(context, place)),
    ...connection(context, spec, place),
    ...agentPolicies(context, spec, place),
  });
}

/** Policies of a backend; a policy that is not there is not a key of the result. */
export function backendPolicies(
  context: Context,
  spec: BackendPoliciesSpec | undefined,
  place: Place,
): BackendPolicies {
  if (spec === undefined) return {};
  return present({
    requestHeaderModifier: spec.requestHeaderModifier && headerModifier(spec.requestHeaderModifier),
    responseHeaderModifier: spec.responseHeaderModifier && headerModifier(spec.responseHeaderModifier),
    requestRedirect: spec.requestRedirect && requestRedirect(spec.requestRedirect),
    ...connection(context, spec, place),
    http: spec.http && { version: spec.http.version, requestTimeoutMs: spec.http.requestTimeout },
    tcp: spec.tcp && backendTcp(spec.tcp),
    health: spec.health && health(spec.health),
    sessionAffinity: spec.sessionAffinity,
    transformations: spec.transformations && plainTransformations(spec.transformations),
    extAuthz:
      spec.extAuthz && serviceChoice(context, always(spec.extAuthz), { ...place, policy: 'extAuthz' }, extAuthz),
    authorization: spec.authorization && authorization(spec.authorization),
    ai: spec.ai && ai(context, spec.ai, aiPlace(context, place)),
    ...agentPolicies(context, spec, place),
  });
}

function aiPlace(context: Context, { path, key, origin }: Place): GuardPlace {
  return { ...guardPlace(context, { path: [...path, 'ai'], key: `${key}/ai` }), origin };
}

/** Where guards stand, which call services. */
export function guardPlace(context: Context, place: Place): GuardPlace {
  return { ...place, connection: (policies, at) => connectionPolicies(context, policies, at) };
}

type ConnectionSpec = Pick<RoutePoliciesSpec, 'backendTLS' | 'backendTunnel' | 'backendAuth'>;

/** What routes and backends alike say about connecting to a backend. */
function connection(
  context: Context,
  spec: ConnectionSpec,
  { path, key }: Place,
): Pick<BackendPolicies, 'backendTLS' | 'backendTunnel' | 'backendAuth'> {
  const tunnelPlace = { path: [...path, 'backendTunnel'], key: `${key}/tunnel` };
  return {
    backendTLS: spec.backendTLS && backendTls(context, spec.backendTLS, [...path, 'backendTLS']),
    backendTunnel:
      spec.backendTunnel &&
      backendTunnel(
        context,
        { spec: spec.backendTunnel, policies: connectionPolicies(context, spec.backendTunnel.policies, tunnelPlace) },
        tunnelPlace,
      ),
    backendAuth:
      spec.backendAuth &&
      backendAuth(context, spec.backendAuth, {
        path: [...path, 'backendAuth'],
        key: `${key}/backendAuth`,
        connection: (policies, at) => connectionPolicies(context, policies, at),
      }),
  };
}

type AgentSpec = Pick<RoutePoliciesSpec, 'mcpAuthorization' | 'mcpGuardrails' | 'a2a'>;

/** What routes and backends alike say about servers of tools, and agents. */
function agentPolicies(
  context: Context,
  { mcpAuthorization, mcpGuardrails: guardrails, a2a }: AgentSpec,
  { path, key }: Place,
): Pick<BackendPolicies, keyof AgentSpec> {
  return {
    mcpAuthorization: mcpAuthorization && authorization(mcpAuthorization),
    mcpGuardrails:
      guardrails &&
      mcpGuardrails(context, guardrails, {
        path: [...path, 'mcpGuardrails'],
        key: `${key}/mcpGuardrails`,
        connection: (policies, at) => connectionPolicies(context, policies, at),
      }),
    a2a: a2a && {},
  };
}

/** What normalizes one set of settings of a policy that calls a service; undefined after a problem. */
type ServicePolicy<S, T> = (
  context: Context,
  specs: { readonly spec: S; readonly policies: BackendPolicies },
  place: Place,
) => T | undefined;

/** The settings of a policy that calls a service, each with the policies of its connection. */
function serviceChoice<S extends { readonly policies?: unknown }, T>(
  context: Context,
  choice: Choice<S>,
  { policy, path, key }: Place & { readonly policy: string },
  normalize: ServicePolicy<S, T>,
): Choice<T> | undefined {
  const conditional = choice.entries.length > 1 || choice.entries[0]?.condition !== undefined;
  return wholeChoice(
    mapChoice(choice, (spec, index) => {
      const place: Place = {
        path: [...path, policy, ...(conditional ? ['conditional', index] : [])],
        key: `${key}/${policy}${conditional ? index : ''}`,
      };
      return normalize(context, { spec, policies: connectionPolicies(context, spec.policies, place) }, place);
    }),
  );
}

/** Policies of a connection that a policy makes itself; `place` is that of the policy, whose key `policies` holds them. */
export function connectionPolicies(context: Context, spec: unknown, { path, key }: Place): BackendPolicies {
  // `as`: the schema of connections is recursive, so its type is not known where it is used.
  return backendPolicies(context, spec as BackendPoliciesSpec | undefined, { path: [...path, 'policies'], key });
}

/** Drops the keys that hold nothing, so that merging need not tell undefined from absent. */
function present<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> }; // fromEntries forgets the keys
}

function headerModifier(spec: HeaderModifierSpec): HeaderModifier {
  return { add: Object.entries(spec.add), set: Object.entries(spec.set), remove: spec.remove };
}

function requestRedirect(spec: RequestRedirectSpec): RequestRedirect {
  return {
    scheme: spec.scheme,
    authority: authorityChange(spec.authority),
    path: pathChange(spec.path),
    status: spec.status,
  };
}

function urlRewrite(spec: UrlRewriteSpec): UrlRewrite {
  return { authority: authorityChange(spec.authority), path: pathChange(spec.path) };
}

function authorityChange(spec: AuthorityChangeSpec | undefined): AuthorityChange | undefined {
  if (spec === undefined) return undefined;
  if (typeof spec === 'string') return { kind: spec };
  if (spec.full !== undefined) return { kind: 'full', value: spec.full };
  if (spec.host !== undefined) return { kind: 'host', value: spec.host };
  return spec.port === undefined ? undefined : { kind: 'port', value: spec.port };
}

function pathChange(spec: PathChangeSpec | undefined): PathChange | undefined {
  if (spec?.full !== undefined) return { kind: 'full', value: spec.full };
  return spec?.prefix === undefined ? undefined : { kind: 'prefix', value: spec.prefix };
}

function requestMirrors(specs: readonly RequestMirrorSpec[], key: string): RequestMirror[] {
  return specs.flatMap((spec, index) => {
    const backend = simpleBackendRef(spec.backend, `${key}/mirror${index}`);
    return backend === undefined ? [] : [{ backend, percentage: spec.percentage }];
  });
}

function backendTcp(spec: BackendTcpSpec): BackendTcp {
  return { keepalives: spec.keepalives && keepalives(spec.keepalives), connectTimeoutMs: spec.connectTimeout };
}

/** Keep-alive probes, all fields filled. */
export function keepalives(spec: KeepalivesSpec): Keepalives {
  return { enabled: spec.enabled, timeMs: spec.time, intervalMs: spec.interval, retries: spec.retries };
}

function health(spec: NonNullable<BackendPoliciesSpec['health']>): BackendPolicies['health'] {
  const { eviction, unhealthyExpression } = spec;
  const judged = unhealthyExpression === undefined ? {} : { unhealthyExpression };
  if (eviction === undefined) return judged;
  const { duration, restoreHealth, consecutiveFailures, healthThreshold } = eviction;
  return { ...judged, eviction: { durationMs: duration, restoreHealth, consecutiveFailures, healthThreshold } };
}
