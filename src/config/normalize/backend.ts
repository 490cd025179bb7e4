import type { Backend, NamedBackend } from '../ir/backend.ts';
import type { RouteBackend, RouteTarget } from '../ir/route.ts';
import type { AiBackendSpec } from '../schema/ai-backend.ts';
import type { McpBackendSpec } from '../schema/mcp-backend.ts';
import type { AgentCoreSpec } from '../schema/agent-core.ts';
import type { NamedBackendSpec, RouteBackendSpec, TcpRouteBackendSpec } from '../schema/backend.ts';
import type { Context } from './context.ts';
import { plainName } from './names.ts';
import { agentCore } from './agent-core.ts';
import { aiBackend } from './ai-backend.ts';
import { mcpBackend } from './mcp/backend.ts';
import { backendPolicies, connectionPolicies } from './policy.ts';
import { hostBackend, simpleBackend, type Place } from './simple-backend.ts';

/** The backends of a route. `key` is that of the route. */
export function routeBackends(
  context: Context,
  specs: readonly (RouteBackendSpec | TcpRouteBackendSpec)[],
  { path, key }: Place,
): RouteBackend[] {
  return specs.flatMap((spec, index) => {
    const at = [...path, 'backends', index];
    const backendKey = `${key}/backend${index}`;
    const target = routeTarget(context, spec, { path: at, key: backendKey });
    const policies = backendPolicies(context, spec.policies, { path: [...at, 'policies'], key: backendKey });
    return target === undefined ? [] : [{ weight: spec.weight, index, target, policies }];
  });
}

/** Kinds of backends whose calls are made request by request. */
const NO_CONNECTIONS: ReadonlyMap<string, string> = new Map([
  ['mcp', 'MCP servers'],
  ['ai', 'language models'],
  ['llm', 'language models'],
]);

/** Of a TCP route: connections have to lead somewhere. */
export function tcpBackends(context: Context, specs: readonly TcpRouteBackendSpec[], place: Place): RouteBackend[] {
  for (const [index, { backend }] of specs.entries()) {
    const kind = backend === undefined ? undefined : context.names.backendKinds.get(plainName(backend));
    const what = kind === undefined ? undefined : NO_CONNECTIONS.get(kind);
    if (what !== undefined)
      context.report(
        [...place.path, 'backends', index, 'backend'],
        'GW_CONFIG_CONFLICT',
        `${JSON.stringify(backend)} stands for ${what}: a TCP route cannot send connections there`,
        { hint: 'name it in a route of HTTP' },
      );
  }
  return routeBackends(context, specs, place);
}

function routeTarget(
  context: Context,
  spec: RouteBackendSpec | TcpRouteBackendSpec,
  place: Place,
): RouteTarget | undefined {
  if ('routeGroup' in spec && spec.routeGroup !== undefined) return { kind: 'routeGroup', name: spec.routeGroup };
  if ('invalid' in spec && spec.invalid === null) return { kind: 'invalid' };
  const simple = simpleBackend(spec);
  if (simple !== undefined) return simple;
  const backend = inlineBackend(context, spec, place);
  return backend === undefined ? undefined : { kind: 'inline', backend };
}

interface InlineSpec {
  readonly host?: string | undefined;
  readonly internal?: string | undefined;
  readonly dynamic?: { readonly target?: string | undefined } | null | undefined;
  readonly ai?: AiBackendSpec | undefined;
  readonly mcp?: McpBackendSpec | undefined;
  readonly aws?: { readonly agentCore?: AgentCoreSpec | undefined } | undefined;
}

function inlineBackend(context: Context, spec: InlineSpec, { path, key }: Place): Backend | undefined {
  const { dynamic, internal, host, ai, mcp, aws } = spec;
  if (ai !== undefined)
    return aiBackend(context, ai, {
      place: { path: [...path, 'ai'], key },
      policies: (policies, place) => backendPolicies(context, policies, place),
    });
  if (mcp !== undefined)
    return mcpBackend(context, mcp, {
      place: { path: [...path, 'mcp'], key },
      policies: (policies, place) => connectionPolicies(context, policies, place),
    });
  if (aws?.agentCore !== undefined) return agentCore(aws.agentCore, key);
  if (dynamic !== undefined)
    return { kind: 'dynamic', key, ...(dynamic?.target === undefined ? {} : { target: dynamic.target }) };
  if (internal !== undefined) return { kind: 'internal', key, path: internal === 'forward' ? undefined : internal };
  return host === undefined ? undefined : hostBackend(host, key);
}

/** The entries of `backends`. */
export function namedBackends(context: Context, specs: readonly (NamedBackendSpec | undefined)[]): NamedBackend[] {
  const seen = new Map<string, number>();
  return specs.flatMap((spec, index) => {
    if (spec === undefined) return [];
    const name = plainName(spec.name);
    const path = ['backends', index];
    const section = context.names.sections.get(name);
    if (section !== undefined)
      context.report(
        [...path, 'name'],
        'GW_CONFIG_CONFLICT',
        `${JSON.stringify(name)} is the backend of \`${section}\``,
      );
    const earlier = seen.get(name);
    if (earlier !== undefined)
      context.report(
        [...path, 'name'],
        'GW_CONFIG_CONFLICT',
        `backends[${earlier}] is called ${JSON.stringify(name)} already`,
      );
    else seen.set(name, index);
    const key = `/${name}`;
    const backend = inlineBackend(context, spec, { path, key });
    const policies = backendPolicies(context, spec.policies, { path: [...path, 'policies'], key });
    return backend === undefined ? [] : [{ name, backend, policies }];
  });
}
