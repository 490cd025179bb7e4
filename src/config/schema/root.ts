import { z } from 'zod';
import { namedBackend } from './backend.ts';
import { bind } from './bind.ts';
import { object } from './build.ts';
import { frontendPolicies } from './frontend.ts';
import { gateway } from './gateway.ts';
import { llm } from './llm.ts';
import { mcp } from './mcp.ts';
import { notBuilt } from './marks.ts';
import { processConfig } from './process.ts';
import { attachedRoute, attachedTcpRoute, routeGroup } from './route.ts';
import { service } from './service.ts';
import { targetedPolicy } from './targeted-policy.ts';
import { workload } from './workload.ts';

const section = z.record(z.string(), z.unknown());
const gatewayName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^/\s]+$/, { error: 'expected a name without `/` and spaces' });

/** The whole standalone file. */
export const rootShape = {
  config: processConfig.optional(),
  gateways: z
    .record(gatewayName, gateway)
    .optional()
    .describe('Ports to listen on, by name. Routes without `gateways` attach to the one called `default`.'),
  routes: z.array(attachedRoute).optional().describe('HTTP routes.'),
  tcpRoutes: z.array(attachedTcpRoute).optional().describe('TCP routes.'),
  binds: z.array(bind).optional().describe('Older form of ports, listeners and routes in one tree.'),
  routeGroups: z.array(routeGroup).optional().describe('Routes that other routes hand over to.'),
  backends: z.array(namedBackend).optional().describe('Backends that routes name.'),
  policies: z.array(targetedPolicy).optional().describe('Policies attached by name.'),
  frontendPolicies: frontendPolicies.optional(),
  llm: llm.optional(),
  mcp: mcp.optional(),
  ui: notBuilt(section.describe('The web interface.'), 'the section `ui`'),
  services: z.array(service).optional().describe('Services, for backends of the kind `service`.'),
  workloads: z.array(workload).optional().describe('Endpoints of services.'),
};

export const root = object('Configuration of the gateway.', rootShape);

export type RootSpec = z.output<typeof root>;
