import type { HostTarget } from './backend.ts';
import type { RemoteOpenApi } from './document.ts';
import type { BackendPolicies } from './policy.ts';
import type { Secret } from '../../shared/secret.ts';

/** MCP servers behind one address. */
export interface McpBackend {
  readonly kind: 'mcp';
  /** `/mcp` for the section, `/<name>` when named, `<routeKey>/backend<idx>` when written inline. */
  readonly key: string;
  /** At least one; names are unique. */
  readonly targets: readonly McpTarget[];
  /** Sessions of clients of the older protocol versions; without them every request stands alone. */
  readonly stateful: boolean;
  /** Whether names of tools and prompts carry the name of their target: always, with several targets, never. */
  readonly prefixMode: 'always' | 'conditional' | 'never';
  readonly failureMode: 'failClosed' | 'failOpen';
  readonly dnsRebindingProtection: boolean;
}

export interface McpTarget {
  /** Without `_` and `+`, which delimit it in names of tools and addresses of resources. */
  readonly name: string;
  /** `<key of the backend>/<name>` */
  readonly key: string;
  readonly server: McpServer;
  /** What its address implies where no policy says more: TLS. */
  readonly defaults: BackendPolicies;
  /** Of the connection to it; none for programs. */
  readonly policies: BackendPolicies;
}

export type McpServer =
  /** `path` holds the query too. */
  | { readonly kind: 'streamable' | 'sse'; readonly at: McpPlace; readonly path: string }
  | {
      readonly kind: 'openapi';
      readonly at: McpPlace;
      /** Before the path of every operation, without a slash at its end. */
      readonly path: string;
      readonly schema: OpenApiSource;
    }
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, Secret>>;
      /** The program sees nothing of the gateway's own environment. */
      readonly clearEnv: boolean;
    };

/** Where a server is: an address, or a named backend with its policies. */
export type McpPlace =
  | { readonly kind: 'host'; readonly target: HostTarget }
  | { readonly kind: 'backend'; readonly backend: string };

/** An OpenAPI document: written in the configuration or a file, as parsed JSON or YAML, or fetched by the control thread. */
export type OpenApiSource = { readonly kind: 'inline'; readonly document: unknown } | RemoteOpenApi;

/** `config.session` and `config.mcp`. */
export interface McpSessions {
  /** 32 bytes as 64 hexadecimal digits; session ids are encrypted with it. Undefined leaves them readable. */
  readonly key?: Secret | undefined;
  /** How long a session may lie idle. */
  readonly ttlMs: number;
}
