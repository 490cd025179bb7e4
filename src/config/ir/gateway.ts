import type { NamedBackend, Service, Workload } from './backend.ts';
import type { ModelCatalog } from './model-catalog.ts';
import type { FrontendPolicies, GatewayPolicies, TargetedPolicy } from './policy.ts';
import type { ProcessConfig } from './process.ts';
import type { HttpRoute, RouteGroup, TcpRoute } from './route.ts';
import type { TlsServer } from './tls.ts';

/** The whole configuration of one gateway process. */
export interface GatewayConfig {
  readonly process: ProcessConfig;
  readonly binds: readonly Bind[];
  readonly routeGroups: readonly RouteGroup[];
  /** Named backends; `key` is `/<name>`. */
  readonly backends: readonly NamedBackend[];
  readonly policies: readonly TargetedPolicy[];
  readonly frontend: FrontendPolicies;
  readonly services: readonly Service[];
  readonly workloads: readonly Workload[];
  /** What models cost; undefined where nobody says. */
  readonly modelCatalog?: ModelCatalog | undefined;
}

/** One port (or the internal entry point) with its listeners. */
export interface Bind {
  /** `bind/<port>`, or `bind/wildcard`. */
  readonly key: string;
  /** `[::]:8080` or `0.0.0.0:8080`, as shown in dumps. */
  readonly address: string;
  readonly host: string;
  readonly port: number;
  /** What the socket speaks first: TLS if any listener is of the TLS family, raw TCP, or HTTP. */
  readonly protocol: 'http' | 'tls' | 'tcp';
  readonly mode: 'standard' | 'internal';
  readonly tunnelProtocol: 'direct' | 'proxy' | 'connect';
  readonly listeners: readonly Listener[];
}

export interface Listener {
  readonly key: string;
  /** Name shown as `listener` in logs, metrics and traces. */
  readonly name: string;
  readonly gatewayName: string;
  readonly gatewayNamespace: string;
  /** Exact, `*.suffix`, `*`, or empty (matches last). */
  readonly hostname: string;
  readonly protocol: ListenerProtocol;
  /** What is written on the listener itself. */
  readonly policies: GatewayPolicies;
  /** HTTP and HTTPS listeners; in file order. */
  readonly routes: readonly HttpRoute[];
  /** TCP and TLS listeners. */
  readonly tcpRoutes: readonly TcpRoute[];
}

export type ListenerProtocol =
  | { readonly kind: 'HTTP' }
  | { readonly kind: 'HTTPS'; readonly tls: TlsServer }
  | { readonly kind: 'TCP' }
  /** Without `tls` the bytes pass through untouched and the route is chosen by SNI. */
  | { readonly kind: 'TLS'; readonly tls?: TlsServer | undefined };
