import type { ConnectionFacts, PeerIdentity } from '../../exchange/connection.ts';
import type { HttpRequest } from '../../exchange/message.ts';
import type { CheckHttpRequest, CheckPeer, CheckRequest } from '../../services/messages/check.ts';
import { messageText } from '../header-changes.ts';
import type { Question, SentBody } from './question.ts';

/** What of a request is told to a gRPC service. */
export interface CheckSettings {
  /** Lower-case names and pseudo-headers; empty for all. */
  readonly includeHeaders: readonly string[];
  readonly packAsBytes: boolean;
  readonly contextExtensions: Readonly<Record<string, string>>;
}

/** The message of a check; `metadata` is its `filter_metadata`, `startedAt` on the scale of `performance.now()`. */
export function checkRequest(
  question: Question & { readonly request: HttpRequest },
  settings: CheckSettings,
  rest: { readonly metadata: CheckRequest['metadataContext']; readonly startedAt: number },
): CheckRequest {
  const { connection } = question.context;
  return {
    source: source(connection),
    destination: peer(connection.destinationAddress, connection.destinationPort),
    request: { time: timeOf(rest.startedAt), http: httpPart(question.request, question.body, settings) },
    contextExtensions: settings.contextExtensions,
    metadataContext: rest.metadata,
    ...(connection.tls === null ? {} : { tlsSession: { sni: connection.tls.sni ?? '' } }),
  };
}

function source({ sourceAddress, sourcePort, tls }: ConnectionFacts): CheckPeer {
  const principal = tls?.peer === null || tls === null ? '' : principalOf(tls.peer);
  return { ...peer(sourceAddress, sourcePort), principal };
}

/** The name in the certificate that says most: a SPIFFE id, any other name, the subject. */
function principalOf({ spiffeId, subjectAltNames, subject }: PeerIdentity): string {
  return spiffeId ?? subjectAltNames[0] ?? subject;
}

function peer(address: string, portValue: number): CheckPeer {
  return { address: { socketAddress: { address, portValue } } };
}

function timeOf(startedAt: number): { seconds: number; nanos: number } {
  const epochMs = performance.timeOrigin + startedAt;
  return { seconds: Math.floor(epochMs / 1000), nanos: Math.floor((epochMs % 1000) * 1e6) };
}

function httpPart(request: HttpRequest, body: SentBody | null, settings: CheckSettings): CheckHttpRequest {
  return {
    id: request.headers.get('traceparent') ?? '',
    method: request.method,
    headers: settings.includeHeaders.length === 0 ? everyHeader(request) : listed(request, settings.includeHeaders),
    path: request.target,
    host: request.authority,
    scheme: request.scheme,
    size: body === null ? 0 : body.whole ? body.bytes.byteLength : -1,
    protocol: request.version,
    ...bodyPart(body, settings.packAsBytes),
  };
}

function bodyPart(body: SentBody | null, packAsBytes: boolean): Pick<CheckHttpRequest, 'body' | 'rawBody'> {
  if (body === null) return {};
  return packAsBytes ? { rawBody: body.bytes } : { body: textOf(body.bytes) };
}

/** What is not UTF-8 is replaced: a message can carry nothing else as text. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

const PSEUDO = [':method', ':scheme', ':authority', ':path'];

function everyHeader(request: HttpRequest): Record<string, string> {
  return listed(request, [...PSEUDO, ...new Set(request.headers.names)]);
}

function listed(request: HttpRequest, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headerOf(request, name);
      return value === null ? [] : [[name, messageText(value)] as const];
    }),
  );
}

/** Every value of a header, or a part of the request line; null when there is none. */
function headerOf(request: HttpRequest, name: string): string | null {
  switch (name) {
    case ':method':
      return request.method;
    case ':scheme':
      return request.scheme;
    case ':authority':
    case 'host':
      return request.authority;
    case ':path':
      return request.target;
    default: {
      const values = request.headers.getAll(name);
      return values.length === 0 ? null : values.join(name === 'cookie' ? '; ' : ', ');
    }
  }
}
