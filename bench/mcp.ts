/** What MCP servers are asked and answer here, for the cases and the upstream. */

/** How the servers of a case are reached. */
export interface McpCase {
  readonly target: string;
}

export const MCP_PATH = '/mcp';

const ARGUMENTS = {
  city: 'Bern',
  days: 3,
  units: 'metric',
  notes: 'The user asks for the weather of the week. '.repeat(8),
};
const SAID = 'Sunny in the morning, clouds in the afternoon, and a light wind from the west the whole day. '.repeat(6);

/** A call of one tool, about half a KiB. */
export function callRequest(): string {
  const params = { name: 'forecast', arguments: ARGUMENTS };
  return JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
}

/** What clients of a session send; without a key, ids of sessions can be written by anybody. */
export function callHeaders({ target }: McpCase): Readonly<Record<string, string>> {
  const session = JSON.stringify({ t: 'mcp', s: [{ t: target, s: 'bench' }] });
  return sessionHeaders(Buffer.from(session).toString('base64url'));
}

/** What clients send; without an id before they have one. */
export function sessionHeaders(id: string | undefined): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(id === undefined ? {} : { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': id }),
  };
}

/** Of one server. */
const TOOLS = Array.from({ length: 100 }, (_, at) => ({
  name: `forecast_${at}`,
  description: `Forecast of the weather in region ${at}, for up to ten days.`,
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Name of a city' }, days: { type: 'integer' } },
    required: ['city'],
  },
}));

/** What a server answers to a message, as text; undefined for what takes no answer. */
export function mcpAnswer(message: string): object | undefined {
  const id = /"id":(\d+|"[^"]*")/.exec(message)?.[1];
  if (id === undefined) return undefined;
  const { method } = JSON.parse(message) as { readonly method: string };
  return { jsonrpc: '2.0', id: JSON.parse(id) as number | string, result: resultOf(method) };
}

function resultOf(method: string): object {
  if (method === 'tools/call') return { content: [{ type: 'text', text: SAID }], isError: false };
  const serverInfo = { name: 'bench', version: '1' };
  if (method === 'initialize')
    return { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo };
  if (method === 'tools/list') return { tools: TOOLS };
  return {};
}
