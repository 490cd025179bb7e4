import type { GatewayConfig } from '../ir/gateway.ts';
import type { Specs } from '../load/specs.ts';
import { processConfig as processSchema } from '../schema/process.ts';
import { attachRoutes } from './attach.ts';
import { namedBackends } from './backend.ts';
import { binds } from './bind.ts';
import type { Context } from './context.ts';
import { frontendPolicies } from './frontend.ts';
import { bindDrafts } from './listener.ts';
import { llmSection } from './llm/section.ts';
import { mcpSection } from './mcp/section.ts';
import { modelCatalog } from './model-catalog.ts';
import { processConfig } from './process.ts';
import { routeGroups } from './route.ts';
import { services, workloads } from './service.ts';
import { targetedPolicies } from './targeted-policy.ts';

/** Turns the decoded file into the model: defaults filled, names resolved. Problems go to the context. */
export function normalize(context: Context, specs: Specs): GatewayConfig {
  const settings = specs.config ?? processSchema.parse({});
  const process = processConfig(context, settings);
  const drafts = bindDrafts(context, specs);
  attachRoutes(context, specs, drafts);
  const llm = llmSection(context, specs.llm, drafts);
  const mcp = mcpSection(context, specs.mcp, drafts);
  const ports = [...drafts, ...llm.binds, ...mcp.binds];
  return {
    process,
    binds: binds(context, ports, process),
    routeGroups: routeGroups(context, specs.routeGroups),
    backends: [...namedBackends(context, specs.backends), ...llm.backends, ...mcp.backends],
    policies: targetedPolicies(context, specs.policies, ports),
    frontend: frontendPolicies(context, specs.frontendPolicies ?? {}, settings),
    services: services(context, specs.services),
    workloads: workloads(context, specs.workloads),
    modelCatalog: modelCatalog(context, settings.modelCatalog),
  };
}
