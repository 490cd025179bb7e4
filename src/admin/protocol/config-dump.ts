/** The shape of `/config_dump` as a gateway writes it; readers use the lenient `decodeConfigDump`. */
export interface ConfigDump {
  readonly workloads: readonly Readonly<Record<string, unknown>>[];
  readonly services: readonly ServiceDump[];
  readonly binds: readonly BindDump[];
  readonly routes: {
    readonly httpMesh: Readonly<Record<string, unknown>>;
    readonly tcpMesh: Readonly<Record<string, unknown>>;
    readonly routeGroups: Readonly<Record<string, Readonly<Record<string, RouteDump>>>>;
  };
  readonly policies: readonly PolicyDump[];
  readonly backends: readonly BackendDump[];
  readonly models: readonly ModelDump[];
  readonly version: VersionDump;
  readonly config: Readonly<Record<string, unknown>>;
  /** Extension: identity of the configuration that is shown. */
  readonly revision: string;
}

export interface BindDump {
  readonly key: string;
  readonly address: string;
  readonly protocol: string;
  readonly tunnelProtocol: string;
  readonly mode: string;
  readonly listeners: Readonly<Record<string, ListenerDump>>;
}

export interface ListenerDump {
  readonly key: string;
  readonly gatewayName: string;
  readonly gatewayNamespace: string;
  readonly listenerName: string;
  readonly hostname: string;
  readonly protocol: string | Readonly<Record<string, unknown>>;
  readonly inlinePolicies?: readonly PolicyBody[];
  /** Extension: of the gateway phase. */
  readonly effectivePolicies?: readonly EffectivePolicyDump[];
  readonly routes?: Readonly<Record<string, RouteDump>>;
  readonly tcpRoutes?: Readonly<Record<string, RouteDump>>;
}

export interface RouteDump {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly ruleName?: string;
  readonly hostnames?: readonly string[];
  readonly matches?: readonly Readonly<Record<string, unknown>>[];
  readonly backends?: readonly RouteBackendDump[];
  readonly inlinePolicies?: readonly PolicyBody[];
  /** Extension: of the route phase. */
  readonly effectivePolicies?: readonly EffectivePolicyDump[];
}

/**
 * `weight`, one of `service`, `backend`, `inlineBackend`, `routeGroup`, `invalid`, and perhaps `inlinePolicies` and (an
 * extension) `effectivePolicies`.
 */
export type RouteBackendDump = Readonly<Record<string, unknown>>;

/** One policy: its name is the only key. */
export type PolicyBody = Readonly<Record<string, unknown>>;

/** A policy that holds at a place, once those of all levels are put together. */
export interface EffectivePolicyDump {
  readonly kind: string;
  /** The resource that it comes from; several, when their rules add up. */
  readonly source: string;
  /** Left out when it is large; it stands at the source then. */
  readonly policy?: PolicyBody;
  /** Keys of the routes that lead to a route of a group. */
  readonly via?: readonly string[];
}

export interface PolicyDump {
  readonly key: string;
  readonly name: { readonly kind: string; readonly name: string; readonly namespace: string } | null;
  readonly target: Readonly<Record<string, unknown>>;
  readonly policy: Readonly<Record<string, unknown>>;
}

export interface BackendDump {
  readonly inlinePolicies?: readonly PolicyBody[];
  readonly backend: Readonly<Record<string, unknown>>;
}

/** A model under a listener that leads to it. */
export interface ModelDump {
  readonly listenerKey: string;
  readonly key: string;
  readonly name: string;
  readonly routerKey: string;
  /** Either `concrete` or `virtual`. */
  readonly kind: Readonly<Record<string, unknown>>;
}

export interface ServiceDump {
  readonly name: string;
  readonly namespace: string;
  readonly hostname: string;
  readonly vips: readonly string[];
  readonly ports: Readonly<Record<string, number>>;
  readonly appProtocols: Readonly<Record<string, string>>;
  /** By priority. */
  readonly endpoints: readonly EndpointGroupDump[];
  readonly subjectAltNames: readonly string[];
  readonly loadBalancer?: unknown;
  readonly ipFamilies?: string;
}

export interface EndpointGroupDump {
  readonly active: Readonly<Record<string, EndpointDump>>;
  readonly rejected: Readonly<Record<string, EndpointDump>>;
}

export interface EndpointDump {
  readonly endpoint: Readonly<Record<string, unknown>>;
  readonly info: EndpointInfoDump;
  readonly capacity: number;
}

export interface EndpointInfoDump {
  /** 0..1 */
  readonly health: number;
  /** Seconds */
  readonly requestLatency: number;
  readonly pendingRequests: number;
  readonly totalRequests: number;
  readonly consecutiveFailures: number;
  readonly timesEjected: number;
  /** Time until the endpoint comes back, as a duration. */
  readonly evictedUntil: string | null;
  /** Extension: kind of the last failure and when it was. */
  readonly lastError?: string;
  /** Extension, of services of language models: what calls have used since the start. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Dollars as a decimal text. */
  readonly cost?: string;
}

/** Extension: what is known of a server of MCP, under `runtime` of a target. */
export interface McpRuntimeDump {
  /** Of the last call; `notAsked` before the first. */
  readonly state: 'ok' | 'failing' | 'notAsked';
  readonly failingSince?: string;
  /** A duration. */
  readonly failingFor?: string;
  /** That conversations have agreed on, the last one last. */
  readonly protocolVersions: readonly string[];
  readonly server?: { readonly name: string; readonly version: string };
  /** Of clients, that have a session or a program of it. */
  readonly sessions: number;
  readonly calls: number;
  /** Calls without an answer, or with a failure of HTTP. */
  readonly failures: number;
  /** Calls that were answered with an error of JSON-RPC. */
  readonly errors: number;
  readonly lastError?: { readonly message: string; readonly at: string };
  readonly tools?: McpToolsDump;
  readonly programs?: {
    readonly running: number;
    /** Started, and waiting for a conversation. */
    readonly spare?: number;
    readonly restarts: number;
    /** A duration, while programs that fail at once are not started again. */
    readonly retryIn?: string;
  };
}

export interface McpToolsDump {
  /** As it was listed last. */
  readonly count: number;
  /** There are further pages, which nobody has asked for. */
  readonly more: boolean;
  /** The first of them, as clients call them. */
  readonly names: readonly string[];
}

export interface VersionDump {
  readonly version: string;
  readonly git_revision: string;
  readonly rust_version: string;
  readonly build_profile: string;
  readonly build_target: string;
  /** Extension: what runs the gateway. */
  readonly runtime: string;
}
