/** What serves MCP, for configurations that have some; see `load.ts`. */
export { frontOf, McpBackend } from './mcp-backend.ts';
