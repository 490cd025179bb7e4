import { randomUUID } from 'node:crypto';

import type { Exchange } from '../../../exchange/exchange.ts';
import { queryOf, type HttpResponse } from '../../../exchange/message.ts';
import type { Refusal } from '../../../exchange/refusal.ts';
import type { ClientCall, McpSessions } from '../../session/contract.ts';
import { agreeVersion, legacyVersionOf } from '../agree-version.ts';
import { EventStream } from '../event-stream.ts';
import type { McpHttpOptions } from '../options.ts';
import { readMessage } from '../read-message.ts';
import { accepted, invalidVersionHeader, mcpRefusal, methodNotAllowed, sessionUnknown } from '../refusals.ts';
import { dispatch } from './dispatch.ts';
import type { SseStream } from './streams.ts';

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
      return post(exchange, options);
    default:
      return methodNotAllowed('GET, POST');
  }
}

function open(exchange: Exchange, sessions: McpSessions, { streams }: McpHttpOptions): HttpResponse | Refusal {
  const version = legacyVersionOf(exchange.request.headers);
  if (version === undefined) return invalidVersionHeader;
  const opening: ClientCall = { exchange, era: 'legacy', version };
  const session = sessions.begin(opening);
  if ('reason' in session) return session;
  const id = randomUUID();
  const events = new EventStream(() => {
    streams.delete(id);
    // The session ends with the stream whatever targets say to it, and nobody is there to be told.
    session.close(opening).catch(() => {});
  });
  streams.add({ id, session, events, opening });
  exchange.onClientGone(() => events.abandon());
  exchange.onEnd(() => events.abandon());
  events.event('endpoint', addressFor(exchange.clientTarget, id));
  return events.response();
}

/** As the client knows the place, whatever routes made of it. */
function addressFor(clientTarget: string, id: string): string {
  return `${clientTarget}${clientTarget.includes('?') ? '&' : '?'}sessionId=${id}`;
}

async function post(exchange: Exchange, options: McpHttpOptions): Promise<HttpResponse | Refusal> {
  const { request } = exchange;
  const id = new URLSearchParams(queryOf(request.target)).get('sessionId');
  if (id === null || id === '') return mcpRefusal(422, 'sessionId is missing in the query');
  if (options.streams.find(id) === undefined) return sessionUnknown;
  const read = await readMessage(exchange, options);
  if (read.kind === 'refused') return read.refusal;
  if (legacyVersionOf(request.headers) === undefined) return invalidVersionHeader;
  const agreed = agreeVersion(request.headers, read);
  if (agreed.kind === 'refused') return agreed.refusal;
  // It may have gone while the message was read.
  const stream: SseStream | undefined = options.streams.find(id);
  if (stream === undefined) return sessionUnknown;
  dispatch(stream, agreed.message, { exchange, era: 'legacy', version: agreed.version });
  return accepted();
}
