import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Body, BodySink } from '../../../../proxy/exchange/body.ts';
import { Exchange } from '../../../../proxy/exchange/exchange.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { HttpResponse } from '../../../../proxy/exchange/message.ts';
import type { Refusal } from '../../../../proxy/exchange/refusal.ts';
import type { Transport } from '../../../../proxy/exchange/transport.ts';
import { systemClock } from '../../../../proxy/exchange/wait.ts';
import { refusalResponse } from '../../../../proxy/engine/refusal-response.ts';
import type { McpHttpOptions } from '../../../../proxy/mcp/http/options.ts';
import { isRefusal, serveMcp } from '../../../../proxy/mcp/http/serve.ts';
import { SseStreams } from '../../../../proxy/mcp/http/sse/streams.ts';
import type { RpcAnswer, RpcMessage, RpcNotification, RpcRequest } from '../../../../proxy/mcp/message/message.ts';
import type { ClientCall, McpSession, McpSessions } from '../../../../proxy/mcp/session/contract.ts';
import type { Calling, CallSink, TargetFailure } from '../../../../proxy/mcp/targets/contract.ts';
import { connection } from '../../exchange/build.ts';

/** What a session is asked, and what came of it. */
export class ScriptedSession implements McpSession {
  id: string | null = null;
  readonly notes: string[] = [];
  readonly posted: RpcMessage[] = [];
  readonly calls: ClientCall[] = [];
  readonly sinks = new Map<string | number, CallSink>();
  /** Of the stream of what is said without being asked. */
  listener: CallSink | null = null;
  onRequest: (message: RpcRequest, sink: CallSink) => void = () => {};
  onPost: (message: RpcNotification | RpcAnswer) => TargetFailure | null = () => null;
  onListen: (sink: CallSink) => void = (sink) => sink.onOpen?.();

  request(message: RpcRequest, call: ClientCall, sink: CallSink): Calling {
    this.calls.push(call);
    this.sinks.set(message.id, sink);
    this.onRequest(message, sink);
    return this.#calling(message.method);
  }

  post(message: RpcNotification | RpcAnswer, call: ClientCall): Promise<TargetFailure | null> {
    this.calls.push(call);
    this.posted.push(message);
    return Promise.resolve(this.onPost(message));
  }

  listen(call: ClientCall, sink: CallSink): Calling {
    this.calls.push(call);
    this.listener = sink;
    this.onListen(sink);
    return this.#calling('listen');
  }

  close(): Promise<void> {
    this.notes.push('closed');
    return Promise.resolve();
  }

  #calling(name: string): Calling {
    const note = (what: string) => (): void => void this.notes.push(`${what} ${name}`);
    return { cancel: note('cancelled'), pause: note('paused'), resume: note('resumed') };
  }
}

export class ScriptedSessions implements McpSessions {
  stateful = true;
  readonly session = new ScriptedSession();
  readonly asked: string[] = [];
  refusal: Refusal | null = null;

  begin(): McpSession | Refusal {
    this.asked.push('begin');
    return this.refusal ?? this.session;
  }

  alone(): McpSession | Refusal {
    this.asked.push('alone');
    return this.refusal ?? this.session;
  }

  find(id: string): McpSession | 'undecodable' | 'unknown' | Promise<McpSession | 'unknown'> {
    this.asked.push(`find ${id}`);
    if (id.startsWith('!')) return 'undecodable';
    return Promise.resolve(id === this.session.id ? this.session : 'unknown');
  }
}

export interface Harness extends AsyncDisposable {
  readonly url: URL;
  readonly sessions: ScriptedSessions;
  readonly session: ScriptedSession;
  readonly options: McpHttpOptions;
  /** How many exchanges have not ended. */
  readonly open: () => number;
  /** Resolves when nothing is under way. */
  readonly idle: () => Promise<void>;
}

/** The client's side of MCP behind Node's HTTP server. */
export async function harness(
  changes: Partial<McpHttpOptions> & { readonly deadlineAt?: number; readonly sessions?: ScriptedSessions } = {},
): Promise<Harness> {
  const sessions = changes.sessions ?? new ScriptedSessions();
  const options: McpHttpOptions = {
    limitBytes: 256 * 1024,
    clock: systemClock,
    dnsRebindingProtection: false,
    streams: new SseStreams(),
    ...changes,
  };
  const live = new Set<Exchange>();
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    const exchange = exchangeOf(request, response);
    exchange.deadlineAt = changes.deadlineAt ?? null;
    live.add(exchange);
    response.on('close', () => {
      if (!response.writableFinished) exchange.clientLeft();
      exchange.ended();
      live.delete(exchange);
      if (live.size === 0) for (const resolve of waiting.splice(0)) resolve();
    });
    serveMcp(exchange, sessions, options)
      .then((outcome) => send(isRefusal(outcome) ? refusalResponse(outcome, exchange.request) : outcome, response))
      .catch((error: unknown) => response.writeHead(599).end(String(error)));
  });
  const url = await listen(server);
  return {
    url,
    sessions,
    session: sessions.session,
    options,
    open: () => live.size,
    idle: () => (live.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function listen(server: Server): Promise<URL> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // `as`: it listens on a port.
  const { port } = server.address() as AddressInfo;
  return new URL(`http://127.0.0.1:${port}/mcp`);
}

const transport: Transport = {
  respond() {},
  informational() {},
  takeOver: () => null,
  onClientGone() {},
  closeAfterResponse() {},
};

function exchangeOf(incoming: IncomingMessage, outgoing: ServerResponse): Exchange {
  const headers = new Headers();
  for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
    const name = incoming.rawHeaders[i] ?? '';
    if (name.toLowerCase() !== 'host') headers.append(name, incoming.rawHeaders[i + 1] ?? '');
  }
  outgoing.on('error', () => {});
  return new Exchange(
    {
      method: incoming.method ?? '',
      scheme: 'http',
      authority: incoming.headers.host ?? '',
      target: incoming.url ?? '',
      version: 'HTTP/1.1',
      headers,
      body: bodyOf(incoming),
      upgrade: null,
    },
    connection,
    transport,
    null,
  );
}

function bodyOf(incoming: IncomingMessage): Body {
  return {
    length: null,
    pipe(sink: BodySink) {
      incoming.on('data', (chunk: Buffer) => sink.onData(chunk));
      incoming.on('end', () => sink.onEnd(null));
      incoming.on('error', (error) => sink.onError(error));
    },
    pause: () => void incoming.pause(),
    resume: () => void incoming.resume(),
    cancel: () => void incoming.resume(),
  };
}

function send({ status, headers, body }: HttpResponse, response: ServerResponse): void {
  const fields: string[] = [];
  for (const [name, value] of headers) fields.push(name, value);
  if (body.length !== null) fields.push('content-length', String(body.length));
  response.writeHead(status, fields);
  response.flushHeaders();
  response.on('drain', () => body.resume());
  response.on('close', () => body.cancel());
  body.pipe({
    onData: (chunk) => {
      if (!response.write(chunk)) body.pause();
    },
    onEnd: () => response.end(),
    onError: () => response.destroy(),
  });
}

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
} as const;

export interface Reply {
  readonly status: number;
  readonly headers: Map<string, string>;
  readonly text: string;
  /** Data of the events of a stream. */
  readonly events: readonly unknown[];
}

export const POST_HEADERS: readonly [string, string][] = [
  ['accept', 'application/json, text/event-stream'],
  ['content-type', 'application/json'],
];

/** One POST; headers that are given replace those that clients send, null removes one. */
export async function post(
  url: URL,
  body: unknown,
  headers: Readonly<Record<string, string | null>> = {},
): Promise<Reply> {
  const sent = new Map<string, string | null>([...POST_HEADERS, ...Object.entries(headers)]);
  const given = [...sent].filter((pair): pair is [string, string] => pair[1] !== null);
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body);
  return reply(await fetch(url, { method: 'POST', headers: given, body: bytes }));
}

export async function reply(response: Response): Promise<Reply> {
  const text = await response.text();
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as unknown);
  return { status: response.status, headers: new Map(response.headers), text, events };
}
