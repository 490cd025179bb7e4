/** Servers of MCP of every kind that do what calls wish for, mostly nothing good. Whatever they say carries its client's tag. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a call may wish for. */
export const DEEDS = [
  'answer',
  'slow',
  'reset',
  'fail',
  'garbage',
  'flood',
  'twice',
  'others',
  'ask',
  'never',
] as const;
export type Deed = (typeof DEEDS)[number];

/** Where a server says something. */
export interface Wire {
  say(message: object): void;
  garbage(): void;
  fail(): void;
  die(): void;
}

interface Asked {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: {
    readonly arguments?: { readonly deed?: Deed; readonly tag?: string };
    readonly _meta?: { readonly progressToken?: unknown };
    readonly clientInfo?: { readonly name?: string };
    readonly notifications?: object;
  };
}

const FLOOD = 1500;
const SLOW_MS = 30;
const said = (message: object): object => ({ jsonrpc: '2.0', ...message });
const notice = (data: unknown): object =>
  said({ method: 'notifications/message', params: { level: 'info', logger: 'chaos', data } });

/** One message to a server of either generation; `modern` ones have no handshake. */
export function misbehave(message: Asked, wire: Wire, modern = false): void {
  const { id, method, params } = message;
  if (id === undefined || method === undefined) return;
  const about = { protocolVersion: '2025-06-18', serverInfo: { name: 'chaos', version: '1' } };
  const kept = modern ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
  const answer = (result: object): void => wire.say(said({ id, result: { ...result, ...kept } }));
  const capabilities = { tools: { listChanged: true }, logging: {} };
  if (method === 'initialize' && !modern) answer({ ...about, capabilities });
  else if (method === 'server/discover' && modern) answer({ supportedVersions: ['2026-07-28'], capabilities });
  else if (method === 'tools/list') answer({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] });
  else if (method === 'subscriptions/listen' && modern) {
    const own = { notifications: params?.notifications ?? {}, _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
    wire.say(said({ method: 'notifications/subscriptions/acknowledged', params: own }));
  } else if (method === 'ping' || method === 'logging/setLevel') answer({});
  else if (method === 'tools/call') act(message, wire, answer);
  else wire.say(said({ id, error: { code: -32601, message: 'Method not found' } }));
}

function act({ params }: Asked, wire: Wire, answer: (result: object) => void): void {
  const { deed = 'answer', tag = '' } = params?.arguments ?? {};
  const progressToken = params?._meta?.progressToken;
  const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });
  const progress = (at: number): void => {
    if (progressToken !== undefined)
      wire.say(said({ method: 'notifications/progress', params: { progressToken, progress: at, message: tag } }));
  };
  const done = (): void => answer(text(tag));
  const deeds: Readonly<Record<Deed, () => void>> = {
    answer: done,
    slow: () => {
      progress(1);
      setTimeout(done, SLOW_MS);
    },
    reset: () => {
      progress(1);
      wire.die();
    },
    fail: () => wire.fail(),
    garbage: () => {
      wire.garbage();
      done();
    },
    flood: () => {
      for (let at = 1; at <= FLOOD; at++) progress(at);
      wire.say(notice(tag));
      done();
    },
    twice: () => {
      done();
      answer(text('another answer'));
    },
    others: () => {
      for (const other of [-1, 'nobody', 1e9]) wire.say(said({ id: other, result: text('of somebody else') }));
      done();
    },
    ask: () => {
      wire.say(said({ id: `ask ${tag}`, method: 'roots/list', params: { _meta: { tag } } }));
      setTimeout(done, SLOW_MS);
    },
    never: () => {},
  };
  deeds[deed]();
}

export interface ChaosServer {
  readonly port: number;
  /** Forgets everything, and lets go of everybody. */
  restart(): void;
  readonly connections: () => Promise<number>;
  close(): Promise<void>;
}

/** `/mcp` with sessions, `/modern` without, `/sse` of the older transport, `/api` for a document of OpenAPI. */
export async function startChaos(): Promise<ChaosServer> {
  const site = new Site();
  const server = createServer((request, response) => {
    response.on('error', () => {});
    site.serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // `as`: a TCP server that listens has an address with a port.
    port: (server.address() as AddressInfo).port,
    restart: () => {
      site.forget();
      server.closeAllConnections();
    },
    connections: () => new Promise((resolve) => server.getConnections((_error, count) => resolve(count))),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

class Site {
  /** Who has the session. */
  readonly #sessions = new Map<string, string>();
  readonly #streams = new Map<string, ServerResponse>();

  forget(): void {
    this.#sessions.clear();
    this.#streams.clear();
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://here.test');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // without an encoding
    const body = Buffer.concat(chunks).toString();
    // `as`: of the gateway.
    const message = (body === '' ? {} : JSON.parse(body)) as Asked;
    if (url.pathname === '/api') this.#api(url, response);
    else if (url.pathname === '/sse') this.#older(request.method, { url, message, response });
    else if (url.pathname === '/modern') answerOver(response, message, true);
    else this.#streamable(request, message, response);
  }

  #api({ searchParams }: URL, response: ServerResponse): void {
    const deed = searchParams.get('deed');
    if (deed === 'reset') response.destroy();
    else if (deed === 'fail') response.writeHead(500).end('failed');
    else if (deed !== 'never') response.end(searchParams.get('tag'));
  }

  #older(method: string | undefined, { url, message, response }: Posted): void {
    if (method === 'GET') {
      const id = randomUUID();
      this.#streams.set(id, response);
      response.on('close', () => this.#streams.delete(id));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: /sse?id=${id}\n\n`);
      return;
    }
    const stream = this.#streams.get(url.searchParams.get('id') ?? '');
    response.writeHead(stream === undefined ? 404 : 202).end();
    if (stream !== undefined) misbehave(message, eventsOver(stream));
  }

  #streamable(request: IncomingMessage, message: Asked, response: ServerResponse): void {
    if (message.method === 'initialize') {
      const id = randomUUID();
      this.#sessions.set(id, message.params?.clientInfo?.name ?? '');
      response.setHeader('mcp-session-id', id);
      answerOver(response, message);
      return;
    }
    const id = String(request.headers['mcp-session-id']);
    const client = this.#sessions.get(id);
    if (client === undefined) response.writeHead(404).end('gone');
    else if (request.method === 'DELETE') {
      this.#sessions.delete(id);
      response.writeHead(200).end();
    } else if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      eventsOver(response).say(notice(`${client}/stream`));
    } else answerOver(response, message);
  }
}

interface Posted {
  readonly url: URL;
  readonly message: Asked;
  readonly response: ServerResponse;
}

const LASTING: ReadonlySet<unknown> = new Set(['never', 'slow', 'ask']);

function answerOver(response: ServerResponse, message: Asked, modern = false): void {
  if (message.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const { arguments: wish } = message.params ?? {};
  if (wish?.deed === 'fail') {
    response.writeHead(500).end('failed');
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  misbehave(message, eventsOver(response), modern);
  if (message.method !== 'subscriptions/listen' && !LASTING.has(wish?.deed)) response.end();
  else if (wish?.deed !== 'never' && wish !== undefined) setTimeout(() => response.end(), 2 * SLOW_MS);
}

function eventsOver(response: ServerResponse): Wire {
  const write = (text: string): void => {
    if (!response.writableEnded && !response.destroyed) response.write(text);
  };
  return {
    say: (message) => write(`data: ${JSON.stringify(message)}\n\n`),
    garbage: () => write('event: message\ndata: {"jsonrpc"\n\n: \u0000\nnonsense\n\n'),
    fail: () => void response.destroy(),
    die: () => void response.destroy(),
  };
}
