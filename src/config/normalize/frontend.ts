import type { FrontendHttp, FrontendPolicies } from '../ir/policy.ts';
import type { ExtAuthz } from '../ir/policy/ext-authz.ts';
import type { FrontendSpec } from '../schema/frontend.ts';
import type { ProcessSpec } from '../schema/process.ts';
import type { Context } from './context.ts';
import { accessLog, tracing } from './observability.ts';
import { connectionPolicies, keepalives } from './policy.ts';
import { authorization } from './policy/authorization.ts';
import { networkExtAuthz } from './policy/ext-authz.ts';
import { keyExchangeGroups, openSslNames, tlsVersion } from './tls.ts';

/** `frontendPolicies` with its defaults, the two spellings of a key made one, older keys of the process folded in. */
export function frontendPolicies(context: Context, spec: FrontendSpec, process: ProcessSpec): FrontendPolicies {
  const { tls, tcp } = spec;
  const proxyProtocol = spec.proxyProtocol ?? spec.proxy;
  return {
    http: frontendHttp(spec.http),
    tls: {
      handshakeTimeoutMs: tls?.handshakeTimeout ?? 15_000,
      alpn: tls?.alpn?.map((protocol) => (typeof protocol === 'string' ? protocol : String.fromCharCode(...protocol))),
      minVersion: tlsVersion(tls?.minVersion),
      maxVersion: tlsVersion(tls?.maxVersion),
      cipherSuites: openSslNames(tls?.cipherSuites),
      keyExchangeGroups: keyExchangeGroups(tls?.keyExchangeGroups),
    },
    tcp: tcp && { keepalives: keepalives(tcp.keepalives) },
    proxyProtocol,
    networkAuthorization: spec.networkAuthorization && authorization(spec.networkAuthorization),
    networkExtAuthz: connectionExtAuthz(context, spec.networkExtAuthz),
    connect: { mode: spec.connect?.mode ?? 'deny' },
    accessLog: accessLog(context, spec, process),
    tracing: tracing(context, spec, process),
  };
}

function connectionExtAuthz(context: Context, spec: FrontendSpec['networkExtAuthz']): ExtAuthz | undefined {
  if (spec === undefined) return undefined;
  const place = { path: ['frontendPolicies', 'networkExtAuthz'], key: 'frontend/networkExtAuthz' };
  return networkExtAuthz(context, { spec, policies: connectionPolicies(context, spec.policies, place) }, place);
}

function frontendHttp(spec: FrontendSpec['http']): FrontendHttp {
  return {
    maxBufferSize: spec?.maxBufferSize ?? 2 * 1024 * 1024,
    http1MaxHeaders: spec?.http1MaxHeaders ?? 100,
    http1IdleTimeoutMs: spec?.http1IdleTimeout ?? 600_000,
    http1HeaderCase: spec?.http1HeaderCase ?? 'lowercase',
    http2WindowSize: spec?.http2WindowSize,
    http2ConnectionWindowSize: spec?.http2ConnectionWindowSize,
    http2FrameSize: spec?.http2FrameSize,
    http2MaxHeaderSize: spec?.http2MaxHeaderSize,
    http2KeepaliveIntervalMs: spec?.http2KeepaliveInterval,
    http2KeepaliveTimeoutMs: spec?.http2KeepaliveTimeout,
    maxConnectionDurationMs: spec?.maxConnectionDuration,
    streamIdleTimeoutMs: spec?.streamIdleTimeout ?? 300_000,
    forwardedHeaders: spec?.forwardedHeaders ?? 'append',
  };
}
