import type { AiBackend, ModelsBackend } from './llm.ts';
import type { McpBackend } from './mcp.ts';
import type { BackendPolicies } from './policy.ts';

/** Somewhere that requests can be sent, without the policies of the place it is used in. */
export type Backend =
  | HostBackend
  /**
   * Dials what the expression `target` gives, `host:port`; without one the request's own authority (HTTP) or the SNI with
   * the port of the listener (TLS).
   */
  | { readonly kind: 'dynamic'; readonly key: string; readonly target?: string | undefined }
  /** The gateway's own admin router, in process; `path` replaces the request's path. */
  | { readonly kind: 'internal'; readonly key: string; readonly path?: string | undefined }
  | AiBackend
  | ModelsBackend
  | McpBackend
  | AgentCoreBackend;

export interface HostBackend {
  readonly kind: 'host';
  /** `/<name>` when named, `<routeKey>/backend<idx>` when written inline. */
  readonly key: string;
  readonly target: HostTarget;
}

/** An agent that runs on AWS: requests take its path and query in place of their own. */
export interface AgentCoreBackend {
  readonly kind: 'agentCore';
  /** `/<name>` when named, `<routeKey>/backend<idx>` when written inline. */
  readonly key: string;
  /** Of the runtime, as written. */
  readonly arn: string;
  /** Parts of the ARN. */
  readonly region: string;
  readonly account: string;
  /** A version, or another name of one; of characters that need no escape in a query. */
  readonly qualifier?: string | undefined;
}

export type HostTarget =
  /** `host` without brackets; a name, an IPv4 or an IPv6 address. */
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

export interface NamedBackend {
  readonly name: string;
  readonly backend: Backend;
  readonly policies: BackendPolicies;
}

/** A backend in a position that takes only simple ones (mirror targets): `service`, `host` or `backend`. */
export type SimpleBackendRef =
  | { readonly kind: 'service'; readonly hostname: string; readonly namespace: string; readonly port: number }
  | { readonly kind: 'inline'; readonly backend: HostBackend }
  | { readonly kind: 'reference'; readonly backend: string };

export type AppProtocol = 'Http11' | 'Http2' | 'Grpc' | 'Tls' | 'Tcp';

export interface Service {
  readonly name: string;
  readonly namespace: string;
  readonly hostname: string;
  readonly vips: readonly string[];
  /** Service port to target port. */
  readonly ports: Readonly<Record<string, number>>;
  readonly appProtocols: Readonly<Record<string, AppProtocol>>;
  readonly subjectAltNames: readonly string[];
  readonly loadBalancer?:
    | {
        readonly routingPreferences: readonly ('Region' | 'Zone' | 'Subzone' | 'Node' | 'Cluster' | 'Network')[];
        readonly mode: 'Standard' | 'Strict' | 'Failover' | 'Passthrough';
        readonly healthPolicy: 'OnlyHealthy' | 'AllowAll';
      }
    | undefined;
  readonly ipFamilies?: 'Dual' | 'IPv4' | 'IPv6' | undefined;
}

export interface Workload {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly workloadIps: readonly string[];
  /** Dialled when there are no addresses; a wildcard takes the request's host when it matches. */
  readonly hostname?: string | undefined;
  /** `namespace/hostname` of a service, to service port, to the workload's port. */
  readonly services: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly network: string;
  readonly node: string;
  readonly clusterId: string;
  readonly serviceAccount: string;
  readonly trustDomain: string;
  readonly workloadName: string;
  readonly workloadType: string;
  readonly canonicalName: string;
  readonly canonicalRevision: string;
  readonly protocol: 'TCP';
  readonly networkMode: 'Standard' | 'HostNetwork';
  readonly status: 'Healthy' | 'Unhealthy';
  /** 0 is drained: never used. */
  readonly capacity: number;
  readonly locality: { readonly region: string; readonly zone: string; readonly subzone: string };
}
