/** MCP servers of both generations, made of the public SDKs. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import {
  createMcpHandler,
  inputRequired,
  McpServer as ModernServer,
  acceptedContent,
} from '@modelcontextprotocol/server';
import { McpServer as LegacyServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

export interface ServedRequest {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly rpc: string | undefined;
}

/** A server of the legacy versions with sessions, which can be made to forget them. */
export class LegacyPeer {
  readonly server: Server;
  readonly seen: ServedRequest[] = [];
  readonly sessions = new Map<string, StreamableHTTPServerTransport>();
  readonly servers: LegacyServer[] = [];

  constructor(make: () => LegacyServer = legacyServer, path = '/mcp') {
    this.server = createServer((request, response) => {
      if (request.url !== path) response.writeHead(404).end();
      else void this.#serve(make, request, response);
    });
  }

  forget(): void {
    this.sessions.clear();
  }

  async #serve(make: () => LegacyServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: unknown = request.method === 'POST' ? JSON.parse(await read(request)) : undefined;
    this.seen.push({ method: request.method ?? '', headers: request.headers, rpc: methodOf(body) });
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? this.sessions.get(id) : undefined;
    if (known !== undefined) {
      await known.handleRequest(request, response, body);
      return;
    }
    if (typeof id === 'string' || !isInitializeRequest(body)) {
      const status = typeof id === 'string' ? 404 : 400;
      const error = { jsonrpc: '2.0', error: { code: -32000, message: 'no session' }, id: null };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(error));
      return;
    }
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void this.sessions.set(session, transport),
      onsessionclosed: (session) => void this.sessions.delete(session),
    });
    const server = make();
    this.servers.push(server);
    await server.connect(transport);
    await transport.handleRequest(request, response, body);
  }
}

/** A server of the older transport. */
export class SsePeer {
  readonly server: Server;
  readonly transports = new Map<string, SSEServerTransport>();
  posts = 0;

  constructor(make: () => LegacyServer = legacyServer) {
    this.server = createServer((request, response) => void this.#serve(make, request, response));
  }

  async #serve(make: () => LegacyServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://here.test');
    if (request.method === 'GET') {
      const transport = new SSEServerTransport('/messages', response);
      this.transports.set(transport.sessionId, transport);
      await make().connect(transport);
      return;
    }
    this.posts += 1;
    const transport = this.transports.get(url.searchParams.get('sessionId') ?? '');
    if (transport === undefined) response.writeHead(404).end();
    else await transport.handlePostMessage(request, response);
  }
}

/** Of the tools that tests call. */
export function legacyServer(): LegacyServer {
  const server = new LegacyServer(
    { name: 'legacy', version: '1.2.3' },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } }, instructions: 'Ask nicely.' },
  );
  server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  server.registerTool('count', { inputSchema: { to: z.number() } }, async ({ to }, extra) => {
    const progressToken = extra._meta?.progressToken ?? '';
    for (let progress = 1; progress <= to; progress++)
      await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress } });
    return { content: [{ type: 'text', text: `${to}` }] };
  });
  server.registerTool('ask', {}, async (extra) => {
    const params = {
      message: 'Who are you?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    } as const;
    const answer = await server.server.elicitInput(params, { relatedRequestId: extra.requestId });
    return { content: [{ type: 'text', text: JSON.stringify(answer.content) }] };
  });
  server.registerTool('wait', {}, async (extra) => {
    await new Promise((resolve) => extra.signal.addEventListener('abort', resolve));
    cancelled.resolve();
    return { content: [] };
  });
  server.registerResource('note', 'memo:note', {}, () => ({ contents: [{ uri: 'memo:note', text: 'a note' }] }));
  return server;
}

/** Resolves when a `wait` has been cancelled. */
export let cancelled = Promise.withResolvers<void>();

export function resetCancelled(): void {
  cancelled = Promise.withResolvers<void>();
}

/** A server of the modern versions; `reject` speaks no other. */
export class ModernPeer {
  readonly server: Server;
  readonly handler;
  readonly seen: ServedRequest[] = [];

  constructor(legacy: 'reject' | 'stateless' = 'reject') {
    this.handler = createMcpHandler(modernServer, { legacy, onerror: () => {} });
    this.server = createServer((request, response) => void this.#serve(request, response));
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await read(incoming);
    this.seen.push({
      method: incoming.method ?? '',
      headers: incoming.headers,
      rpc: body === '' ? undefined : methodOf(JSON.parse(body)),
    });
    const abort = new AbortController();
    outgoing.on('close', () => abort.abort());
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
    const request = new Request(`http://here.test${incoming.url ?? ''}`, {
      method: incoming.method ?? 'GET',
      headers,
      signal: abort.signal,
      ...(body === '' ? {} : { body }),
    });
    const response = await this.handler.fetch(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    try {
      if (response.body !== null) for await (const chunk of response.body) outgoing.write(chunk);
    } catch {
      // The client has gone.
    }
    outgoing.end();
  }
}

function modernServer(): ModernServer {
  const server = new ModernServer(
    { name: 'modern', version: '3.2.1' },
    { capabilities: { logging: {}, tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } } },
  );
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  server.registerTool('log', { inputSchema: z.object({}) }, async (_input, context) => {
    await context.mcpReq.log('warning', 'mind the gap');
    return { content: [{ type: 'text', text: 'logged' }] };
  });
  const region = z.string().meta({ 'x-mcp-header': 'Region' });
  server.registerTool('where', { inputSchema: z.object({ region }) }, (input) => ({
    content: [{ type: 'text', text: input.region }],
  }));
  server.registerTool('ask', { inputSchema: z.object({}) }, (_input, context) => {
    const schema = { type: 'object', properties: { name: { type: 'string' } } } as const;
    const answer = acceptedContent(context.mcpReq.inputResponses, 'who');
    if (answer === undefined) {
      const who = inputRequired.elicit({ message: 'Who are you?', requestedSchema: schema });
      return inputRequired({ inputRequests: { who } });
    }
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
  });
  server.registerResource('note', 'memo:note', {}, () => ({ contents: [{ uri: 'memo:note', text: 'a note' }] }));
  return server;
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function methodOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('method' in body)) return undefined;
  return String(body.method);
}
