import type { Backend, GatewayConfig, HttpRoute } from './ir/index.ts';

/** Backends of a configuration: those with a name, and those that routes have of their own. */
export function* allBackends({ backends, binds, routeGroups }: GatewayConfig): Generator<Backend> {
  for (const { backend } of backends) yield backend;
  for (const bind of binds) for (const { routes } of bind.listeners) yield* inlineBackends(routes);
  for (const { routes } of routeGroups) yield* inlineBackends(routes);
}

function* inlineBackends(routes: readonly HttpRoute[]): Generator<Backend> {
  for (const { backends } of routes)
    for (const { target } of backends) if (target.kind === 'inline') yield target.backend;
}

/** Whether it has servers of MCP. */
export function servesMcp(config: GatewayConfig): boolean {
  for (const { kind } of allBackends(config)) if (kind === 'mcp') return true;
  return false;
}
