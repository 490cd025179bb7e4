import type { z } from 'zod';
import { object, withRule } from './build.ts';
import { mcpBackendShape } from './mcp-backend.ts';
import { routePolicies } from './policy-sets.ts';
import { gatewayRefs, port } from './scalars.ts';

/** `mcp`: a backend of MCP servers with a route of its own. */
export const mcp = withRule(
  object(
    'MCP servers behind one address.',
    {
      gateways: gatewayRefs.optional(),
      port: port.optional().describe('Older form: a port of its own. Default without any gateway to attach to: 3000.'),
      ...mcpBackendShape,
      policies: routePolicies.optional().describe('Policies of every request to `mcp`.'),
    },
    'Mcp',
  ),
  (keys, add) => {
    if (keys['gateways'] !== undefined && keys['port'] !== undefined)
      add('`gateways` and `port` cannot be used together', { at: 'port', code: 'GW_CONFIG_CONFLICT' });
  },
);

export type McpSpec = z.output<typeof mcp>;
