import type { SimpleBackendRef } from './backend.ts';
import type { AiPolicy } from './llm.ts';
import type { A2a } from './policy/a2a.ts';
import type { ApiKeyAuth } from './policy/api-key.ts';
import type { Authorization } from './policy/authorization.ts';
import type { BasicAuth } from './policy/basic-auth.ts';
import type { Cors } from './policy/cors.ts';
import type { Csrf } from './policy/csrf.ts';
import type { BackendAuth } from './policy/backend-auth.ts';
import type { BackendTunnel } from './policy/backend-tunnel.ts';
import type { Choice } from './policy/conditional.ts';
import type { ExtAuthz } from './policy/ext-authz.ts';
import type { ExtProc } from './policy/ext-proc.ts';
import type { JwtAuth } from './policy/jwt-auth.ts';
import type { Oidc } from './policy/oidc.ts';
import type { LocalRateLimit } from './policy/local-rate-limit.ts';
import type { McpGuardrails } from './policy/mcp-guardrails.ts';
import type { AccessLog, Tracing } from './policy/observability.ts';
import type { Transformations } from './policy/transformations.ts';
import type { RemoteRateLimit } from './policy/remote-rate-limit.ts';
import type { Delay } from './policy/delay.ts';
import type { DirectResponse } from './policy/direct-response.ts';
import type { Keepalives } from './process.ts';
import type { BackendTls, KeyExchangeGroup, TlsVersion } from './tls.ts';

/** Literal header changes, applied add → set → remove. Names are kept as written. */
export interface HeaderModifier {
  readonly add: readonly (readonly [name: string, value: string])[];
  readonly set: readonly (readonly [name: string, value: string])[];
  readonly remove: readonly string[];
}

export type AuthorityChange =
  | { readonly kind: 'full'; readonly value: string }
  | { readonly kind: 'host'; readonly value: string }
  | { readonly kind: 'port'; readonly value: number }
  | { readonly kind: 'auto' }
  | { readonly kind: 'none' };

export type PathChange =
  | { readonly kind: 'full'; readonly value: string }
  | { readonly kind: 'prefix'; readonly value: string };

export interface RequestRedirect {
  readonly scheme?: 'http' | 'https' | undefined;
  readonly authority?: AuthorityChange | undefined;
  readonly path?: PathChange | undefined;
  readonly status: number;
}

export interface UrlRewrite {
  readonly authority?: AuthorityChange | undefined;
  readonly path?: PathChange | undefined;
}

export interface RequestMirror {
  readonly backend: SimpleBackendRef;
  /** 0..1 */
  readonly percentage: number;
}

export interface Timeout {
  readonly requestTimeoutMs?: number | undefined;
  readonly backendRequestTimeoutMs?: number | undefined;
}

export interface Retry {
  /** Retries after the first try. */
  readonly attempts: number;
  readonly backoffMs: number;
  readonly codes: readonly number[];
  /** Expression over the request: without it every request is tried again. */
  readonly precondition?: string | undefined;
  /** Expression over the head of a response: when it holds, the attempt has failed. */
  readonly condition?: string | undefined;
}

export interface BufferLimit {
  /** Undefined: `frontendPolicies.http.maxBufferSize`. */
  readonly maxBytes?: number | undefined;
  readonly failureMode: 'failClosed' | 'failOpen';
}

export interface BufferPolicy {
  readonly request?: BufferLimit | undefined;
  readonly response?: BufferLimit | undefined;
}

export interface BackendHttp {
  readonly version?: 'HTTP/1.1' | 'HTTP/2.0' | undefined;
  readonly requestTimeoutMs?: number | undefined;
}

export interface BackendTcp {
  readonly keepalives?: Keepalives | undefined;
  readonly connectTimeoutMs?: number | undefined;
}

export interface HealthPolicy {
  /** Expression over request and response that decides instead of the status; no response is a failure in any case. */
  readonly unhealthyExpression?: string | undefined;
  readonly eviction?:
    | {
        readonly durationMs?: number | undefined;
        /** 0..1 */
        readonly restoreHealth?: number | undefined;
        readonly consecutiveFailures?: number | undefined;
        /** 0..1 */
        readonly healthThreshold?: number | undefined;
      }
    | undefined;
}

/** Requests with an equal value go to the same endpoint. */
export interface SessionAffinity {
  readonly source: string;
}

/**
 * What may stand on a gateway or a listener and run before a route is chosen. Routes take every one of these too. Each
 * policy of more than a few lines has its type in a file of its own under `policy/`.
 */
export interface GatewayPolicies {
  readonly oidc?: Oidc | undefined;
  readonly cors?: Cors | undefined;
  readonly basicAuth?: BasicAuth | undefined;
  readonly apiKey?: ApiKeyAuth | undefined;
  readonly jwtAuth?: JwtAuth | undefined;
  readonly extAuthz?: Choice<ExtAuthz> | undefined;
  readonly extProc?: Choice<ExtProc> | undefined;
  readonly authorization?: Authorization | undefined;
  readonly transformations?: Transformations | undefined;
}

/** What an inline backend, a named backend or a route may say about connecting to a backend. */
export interface BackendPolicies {
  readonly requestHeaderModifier?: HeaderModifier | undefined;
  readonly responseHeaderModifier?: HeaderModifier | undefined;
  readonly requestRedirect?: RequestRedirect | undefined;
  readonly requestMirror?: readonly RequestMirror[] | undefined;
  readonly backendTLS?: BackendTls | undefined;
  readonly http?: BackendHttp | undefined;
  readonly tcp?: BackendTcp | undefined;
  readonly backendTunnel?: BackendTunnel | undefined;
  readonly backendAuth?: BackendAuth | undefined;
  readonly health?: HealthPolicy | undefined;
  readonly sessionAffinity?: SessionAffinity | undefined;
  readonly transformations?: Transformations | undefined;
  /** Unconditional. */
  readonly extAuthz?: Choice<ExtAuthz> | undefined;
  readonly authorization?: Authorization | undefined;
  /** Bodies of language models. */
  readonly ai?: AiPolicy | undefined;
  /** Rules about tools, prompts, resources and tasks of MCP servers. */
  readonly mcpAuthorization?: Authorization | undefined;
  readonly mcpGuardrails?: McpGuardrails | undefined;
  readonly a2a?: A2a | undefined;
}

/** What a route says for all of its backends. */
export type HandedOn = Pick<
  BackendPolicies,
  'ai' | 'backendTLS' | 'backendTunnel' | 'backendAuth' | 'mcpAuthorization' | 'mcpGuardrails' | 'a2a'
>;

/** What may be attached to a route. Those of `HandedOn` are handed on to the backends of the route. */
export interface RoutePolicies extends GatewayPolicies, HandedOn {
  /** Another way to write `jwtAuth` with `mcp`. */
  readonly mcpAuthentication?: JwtAuth | undefined;
  readonly remoteRateLimit?: Choice<RemoteRateLimit> | undefined;
  readonly csrf?: Csrf | undefined;
  readonly localRateLimit?: LocalRateLimit | undefined;
  readonly timeout?: Timeout | undefined;
  readonly retry?: Retry | undefined;
  readonly buffer?: BufferPolicy | undefined;
  readonly delay?: Delay | undefined;
  readonly directResponse?: DirectResponse | undefined;
  readonly urlRewrite?: UrlRewrite | undefined;
  readonly requestRedirect?: RequestRedirect | undefined;
  readonly requestHeaderModifier?: HeaderModifier | undefined;
  readonly responseHeaderModifier?: HeaderModifier | undefined;
  readonly requestMirror?: readonly RequestMirror[] | undefined;
}

export type PolicyTarget =
  | {
      readonly kind: 'gateway';
      readonly gatewayName: string;
      readonly gatewayNamespace: string;
      readonly listenerName?: string | undefined;
      readonly port?: number | undefined;
    }
  | {
      readonly kind: 'listenerSet';
      readonly name: string;
      readonly namespace: string;
      readonly section?: string | undefined;
    }
  | {
      readonly kind: 'route';
      readonly name: string;
      readonly namespace: string;
      readonly ruleName?: string | undefined;
      readonly routeKind?: string | undefined;
    }
  | {
      readonly kind: 'backend';
      readonly name: string;
      readonly namespace: string;
      readonly section?: string | undefined;
    }
  | {
      readonly kind: 'service';
      readonly hostname: string;
      readonly namespace: string;
      readonly port?: number | undefined;
    };

/** An entry of `policies[]`: exactly one policy and where it attaches. */
export interface TargetedPolicy {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly target: PolicyTarget;
  readonly phase: 'route' | 'gateway';
  readonly policy:
    | { readonly kind: 'traffic'; readonly traffic: RoutePolicies }
    | { readonly kind: 'backend'; readonly backend: BackendPolicies };
}

/** `frontendPolicies`: for every listener. */
export interface FrontendPolicies {
  readonly http: FrontendHttp;
  readonly tls: {
    readonly handshakeTimeoutMs: number;
    readonly alpn?: readonly string[] | undefined;
    readonly minVersion?: TlsVersion | undefined;
    readonly maxVersion?: TlsVersion | undefined;
    readonly cipherSuites?: readonly string[] | undefined;
    readonly keyExchangeGroups?: readonly KeyExchangeGroup[] | undefined;
  };
  readonly tcp?: { readonly keepalives: Keepalives } | undefined;
  readonly proxyProtocol?: { readonly version: 'v1' | 'v2' | 'all'; readonly mode: 'strict' | 'optional' } | undefined;
  /** Asked about each connection. */
  readonly networkExtAuthz?: ExtAuthz | undefined;
  readonly connect: { readonly mode: 'deny' | 'route' | 'tunnel' };
  /** Rules about connections. */
  readonly networkAuthorization?: Authorization | undefined;
  readonly accessLog: AccessLog;
  readonly tracing?: Tracing | undefined;
}

export interface FrontendHttp {
  readonly maxBufferSize: number;
  readonly http1MaxHeaders: number;
  readonly http1IdleTimeoutMs: number;
  readonly http1HeaderCase: 'lowercase' | 'preserve';
  readonly http2WindowSize?: number | undefined;
  readonly http2ConnectionWindowSize?: number | undefined;
  readonly http2FrameSize?: number | undefined;
  readonly http2MaxHeaderSize?: number | undefined;
  readonly http2KeepaliveIntervalMs?: number | undefined;
  readonly http2KeepaliveTimeoutMs?: number | undefined;
  readonly maxConnectionDurationMs?: number | undefined;
  /** A body on which nothing moves for this long is cut. */
  readonly streamIdleTimeoutMs: number;
  readonly forwardedHeaders: 'append' | 'overwrite' | 'off';
}
