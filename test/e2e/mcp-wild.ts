/** A server of MCP that does whatever its tools are named after, over each of the transports. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** Where messages go. */
export interface Wire {
  /** One message as JSON. */
  say(json: string | Buffer): void;
  /** Bytes as they are. */
  raw(bytes: string | Buffer): void;
  /** Ends without a word. */
  die(): void;
}

interface Asked {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly cursor?: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly _meta?: { readonly progressToken?: unknown };
  };
}

export const FLOOD = 100_000;
export const TOOLS = 10_000;
const PAGE = 500;
export const DEPTH = 100_000;

const json = (value: unknown): string => JSON.stringify(value);
const text = (value: string): unknown => ({ content: [{ type: 'text', text: value }] });
const notice = (data: unknown): string =>
  json({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } });

/** Answers one message of a client. `paged` is how its tools are listed. */
export function behave(message: Asked, wire: Wire, paged: boolean): void {
  const { id, method, params } = message;
  if (id === undefined || method === undefined) return;
  const answer = (result: unknown): void => wire.say(json({ jsonrpc: '2.0', id, result }));
  if (method === 'initialize') {
    const capabilities = { tools: {}, logging: {} };
    answer({ protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'wild', version: '1' } });
  } else if (method === 'tools/list') answer(toolsFrom(params?.cursor, paged));
  else if (method === 'ping') answer({});
  else if (method === 'tools/call') call(params?.name ?? '', { id, params, wire, answer });
  else wire.say(json({ jsonrpc: '2.0', id, error: { code: -32601, message: `there is no ${method}` } }));
}

function toolsFrom(cursor: string | undefined, paged: boolean): unknown {
  const from = Number(cursor ?? 0);
  const to = paged ? Math.min(from + PAGE, TOOLS) : TOOLS;
  const tools = Array.from({ length: to - from }, (_, at) => ({
    name: `tool-${from + at}`,
    inputSchema: { type: 'object' },
  }));
  return to < TOOLS ? { tools, nextCursor: String(to) } : { tools };
}

interface Called extends Required<Pick<Asked, 'id'>> {
  readonly params: Asked['params'];
  readonly wire: Wire;
  readonly answer: (result: unknown) => void;
}

const tools: Readonly<Record<string, (called: Called) => void>> = {
  echo: ({ params, answer }) => answer(text(json(params?.arguments))),
  never: () => {},
  die: ({ wire }) => wire.die(),
  'die-in-the-middle': ({ wire, id }) => {
    wire.say(notice('before'));
    wire.raw(json({ jsonrpc: '2.0', id, result: text('half') }).slice(0, 30));
    wire.die();
  },
  'answer-twice': ({ answer }) => {
    answer(text('first'));
    answer(text('second'));
  },
  'answer-others': ({ wire, answer }) => {
    for (const id of ['nobody', -1, 1e9, 1.5, '__proto__'])
      wire.say(json({ jsonrpc: '2.0', id, result: text('for somebody else') }));
    answer(text('mine'));
  },
  flood: ({ wire, answer, params }) => {
    const progressToken = params?._meta?.progressToken ?? 'nobody';
    for (let progress = 1; progress <= FLOOD; progress++)
      wire.say(json({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } }));
    answer(text('after the flood'));
  },
  deep: ({ wire, id }) =>
    wire.say(
      `{"jsonrpc":"2.0","id":${json(id)},"result":{"content":[],"deep":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}}`,
    ),
  huge: ({ answer }) => answer(text('x'.repeat(40 * 2 ** 20))),
  prototype: ({ wire, id }) =>
    wire.say(
      `{"jsonrpc":"2.0","id":${json(id)},"result":{"content":[],"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}`,
    ),
  surrogate: ({ wire, id }) =>
    wire.say(`{"jsonrpc":"2.0","id":${json(id)},"result":{"content":[{"type":"text","text":"\\ud800 \\u0000 end"}]}}`),
  'not-utf8': ({ wire, id }) => {
    const around = json({ jsonrpc: '2.0', id, result: text('@') }).split('@');
    wire.say(
      Buffer.concat([Buffer.from(around[0] ?? ''), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from(around[1] ?? '')]),
    );
  },
  'no-json': ({ wire }) => wire.say('this is no JSON'),
  'no-message': ({ wire, id }) => wire.say(json({ id, result: {} })),
  'wrong-kind': ({ wire, id }) => wire.say(json({ jsonrpc: '2.0', id, result: [1, 2, 3] })),
};

function call(name: string, called: Called): void {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool !== undefined) tool(called);
  else
    called.wire.say(
      json({ jsonrpc: '2.0', id: called.id, error: { code: -32602, message: `there is no tool ${name}` } }),
    );
}

export interface WildServer {
  readonly port: number;
  /** What is connected at the moment. */
  readonly connections: () => Promise<number>;
  close(): Promise<void>;
}

/** Streamable HTTP at `/mcp` (with a stream for each answer) and the older transport at `/sse`; `?paged` lists in pages. */
export async function startWild(): Promise<WildServer> {
  const streams = new Map<string, ServerResponse>();
  const server = createServer(
    (request, response) => void serve(request, response, streams).catch(() => response.destroy()),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // `as`: a TCP server that listens has an address with a port.
    port: (server.address() as AddressInfo).port,
    connections: () => openOf(server),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function openOf(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  streams: Map<string, ServerResponse>,
): Promise<void> {
  const url = new URL(request.url ?? '', 'http://here.test');
  const paged = url.searchParams.has('paged');
  if (request.method === 'GET' && url.pathname === '/sse') {
    const id = String(streams.size);
    streams.set(id, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: endpoint\ndata: /sse?id=${id}${paged ? '&paged' : ''}\n\n`);
    return;
  }
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // without an encoding
  const message = JSON.parse(Buffer.concat(chunks).toString()) as Asked; // of the gateway
  if (url.pathname === '/sse') {
    response.writeHead(202).end();
    const stream = streams.get(url.searchParams.get('id') ?? '');
    if (stream !== undefined) behave(message, eventsOver(stream), paged);
    return;
  }
  if (message.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  behave(message, eventsOver(response), paged);
  if (message.params?.name !== 'never') response.end();
}

function eventsOver(response: ServerResponse): Wire {
  return {
    say: (json) => void response.write(Buffer.concat([Buffer.from('data: '), Buffer.from(json), Buffer.from('\n\n')])),
    raw: (bytes) => void response.write(bytes),
    die: () => void response.destroy(),
  };
}
