import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { JsonObject } from '../../src/shared/json.ts';
import { isJsonObject } from '../../src/shared/json.ts';
import { ask, type Answer, upstream, type Upstream } from './gateway.ts';

/** What one session of the target is like. */
export interface TargetSession {
  readonly id: string;
  readonly client: JsonObject;
  level: string | null;
  readonly subscribed: Set<string>;
}

export interface SessionTarget extends Upstream {
  /** Those that are open, by id. */
  readonly sessions: Map<string, TargetSession>;
  /** Of streams without a request. */
  readonly streams: Set<ServerResponse>;
  /** Methods so far, those of HTTP included. */
  readonly heard: string[];
  /** Calls of the tool `wait`, which answer when they are told to. */
  readonly waiting: ServerResponse[];
  /** Says it on every open stream. */
  tell(message: JsonObject): void;
}

/** A server of the versions with sessions, which keeps account of them; a silent one has no streams without a request. */
export async function sessionTarget({ silent = false } = {}): Promise<SessionTarget> {
  const sessions = new Map<string, TargetSession>();
  const streams = new Set<ServerResponse>();
  const heard: string[] = [];
  const waiting: ServerResponse[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await read(request);
    const message: JsonObject = body === '' ? {} : JSON.parse(body);
    const method = typeof message['method'] === 'string' ? message['method'] : String(request.method);
    heard.push(method);
    if (method === 'initialize') {
      begin(message, response);
      return;
    }
    const session = sessions.get(String(request.headers['mcp-session-id']));
    if (session === undefined) response.writeHead(404).end('who are you?');
    else go(session, { method, message, response });
  };
  const server = await upstream((request, response) => void take(request, response).catch(() => response.destroy()));

  function begin({ id, params }: JsonObject, response: ServerResponse): void {
    const client = isJsonObject(params) ? params : {};
    const session = { id: randomUUID(), client, level: null, subscribed: new Set<string>() };
    sessions.set(session.id, session);
    response.setHeader('mcp-session-id', session.id);
    answer(response, id, {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, logging: {}, resources: { subscribe: true } },
      serverInfo: { name: 'sessions', version: '1' },
    });
  }

  function go(session: TargetSession, { method, message, response }: Asked): void {
    const params = isJsonObject(message['params']) ? message['params'] : {};
    switch (method) {
      case 'DELETE':
        sessions.delete(session.id);
        response.writeHead(200).end();
        break;
      case 'GET':
        if (silent) {
          response.writeHead(405).end();
          break;
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        streams.add(response);
        response.on('close', () => streams.delete(response));
        break;
      case 'logging/setLevel':
        session.level = String(params['level']);
        answer(response, message['id'], {});
        break;
      case 'resources/subscribe':
        session.subscribed.add(String(params['uri']));
        answer(response, message['id'], {});
        break;
      case 'tools/call':
        call(session, { method: String(params['name']), message, response });
        break;
      default:
        if (message['id'] === undefined) response.writeHead(202).end();
        else answer(response, message['id'], { tools: [] });
    }
  }

  function call(session: TargetSession, { method, message, response }: Asked): void {
    if (method === 'wait') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n');
      waiting.push(response);
    } else if (method === 'busy') response.writeHead(429, { 'retry-after': '7' }).end('slow down');
    else if (method === 'reset') response.destroy();
    else {
      const { id, level, subscribed } = session;
      answer(response, message['id'], { content: [], structuredContent: { id, level, subscribed: [...subscribed] } });
    }
  }

  return {
    ...server,
    sessions,
    streams,
    heard,
    waiting,
    tell(message) {
      for (const stream of streams) stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
    },
  };
}

interface Asked {
  readonly method: string;
  readonly message: JsonObject;
  readonly response: ServerResponse;
}

function answer(response: ServerResponse, id: unknown, result: object): void {
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

async function read(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

export const handshake = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 'test', version: '1' } },
};

/** One message over a connection of its own, so that any thread may get it. */
export function say(
  port: number,
  session: string | null,
  message: object,
  more: Record<string, string> = {},
): Promise<Answer> {
  return ask(port, '/mcp', {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(session === null ? {} : { 'mcp-session-id': session }),
      ...more,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
}

/** The id of a session that has begun. */
export async function begun(port: number): Promise<string> {
  const { headers, body } = await say(port, null, handshake);
  const id = headers['mcp-session-id'];
  if (typeof id !== 'string') throw new Error(`no session: ${body}`);
  await say(port, id, { method: 'notifications/initialized' });
  return id;
}

export function ended(port: number, session: string): Promise<Answer> {
  return ask(port, '/mcp', { method: 'DELETE', headers: { 'mcp-session-id': session } });
}

/** Calls a tool, and gives the message in the answer. */
export function callTool(port: number, session: string, name: string): Promise<Answer> {
  return say(port, session, { id: 5, method: 'tools/call', params: { name } });
}

/** What the tool of `sessionTarget` tells of its session. */
export async function told(port: number, session: string): Promise<JsonObject> {
  const { status, body } = await callTool(port, session, 'tell');
  const data = /^data: (.*)$/m.exec(body)?.[1];
  const message: JsonObject = data === undefined ? {} : JSON.parse(data);
  const result = message['result'];
  const content = isJsonObject(result) ? result['structuredContent'] : undefined;
  if (!isJsonObject(content)) throw new Error(`${status} ${body}`);
  return content;
}
