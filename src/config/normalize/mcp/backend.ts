import type { McpBackend, McpPlace, McpServer } from '../../ir/mcp.ts';
import type { BackendPolicies } from '../../ir/policy.ts';
import type { Path } from '../../load/problem.ts';
import type { McpBackendSpec, McpPlaceSpec, McpTargetSpec } from '../../schema/mcp-backend.ts';
import { Secret } from '../../../shared/secret.ts';
import type { Context } from '../context.ts';
import { openApi } from '../document.ts';
import { plainName } from '../names.ts';
import type { Place } from '../simple-backend.ts';
import { parseMcpAddress } from './place.ts';

/** Normalizes the policies of a target. */
type TargetPolicies = (policies: McpTargetSpec['policies'], place: Place) => BackendPolicies;

/** `place` is that of the backend: its path holds `targets`. Targets that cannot be used are left out after a problem. */
export function mcpBackend(
  context: Context,
  spec: McpBackendSpec,
  { place: { path, key }, policies }: { readonly place: Place; readonly policies: TargetPolicies },
): McpBackend {
  const { targets, statefulMode, prefixMode, failureMode, dnsRebindingProtection } = spec;
  return {
    kind: 'mcp',
    key,
    targets: targets.flatMap((target, index) => {
      const at = { path: [...path, 'targets', index], key: `${key}/${target.name}` };
      const found = serverOf(context, target, { path: at.path, optional: failureMode === 'failOpen' });
      if (found === undefined) return [];
      const { server, tls } = found;
      const defaults: BackendPolicies = tls ? { backendTLS: { verify: 'full' } } : {};
      return [{ name: target.name, key: at.key, server, defaults, policies: policies(target.policies, at) }];
    }),
    stateful: statefulMode === 'stateful',
    prefixMode,
    failureMode,
    dnsRebindingProtection,
  };
}

interface Found {
  readonly server: McpServer;
  /** The address asks for TLS. */
  readonly tls: boolean;
}

interface Whether {
  readonly path: Path;
  /** The others go on without it. */
  readonly optional: boolean;
}

/** The schema makes sure that there is exactly one kind. */
function serverOf(
  context: Context,
  { mcp, sse, stdio, openapi }: McpTargetSpec,
  { path, optional }: Whether,
): Found | undefined {
  if (stdio !== undefined) return { server: program(stdio), tls: false };
  if (openapi !== undefined) return operations(context, openapi, { path: [...path, 'openapi'], optional });
  const kind = mcp === undefined ? 'sse' : 'streamable';
  const spec = mcp ?? sse;
  const found = spec && placeOf(context, spec, [...path, mcp === undefined ? 'sse' : 'mcp']);
  if (found === undefined) return undefined;
  const { at, tls, path: written } = found;
  return { server: { kind, at, path: written ?? (kind === 'sse' ? '/sse' : '/mcp') }, tls };
}

function program(spec: NonNullable<McpTargetSpec['stdio']>): McpServer {
  const { cmd, args, env } = spec;
  return {
    kind: 'stdio',
    command: cmd,
    args,
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, new Secret(value)])),
    clearEnv: spec.clear_env ?? spec.clearEnv ?? false,
  };
}

function operations(
  context: Context,
  spec: NonNullable<McpTargetSpec['openapi']>,
  { path, optional }: Whether,
): Found | undefined {
  const found = placeOf(context, spec, path);
  const schema = openApi(context, spec.schema, { path: [...path, 'schema'], optional });
  if (found === undefined || schema === undefined) return undefined;
  const { at, tls, path: prefix = '' } = found;
  return { server: { kind: 'openapi', at, path: prefix.replace(/\/+$/, ''), schema }, tls };
}

/** An address that cannot be read was told while screening. */
function placeOf(
  context: Context,
  spec: McpPlaceSpec,
  at: Path,
): { readonly at: McpPlace; readonly tls: boolean; readonly path: string | undefined } | undefined {
  const { host, port, path, backend } = spec;
  if (backend !== undefined) return named(context, { backend, path, at: [...at, 'backend'] });
  const read = host === undefined ? undefined : parseMcpAddress({ host, port, path });
  if (read === undefined || typeof read === 'string') return undefined;
  return { at: { kind: 'host', target: read.target }, tls: read.tls, path: read.path };
}

/** Backends that one HTTP request can be sent to. */
const PLAIN_KINDS: ReadonlySet<string> = new Set(['host', 'aws']);

function named(
  context: Context,
  { backend, path, at }: { readonly backend: string; readonly path: string | undefined; readonly at: Path },
): ReturnType<typeof placeOf> {
  const name = plainName(backend);
  const kind = context.names.backendKinds.get(name);
  if (kind !== undefined && !PLAIN_KINDS.has(kind)) {
    const message = `the backend ${JSON.stringify(name)} is of the kind \`${kind}\`, which is no server of MCP`;
    context.report(at, 'GW_CONFIG_REFERENCE', message, { hint: 'name a backend of the kind `host` or `aws`' });
    return undefined;
  }
  return { at: { kind: 'backend', backend: `/${name}` }, tls: false, path };
}
