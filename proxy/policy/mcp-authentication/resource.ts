import type { McpOAuth } from '../../../src/config/ir/index.ts';
import type { Outcome } from '../contract.ts';
import { answer } from './answer.ts';

/** Protected resource metadata (RFC 9728 section 2) of the MCP server at an address. */
export function resourceMetadata(spec: McpOAuth, url: string): Outcome {
  const document = {
    resource: url,
    authorization_servers: [standsIn(spec) ? url : spec.issuer],
    mcp_protocol_version: '2025-06-18',
    resource_type: 'mcp-server',
    ...spec.resourceMetadata,
  };
  return answer(JSON.stringify(document), { status: 200, methods: 'GET' });
}

/** Whether clients are to take the gateway for the authorization server, because it answers something in its place. */
export function standsIn({ provider, clientId }: McpOAuth): boolean {
  return provider !== undefined || clientId !== undefined;
}
