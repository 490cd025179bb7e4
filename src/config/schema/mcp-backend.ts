import { z } from 'zod';
import { backendName, hostText } from './backend-ref.ts';
import { object } from './build.ts';
import { simpleBackendPolicies } from './policy-sets.ts';
import { fileInlineOrRemote, port } from './scalars.ts';

const endpoint = {
  host: hostText.optional().describe('Address, or host name together with `port` and `path`.'),
  port: port.optional(),
  path: z.string().optional(),
  backend: backendName.optional(),
};

const target = object('A server; exactly one of sse, mcp, openapi, stdio.', {
  name: z.string().min(1).max(253),
  policies: simpleBackendPolicies.optional(),
  sse: object('The older HTTP transport.', endpoint).optional(),
  mcp: object('Streamable HTTP.', endpoint).optional(),
  openapi: object('Tools made from an OpenAPI description.', { ...endpoint, schema: fileInlineOrRemote }).optional(),
  stdio: object('A program.', {
    cmd: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
    clear_env: z.boolean().default(false),
  }).optional(),
});

/** `mcp`: MCP servers behind one address. */
export const mcpBackend = object(
  'MCP servers behind one address.',
  {
    targets: z.array(target).min(1).max(128),
    statefulMode: z.enum(['stateless', 'stateful']).default('stateful'),
    prefixMode: z.enum(['conditional', 'always', 'never']).default('conditional'),
    failureMode: z.enum(['failClosed', 'failOpen']).default('failClosed'),
    dnsRebindingProtection: z.boolean().default(false),
  },
  'McpBackend',
);
