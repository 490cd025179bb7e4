/** A client of MCP that says what it is told to, over HTTP. */
import { type Answer, ask } from './gateway.ts';

export interface Told {
  readonly status: number;
  readonly headers: Answer['headers'];
  readonly body: string;
  /** The messages of a stream of events, or the one that is the body. */
  readonly messages: readonly Message[];
}

export interface Message {
  readonly jsonrpc?: string;
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export const MCP_HEADERS = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
} as const;

export const HELLO = {
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
} as const;

/** Text and bytes are sent as they are, anything else as a message of JSON-RPC. */
export async function post(
  port: number,
  message: object | string | Buffer,
  headers: Readonly<Record<string, string | string[]>> = {},
  path = '/mcp',
): Promise<Told> {
  const raw = typeof message === 'string' || Buffer.isBuffer(message);
  const body = raw ? message : JSON.stringify({ jsonrpc: '2.0', ...message });
  const answer = await ask(port, path, { method: 'POST', headers: { ...MCP_HEADERS, ...headers }, body });
  return { ...answer, messages: messagesIn(answer) };
}

/** Begins a session and gives the header that names it. */
export async function begin(port: number): Promise<{ readonly 'mcp-session-id': string }> {
  const { headers, status, body } = await post(port, HELLO);
  const id = headers['mcp-session-id'];
  if (typeof id !== 'string') throw new Error(`no session: ${status} ${body}`);
  const session = { 'mcp-session-id': id };
  await post(port, { method: 'notifications/initialized' }, session);
  return session;
}

export function call(name: string, args: unknown = {}, id: unknown = 'call'): object {
  return { id, method: 'tools/call', params: { name, arguments: args, _meta: { progressToken: 'p' } } };
}

function messagesIn({ headers, body }: Answer): readonly Message[] {
  const type = headers['content-type'] ?? '';
  // `as`: of a gateway that writes JSON-RPC.
  if (type.startsWith('application/json')) return [JSON.parse(body) as Message];
  if (!type.startsWith('text/event-stream')) return [];
  const lines = body.split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Message);
}
