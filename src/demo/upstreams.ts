import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { agent } from './agent/agent.ts';
import { mcpServer } from './mcp/serve.ts';
import { anthropic } from './models/anthropic.ts';
import { gemini, geminiLikeOpenai } from './models/gemini.ts';
import { openaiResponses } from './models/openai-responses.ts';
import { openai } from './models/openai.ts';
import { modelServer } from './models/server.ts';

/** The servers behind the demo gateway, each with a temper of its own. */
export interface DemoUpstreams {
  readonly ports: Readonly<Record<UpstreamName, number>>;
  close(): Promise<void>;
}

export type UpstreamName =
  | 'echo'
  | 'canary'
  | 'slow'
  | 'flaky'
  | 'failing'
  | 'stream'
  | 'openai'
  | 'anthropic'
  | 'gemini'
  | 'shop'
  | 'agent';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const SLOW_MS = 400;
const STREAM_EVENTS = 8;
const STREAM_INTERVAL_MS = 150;
const MAX_ECHO_BYTES = 64 * 1024;

/** Starts every upstream on a free loopback port. */
export async function startUpstreams(): Promise<DemoUpstreams> {
  const handlers: Readonly<Record<UpstreamName, Handler>> = {
    echo: echoAs('echo'),
    canary: echoAs('canary'),
    slow: (request, response) => void setTimeout(() => echoAs('slow')(request, response), delayOf(request)).unref(),
    flaky: flaky(),
    failing: (_request, response) => sendJson(response, 500, { error: 'this upstream always fails' }),
    stream,
    openai: modelServer(openai, openaiResponses),
    anthropic: modelServer(anthropic),
    gemini: modelServer(gemini, geminiLikeOpenai),
    shop: mcpServer(async () => (await import('./mcp/shop.ts')).shop()),
    agent: agent(),
  };
  const servers = await Promise.all(Object.values(handlers).map(listen));
  const names = Object.keys(handlers);
  const ports = Object.fromEntries(names.map((name, at) => [name, portOf(servers[at])]));
  return {
    // `as`: built from the keys of the same record.
    ports: ports as Record<UpstreamName, number>,
    close: async () => void (await Promise.all(servers.map(close))),
  };
}

/** Answers with what it was asked. */
function echoAs(name: string): Handler {
  return (request, response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_ECHO_BYTES) chunks.push(chunk);
    });
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      sendJson(response, 200, {
        upstream: name,
        method: request.method,
        path: request.url,
        headers: request.headers,
        ...(body === '' ? {} : { body }),
      });
    });
  };
}

/** Fails two of three times: what a retry policy is for. */
function flaky(): Handler {
  let count = 0;
  return (request, response) => {
    count += 1;
    if (count % 3 === 0) echoAs('flaky')(request, response);
    else sendJson(response, 503, { error: 'try again' });
  };
}

/** A few server-sent events, one after the other. */
function stream(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    response.write(`event: tick\ndata: {"n":${sent}}\n\n`);
    if (sent < STREAM_EVENTS) return;
    clearInterval(timer);
    response.end();
  }, STREAM_INTERVAL_MS);
  request.on('close', () => clearInterval(timer));
}

/** `?ms=` asks for another delay, up to ten seconds. */
function delayOf(request: IncomingMessage): number {
  const asked = Number(new URL(request.url ?? '/', 'http://demo').searchParams.get('ms') ?? SLOW_MS);
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 0), 10_000) : SLOW_MS;
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = `${JSON.stringify(body, null, 2)}\n`;
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

async function listen(handler: Handler): Promise<Server> {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server | undefined): number {
  const address = server?.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
