/**
 * Opens sessions at an MCP server, lists tools in the first of them, and keeps all open for a while:
 * `node bench/mcp-client.ts '{"port":…,"sessions":…,"lists":…,"seconds":…}'`, the result as JSON.
 */
import { Agent, request as http, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { MCP_PATH, sessionHeaders } from './mcp.ts';

export interface SessionLoad {
  readonly port: number;
  readonly sessions: number;
  /** How often the first session asks for its tools, one after the other. */
  readonly lists: number;
  /** How long they stay open then. */
  readonly seconds: number;
}

export interface SessionResult {
  /** Sessions with a stream that was open at the end. */
  readonly open: number;
  /** Tools in the last list. */
  readonly tools: number;
  /** Milliseconds for a list, the median. */
  readonly listMs: number;
}

const AT_ONCE = 20;
const [given = '{}'] = process.argv.slice(2);
// `as`: written by the one who starts this.
const load = JSON.parse(given) as SessionLoad;
const agent = new Agent({ keepAlive: true });
const streams = new Set<IncomingMessage>();

const ids: string[] = [];
while (ids.length < load.sessions) {
  const wanted = Math.min(AT_ONCE, load.sessions - ids.length);
  ids.push(...(await Promise.all(Array.from({ length: wanted }, open))));
}
const [first = ''] = ids;
const times: number[] = [];
let tools = 0;
for (let index = 0; index < load.lists; index += 1) {
  const before = performance.now();
  tools = await list(first);
  times.push(performance.now() - before);
}
await sleep(load.seconds * 1000);
times.sort((a, b) => a - b);
const result: SessionResult = { open: streams.size, tools, listMs: times[times.length >> 1] ?? 0 };
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));

/** As libraries open one: a greeting, its confirmation, the stream of what the server has to say, and a look at the tools. */
async function open(): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const { headers } = await post({ id: 1, method: 'initialize', params });
  const id = String(headers['mcp-session-id']);
  await post({ method: 'notifications/initialized' }, id);
  const stream = await ask('GET', id);
  streams.add(stream.resume());
  stream.once('close', () => streams.delete(stream));
  if (load.lists === 0) await list(id);
  return id;
}

async function list(id: string): Promise<number> {
  const { text } = await post({ id: 2, method: 'tools/list' }, id);
  return text.split('"inputSchema"').length - 1;
}

interface Posted {
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

async function post(message: object, id?: string): Promise<Posted> {
  const response = await ask('POST', id, JSON.stringify({ jsonrpc: '2.0', ...message }));
  response.setEncoding('utf8');
  const texts: string[] = [];
  for await (const text of response) texts.push(String(text));
  return { headers: response.headers, text: texts.join('') };
}

function ask(method: string, id?: string, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = sessionHeaders(id);
    const call = http({ host: '127.0.0.1', port: load.port, path: MCP_PATH, method, headers, agent });
    call.once('error', reject);
    call.once('response', (response) => {
      response.on('error', () => {});
      if (response.statusCode === 200 || response.statusCode === 202) resolve(response);
      else reject(new Error(`${method} ${body ?? ''} was answered with ${response.statusCode}`));
    });
    call.end(body);
  });
}
