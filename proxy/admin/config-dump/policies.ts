import type { PolicyBody, PolicyDump } from '../../../src/admin/protocol/config-dump.ts';
import type {
  BackendAuth,
  BackendPolicies,
  BackendTunnel,
  ServiceRef,
  SimpleBackendRef,
  BackendTls,
  FrontendPolicies,
  HeaderModifier,
  PathChange,
  AuthorityChange,
  PolicyTarget,
  RequestMirror,
  RoutePolicies,
  TargetedPolicy,
} from '../../../src/config/ir/index.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import { REDACTED } from '../../../src/shared/secret.ts';
import { shownAi } from './ai-policy.ts';
import { callerPolicies, shownRules } from './caller-policies.ts';
import { shownAccessLog, shownOtlpLog, shownTracing } from '../../telemetry/shown-policies.ts';

import { controlPolicies, shownTransformations } from './control-policies.ts';
import { targetText } from './target-text.ts';
import { servicePolicies, shownExtAuthz, shownMcpGuardrails } from './service-policies.ts';

type Shown = Readonly<Record<string, unknown>>;

/** A route's own policies, one object for each, in the order of the pipeline's configuration. */
export function routePolicies(policies: RoutePolicies): PolicyBody[] {
  const { timeout, buffer, urlRewrite, requestRedirect } = policies;
  return defined([
    [
      'timeout',
      timeout && {
        requestTimeout: duration(timeout.requestTimeoutMs),
        backendRequestTimeout: duration(timeout.backendRequestTimeoutMs),
      },
    ],
    ['buffer', buffer && { request: buffer.request, response: buffer.response }],
    ...controlPolicies(policies),
    ['urlRewrite', urlRewrite && { authority: authority(urlRewrite.authority), path: path(urlRewrite.path) }],
    [
      'requestRedirect',
      requestRedirect && {
        scheme: requestRedirect.scheme,
        authority: authority(requestRedirect.authority),
        path: path(requestRedirect.path),
        status: requestRedirect.status,
      },
    ],
    ...sharedPolicies(policies),
  ]);
}

/** Policies about connecting to a backend. */
export function backendPolicies(policies: BackendPolicies): PolicyBody[] {
  const { http, tcp, health, sessionAffinity, requestRedirect } = policies;
  const eviction = health?.eviction;
  return defined([
    [
      'requestRedirect',
      requestRedirect && {
        ...requestRedirect,
        authority: authority(requestRedirect.authority),
        path: path(requestRedirect.path),
      },
    ],
    ['http', http && { version: http.version, requestTimeout: duration(http.requestTimeoutMs) }],
    ['sessionAffinity', sessionAffinity],
    ['tcp', tcp && { keepalives: tcp.keepalives, connectTimeout: duration(tcp.connectTimeoutMs) }],
    [
      'health',
      health && {
        unhealthyExpression: health.unhealthyExpression,
        eviction: eviction && { ...eviction, durationMs: undefined, duration: duration(eviction.durationMs) },
      },
    ],
    ...sharedPolicies(policies),
  ]);
}

/** An entry of `policies[]`. */
export function targetedPolicy(policy: TargetedPolicy): PolicyDump {
  const [body] =
    policy.policy.kind === 'traffic' ? routePolicies(policy.policy.traffic) : backendPolicies(policy.policy.backend);
  return {
    key: policy.key,
    name: { kind: 'Local', name: policy.name, namespace: policy.namespace },
    target: target(policy.target),
    policy: policy.policy.kind === 'traffic' ? { traffic: { phase: policy.phase, ...body } } : { backend: { ...body } },
  };
}

/** `frontendPolicies` as policies of every gateway. */
export function frontendPolicies(frontend: FrontendPolicies): PolicyDump[] {
  const { http, tls, tcp, proxyProtocol, connect, networkAuthorization, networkExtAuthz, accessLog, tracing } =
    frontend;
  const bodies = defined([
    ['http', durations(http)],
    ['tls', durations(tls)],
    ['tcp', tcp],
    ['proxy', proxyProtocol],
    ['connect', connect],
    ['networkAuthorization', networkAuthorization && shownRules(networkAuthorization)],
    ['networkExtAuthz', networkExtAuthz && shownExtAuthz(networkExtAuthz, service)],
    ['accessLog', shownAccessLog(accessLog)],
    ['accessLogOtlp', shownOtlpLog(accessLog)],
    ['tracing', shownTracing(tracing)],
  ]);
  return bodies.map((body) => ({
    key: `frontend/${Object.keys(body)[0] ?? ''}`,
    name: null,
    target: { gateway: { gatewayName: 'default', gatewayNamespace: 'default', listenerName: null } },
    policy: { frontend: body },
  }));
}

/** TLS towards a backend; keys are never shown. */
export function backendTls(tls: BackendTls): Shown {
  return {
    cert: tls.cert?.file ?? tls.cert?.pem,
    key: tls.key === undefined ? undefined : (tls.key.file ?? REDACTED),
    root: tls.root?.file ?? tls.root?.pem,
    hostname: tls.hostname,
    verify: tls.verify,
    alpn: tls.alpn,
    subjectAltNames: tls.subjectAltNames,
    keyExchangeGroups: tls.keyExchangeGroups,
  };
}

export function duration(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatDuration(ms);
}

/** Renames `…Ms` to the configuration's own word and writes the value as a duration. */
export function durations(values: object): Shown {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) =>
      key.endsWith('Ms') && typeof value === 'number' ? [key.slice(0, -2), formatDuration(value)] : [key, value],
    ),
  );
}

function sharedPolicies(policies: RoutePolicies & BackendPolicies): [string, unknown][] {
  const { requestHeaderModifier, responseHeaderModifier, requestMirror, backendTLS, backendTunnel, backendAuth } =
    policies;
  return [
    ...callerPolicies(policies),
    ...servicePolicies(policies, service),
    ['transformations', policies.transformations && shownTransformations(policies.transformations)],
    ['requestHeaderModifier', requestHeaderModifier && modifier(requestHeaderModifier)],
    ['responseHeaderModifier', responseHeaderModifier && modifier(responseHeaderModifier)],
    ['requestMirror', requestMirror && requestMirror.map(mirror)],
    ['backendTLS', backendTLS && backendTls(backendTLS)],
    ['backendTunnel', backendTunnel && tunnel(backendTunnel)],
    ['backendAuth', backendAuth && auth(backendAuth)],
    ['ai', policies.ai && shownAi(policies.ai, service)],
    ['mcpAuthorization', policies.mcpAuthorization && shownRules(policies.mcpAuthorization)],
    ['mcpGuardrails', policies.mcpGuardrails && shownMcpGuardrails(policies.mcpGuardrails, service)],
    ['a2a', policies.a2a],
  ];
}

function defined(entries: readonly (readonly [string, unknown])[]): PolicyBody[] {
  return entries.flatMap(([key, value]) => (value === undefined ? [] : [{ [key]: value }]));
}

function modifier({ add, set, remove }: HeaderModifier): Shown {
  return { add: Object.fromEntries(add), set: Object.fromEntries(set), remove };
}

function tunnel({ proxy, policies }: BackendTunnel): Shown {
  return { proxy: simple(proxy), policies: Object.assign({}, ...backendPolicies(policies)) };
}

function service({ target: backend, policies }: ServiceRef): Shown {
  const [first, ...others] = backendPolicies(policies);
  return { ...simple(backend), ...(first === undefined ? {} : { policies: Object.assign({}, first, ...others) }) };
}

/** Secrets hide themselves. */
function auth({ main, credentials }: BackendAuth): Shown {
  if (main === undefined) return { credentials };
  const { kind, ...settings } = main;
  return { [kind]: settings, credentials: credentials.length === 0 ? undefined : credentials };
}

function simple(backend: SimpleBackendRef): Shown {
  switch (backend.kind) {
    case 'inline':
      return { host: targetText(backend.backend.target) };
    case 'service':
      return { service: { name: { namespace: backend.namespace, hostname: backend.hostname }, port: backend.port } };
    default:
      return { backend: backend.backend };
  }
}

function mirror({ backend, percentage }: RequestMirror): Shown {
  return { backend: simple(backend), percentage };
}

function authority(change: AuthorityChange | undefined): unknown {
  if (change === undefined) return undefined;
  return change.kind === 'auto' || change.kind === 'none' ? change.kind : { [change.kind]: change.value };
}

function path(change: PathChange | undefined): unknown {
  return change === undefined ? undefined : { [change.kind]: change.value };
}

function target(of: PolicyTarget): Shown {
  const { kind, ...rest } = of;
  if (kind === 'gateway')
    return { gateway: { ...rest, listenerName: ('listenerName' in rest ? rest.listenerName : null) ?? null } };
  if (kind === 'backend') return { backend: { backend: rest } };
  if (kind === 'service') return { backend: { service: rest } };
  if (kind === 'route' && 'routeKind' in rest) {
    const { routeKind, ...route } = rest;
    return { route: { ...route, kind: routeKind } };
  }
  return { [kind]: rest };
}
