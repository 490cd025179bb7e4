import type { NamedBackend } from '../../ir/backend.ts';
import type { HttpRoute, PathMatch } from '../../ir/route.ts';
import type { Path } from '../../load/problem.ts';
import type { McpSpec } from '../../schema/mcp.ts';
import { attachedListeners, defaultListeners } from '../attach.ts';
import type { Context } from '../context.ts';
import { type BindDraft, type ListenerDraft, listenerDraft } from '../listener.ts';
import { MCP_BACKEND } from '../names.ts';
import { connectionPolicies, routePolicies } from '../policy.ts';
import { mcpBackend } from './backend.ts';

const PATH: Path = ['mcp'];
const OWN_PORT = 3000;

/** What the section adds to the rest of the file. */
export interface McpParts {
  readonly binds: readonly BindDraft[];
  readonly backends: readonly NamedBackend[];
}

/** Attaches a route to the servers to the listeners of `binds`, or opens a port for it. */
export function mcpSection(context: Context, spec: McpSpec | undefined, binds: readonly BindDraft[]): McpParts {
  if (spec === undefined) return { binds: [], backends: [] };
  const backend = mcpBackend(context, spec, {
    place: { path: PATH, key: `/${MCP_BACKEND}` },
    policies: (policies, place) => connectionPolicies(context, policies, place),
  });
  const attached = listeners(context, spec, binds);
  for (const listener of attached ?? [])
    listener.routes.push({ path: PATH, route: route(context, spec, { listener, prefixes: SHARED }) });
  const own = attached === null ? [ownBind(context, spec)] : [];
  return { binds: own, backends: [{ name: MCP_BACKEND, backend, policies: {} }] };
}

/** Where the servers are attached; null where they get a port of their own. */
function listeners(context: Context, spec: McpSpec, binds: readonly BindDraft[]): readonly ListenerDraft[] | null {
  const { gateways, port } = spec;
  if (gateways !== undefined) return attachedListeners(context, binds, { refs: gateways, path: PATH });
  if (port !== undefined) return null;
  const found = defaultListeners(binds);
  if (found.length > 0) return found;
  // A gateway that is there but broken has problems of its own.
  return context.partial && context.names.gateways.has('default') ? [] : null;
}

function ownBind(context: Context, spec: McpSpec): BindDraft {
  const place = { key: 'mcp', name: 'mcp', gateway: undefined, namespace: 'default', hostname: '*', path: PATH };
  const written = { tls: undefined, protocol: undefined };
  const draft = listenerDraft(context, written, { ...place, policiesPath: [...PATH, 'policies'] });
  draft.routes.push({ path: PATH, route: route(context, spec, { listener: draft, prefixes: OWN }) });
  const path = spec.port === undefined ? PATH : [...PATH, 'port'];
  return { port: spec.port ?? OWN_PORT, source: 'mcp', path, tunnelProtocol: 'direct', listeners: [draft] };
}

/** Next to routes of others: the two transports, and what clients look for before they log in. */
const SHARED = ['/mcp', '/sse', '/.well-known'];
const OWN = ['/'];

function route(
  context: Context,
  { policies }: McpSpec,
  { listener, prefixes }: { readonly listener: ListenerDraft; readonly prefixes: readonly string[] },
): HttpRoute {
  const key = `${listener.key}/default/mcp`;
  const paths = prefixes.map((value): PathMatch => ({ kind: 'pathPrefix', value }));
  return {
    key,
    name: 'mcp',
    namespace: 'default',
    hostnames: [],
    matches: paths.map((path) => ({ path, method: undefined, headers: [], query: [] })),
    policies: routePolicies(context, policies, { path: [...PATH, 'policies'], key, origin: 'mcp' }),
    backends: [{ weight: 1, index: 0, target: { kind: 'reference', backend: `/${MCP_BACKEND}` }, policies: {} }],
  };
}
