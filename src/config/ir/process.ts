import type { Secret } from '../../shared/secret.ts';
import type { McpSessions } from './mcp.ts';
import type { FieldChanges, TelemetryResource } from './policy/observability.ts';

/** Where one of the local servers (admin, stats, readiness) listens. `hosts` has two entries for `localhost`. */
export type ListenAddress =
  | { readonly kind: 'off' }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly hosts: readonly string[]; readonly port: number };

export type DnsLookupFamily = 'All' | 'Auto' | 'V4Preferred' | 'V4Only' | 'V6Only';

export interface Keepalives {
  readonly enabled: boolean;
  readonly timeMs: number;
  readonly intervalMs: number;
  readonly retries: number;
}

/** A place, from the environment; empty parts are unknown. */
export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subzone: string;
  readonly node: string;
  readonly cluster: string;
  readonly network: string;
}

/** The `config` section: read at start, environment already applied. */
export interface ProcessConfig {
  readonly enableIpv6: boolean;
  readonly dns: { readonly lookupFamily: DnsLookupFamily };
  /** Where this gateway runs; undefined prefers no endpoint of a service by its place. */
  readonly locality?: Locality | undefined;
  /** What expressions see as `env`; from the environment, absent where it does not say. */
  readonly env: {
    readonly podName?: string | undefined;
    readonly namespace?: string | undefined;
    readonly gateway?: string | undefined;
  };
  /** Variables of the environment that credentials of clouds come from, as far as they are set. */
  readonly credentialEnvironment?: Readonly<Record<string, Secret>> | undefined;
  readonly adminAddr: ListenAddress;
  readonly statsAddr: ListenAddress;
  readonly readinessAddr: ListenAddress;
  /** Lower-case header names. */
  readonly sensitiveHeaders: readonly string[];
  /** Definitions of functions for expressions, as text. */
  readonly customFunctions?: string | undefined;
  readonly terminationMaxDeadlineMs: number;
  readonly terminationMinDeadlineMs: number;
  readonly workerThreads: number;
  readonly logging: { readonly level: string; readonly format: 'text' | 'json' };
  /** `add` are labels that expressions give to the metrics of requests. */
  readonly metrics: FieldChanges;
  readonly telemetry: TelemetryResource;
  readonly histograms: 'classic';
  readonly mcpSessions: McpSessions;
  readonly backend: {
    readonly keepalives: Keepalives;
    readonly connectTimeoutMs: number;
    readonly poolIdleTimeoutMs: number;
    /** Most idle connections kept per host; undefined is no cap. */
    readonly poolMaxSize?: number | undefined;
  };
}
