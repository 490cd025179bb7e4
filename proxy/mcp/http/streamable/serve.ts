import type { Exchange } from '../../../exchange/exchange.ts';
import type { HttpResponse } from '../../../exchange/message.ts';
import type { Refusal } from '../../../exchange/refusal.ts';
import type { RpcMessage } from '../../message/message.ts';
import type { ClientCall, McpSession, McpSessions } from '../../session/contract.ts';
import { agreeVersion, legacyVersionOf } from '../agree-version.ts';
import { acceptsAll, isJson } from '../media-types.ts';
import type { McpHttpOptions } from '../options.ts';
import { readMessage } from '../read-message.ts';
import {
  accepted,
  failureAnswer,
  invalidSessionHeader,
  invalidVersionHeader,
  mcpRefusal,
  methodNotAllowed,
  SESSION_HEADER,
  sessionForeign,
  sessionUnknown,
} from '../refusals.ts';
import { answered } from './answering.ts';
import { listening } from './listening.ts';

/** The transport of the versions since 2025-03-26: one address for everything. */
export function serveStreamable(
  exchange: Exchange,
  sessions: McpSessions,
  options: McpHttpOptions,
): Promise<HttpResponse | Refusal> | Refusal {
  const { method } = exchange.request;
  if (method === 'POST') return post(exchange, sessions, options);
  if (!sessions.stateful) return methodNotAllowed('POST');
  if (method === 'GET') return get(exchange, sessions, options);
  return method === 'DELETE' ? end(exchange, sessions) : methodNotAllowed('GET, POST, DELETE');
}

// ── a message ──

async function post(
  exchange: Exchange,
  sessions: McpSessions,
  options: McpHttpOptions,
): Promise<HttpResponse | Refusal> {
  const { headers } = exchange.request;
  if (!acceptsAll(headers, ['application/json', 'text/event-stream']))
    return mcpRefusal(406, 'client must accept both application/json and text/event-stream');
  if (!isJson(headers)) return mcpRefusal(415, 'content type must be application/json');
  const read = await readMessage(exchange, options);
  if (read.kind === 'refused') return read.refusal;
  const agreed = agreeVersion(headers, read);
  if (agreed.kind === 'refused') return agreed.refusal;
  const { message, era, version } = agreed;
  const call: ClientCall = { exchange, era, version };
  const session = await sessionFor(message, call, sessions);
  return 'reason' in session ? session : deliver(session, message, { call, options });
}

function sessionFor(
  message: RpcMessage,
  call: ClientCall,
  sessions: McpSessions,
): McpSession | Refusal | Promise<McpSession | Refusal> {
  if (!sessions.stateful) return sessions.alone(call);
  const named = sessionNamed(call.exchange);
  if (call.era === 'modern') return named === null ? sessions.alone(call) : invalidSessionHeader;
  if (named !== null) return found(named, call, sessions);
  const begins = message.kind === 'request' && message.method === 'initialize';
  return begins ? sessions.begin(call) : mcpRefusal(400, 'session header is required for non-initialize requests');
}

async function found(id: string | undefined, call: ClientCall, sessions: McpSessions): Promise<McpSession | Refusal> {
  if (id === undefined) return invalidSessionHeader;
  const session = await sessions.find(id, call);
  switch (session) {
    case 'undecodable':
      return invalidSessionHeader;
    case 'unknown':
      return sessionUnknown;
    case 'foreign':
      return sessionForeign;
    default:
      return session;
  }
}

/** Null when there is none, undefined when it is none: empty, or one of several. */
function sessionNamed({ request }: Exchange): string | null | undefined {
  const [id, ...others] = request.headers.getAll(SESSION_HEADER);
  if (id === undefined) return null;
  return id === '' || others.some((other) => other !== id) ? undefined : id;
}

async function deliver(
  session: McpSession,
  message: RpcMessage,
  { call, options }: { readonly call: ClientCall; readonly options: McpHttpOptions },
): Promise<HttpResponse | Refusal> {
  if (message.kind === 'request') return answered(session, message, { call, options });
  const failure = await session.post(message, call);
  return failure === null ? accepted() : failureAnswer(failure, { id: null, era: call.era });
}

// ── what targets say without being asked ──

async function get(
  exchange: Exchange,
  sessions: McpSessions,
  options: McpHttpOptions,
): Promise<HttpResponse | Refusal> {
  const version = legacyVersionOf(exchange.request.headers);
  if (version === undefined) return invalidVersionHeader;
  if (!acceptsAll(exchange.request.headers, ['text/event-stream']))
    return mcpRefusal(406, 'client must accept text/event-stream');
  const call: ClientCall = { exchange, era: 'legacy', version };
  const session = await existing(call, sessions);
  return 'reason' in session ? session : listening(session, call, options);
}

function existing(call: ClientCall, sessions: McpSessions): Refusal | Promise<McpSession | Refusal> {
  const named = sessionNamed(call.exchange);
  return named === null ? mcpRefusal(400, 'session ID is required') : found(named, call, sessions);
}

// ── the end ──

async function end(exchange: Exchange, sessions: McpSessions): Promise<HttpResponse | Refusal> {
  const version = legacyVersionOf(exchange.request.headers);
  if (version === undefined) return invalidVersionHeader;
  const call: ClientCall = { exchange, era: 'legacy', version };
  const session = await existing(call, sessions);
  // A session that is not there has ended, which is what the client wants.
  if ('reason' in session) return session === sessionUnknown || session === sessionForeign ? accepted() : session;
  await session.close(call);
  return accepted();
}
