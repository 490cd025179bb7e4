import type { Exchange } from '../../../exchange/exchange.ts';
import { queryOf, type HttpResponse } from '../../../exchange/message.ts';
import type { Refusal } from '../../../exchange/refusal.ts';
import type { ClientCall, McpSessions } from '../../session/contract.ts';
import { foreign } from '../../session/principal.ts';
import { agreeVersion, legacyVersionOf } from '../agree-version.ts';
import type { McpHttpOptions } from '../options.ts';
import { readMessage } from '../read-message.ts';
import {
  accepted,
  failureAnswer,
  invalidVersionHeader,
  mcpRefusal,
  methodNotAllowed,
  sessionForeign,
  sessionUnknown,
} from '../refusals.ts';
import { dispatch, modernVersionOf } from './dispatch.ts';
import type { StreamRelay } from './relay.ts';
import { streamIdOf, threadOf, type SseStream } from './streams.ts';

/** The transport of 2024-11-05: a stream of events, and an address for messages that the stream tells. */
export function serveSse(
  exchange: Exchange,
  sessions: McpSessions,
  options: McpHttpOptions,
): HttpResponse | Refusal | Promise<HttpResponse | Refusal> {
  switch (exchange.request.method) {
    case 'GET':
      return open(exchange, sessions, options);
    case 'POST':
      return post(exchange, sessions, options);
    default:
      return methodNotAllowed('GET, POST');
  }
}

function open(exchange: Exchange, sessions: McpSessions, options: McpHttpOptions): HttpResponse | Refusal {
  const version = legacyVersionOf(exchange.request.headers);
  if (version === undefined) return invalidVersionHeader;
  const opening: ClientCall = { exchange, era: 'legacy', version };
  const session = sessions.begin(opening);
  if ('reason' in session) return session;
  const { id, events } = options.streams.open(streamIdOf(options.relay?.thread ?? 0), session, { sessions, opening });
  exchange.onClientGone(() => events.abandon());
  exchange.onEnd(() => events.abandon());
  events.event('endpoint', addressFor(exchange.clientTarget, id));
  return events.response();
}

/** As the client knows the place, whatever routes made of it. */
function addressFor(clientTarget: string, id: string): string {
  return `${clientTarget}${clientTarget.includes('?') ? '&' : '?'}sessionId=${id}`;
}

async function post(
  exchange: Exchange,
  sessions: McpSessions,
  options: McpHttpOptions,
): Promise<HttpResponse | Refusal> {
  const { request } = exchange;
  const id = new URLSearchParams(queryOf(request.target)).get('sessionId');
  if (id === null || id === '') return mcpRefusal(422, 'sessionId is missing in the query');
  const there = placeOf(id, options);
  if (there === null) return sessionUnknown;
  if (there.kind === 'here' && !there.stream.isOf(exchange)) {
    foreign(exchange);
    return sessionForeign;
  }
  const read = await readMessage(exchange, options);
  if (read.kind === 'refused') return read.refusal;
  if (legacyVersionOf(request.headers) === undefined) return invalidVersionHeader;
  // That the transport is too old for a message is told on the stream.
  const tooNew = read.kind === 'message' && modernVersionOf(read.message) !== null;
  const agreed = tooNew ? { ...read, version: null } : agreeVersion(request.headers, read);
  if (agreed.kind === 'refused') return agreed.refusal;
  const { message, version } = agreed;
  if (there.kind === 'here') {
    const call: ClientCall = { exchange, era: 'legacy', version };
    return (await dispatch(there.stream, { message, call, sessions })) ? accepted() : sessionUnknown;
  }
  const call = { exchange, trace: null, headers: request.headers, version };
  const failure = await there.relay.send(message, call, { thread: there.thread, id });
  return failure === null ? accepted() : failureAnswer(failure, { id: null, era: 'legacy' });
}

type There =
  | { readonly kind: 'here'; readonly stream: SseStream }
  | { readonly kind: 'elsewhere'; readonly relay: StreamRelay; readonly thread: number };

/** Null for a stream that nobody can have. */
function placeOf(id: string, { streams, relay }: McpHttpOptions): There | null {
  const stream = streams.find(id);
  if (stream !== undefined) return { kind: 'here', stream };
  const thread = threadOf(id);
  if (relay === undefined || thread === null || thread === relay.thread) return null;
  return { kind: 'elsewhere', relay, thread };
}
