import type { JsonObject } from '../exchange/attributes.ts';
import { BufferedBody, emptyBody } from '../exchange/body.ts';
import { Headers } from '../exchange/headers.ts';
import type { HttpRequest, HttpResponse } from '../exchange/message.ts';
import { REASON_HEADER, type Refusal } from '../exchange/refusal.ts';

const GRPC_STATUS: Readonly<Record<number, number>> = {
  400: 13,
  401: 16,
  407: 16,
  403: 7,
  404: 12,
  429: 14,
  502: 14,
  503: 14,
  504: 14,
};
const GRPC_UNKNOWN = 2;
const GRPC_UNAVAILABLE = 14;

/** Headers about a body, or a status, that a gRPC client gets in another form. */
const DESCRIBES_BODY = /^(content-|grpc-)/;

/** An error in the words of a protocol above HTTP. */
export type Envelope = (status: number, message: string, code?: string) => JsonObject;

/** The one place that turns an error of the gateway into an answer: plain text, or trailers-only for a gRPC client. */
export function refusalResponse(
  refusal: Refusal,
  request: Pick<HttpRequest, 'headers'>,
  envelope: Envelope | null = null,
): HttpResponse {
  const grpc = isGrpc(request);
  const response = grpc ? grpcRefusal(refusal) : plainRefusal(refusal, envelope);
  response.headers.set(REASON_HEADER, refusal.reason);
  for (const [name, value] of refusal.headers ?? [])
    if (!grpc || !DESCRIBES_BODY.test(name)) response.headers.append(name, value);
  return response;
}

/** `application/grpc`, also with a suffix or parameters. */
export function isGrpc(request: Pick<HttpRequest, 'headers'>): boolean {
  const type = request.headers.get('content-type');
  if (type === undefined || !type.startsWith('application/grpc')) return false;
  const next = type.charAt('application/grpc'.length);
  return next === '' || next === '+' || next === ';';
}

function plainRefusal(refusal: Refusal, envelope: Envelope | null): HttpResponse {
  const { status, body } = refusal;
  if (body !== undefined) return { status, headers: new Headers(), body: new BufferedBody(body) };
  if (refusal.bodyless === true) return { status: refusal.status, headers: new Headers(), body: emptyBody };
  if (envelope !== null) {
    const headers = Headers.from([['content-type', 'application/json']]);
    const bytes = Buffer.from(JSON.stringify(envelope(status, refusal.message, refusal.code)));
    return { status, headers, body: new BufferedBody(bytes) };
  }
  const headers = Headers.from([['content-type', 'text/plain']]);
  return { status: refusal.status, headers, body: new BufferedBody(Buffer.from(refusal.message)) };
}

/** HTTP 200 and the error in the headers, as gRPC clients expect. */
function grpcRefusal(refusal: Refusal): HttpResponse {
  const mapped =
    refusal.message === 'no valid backends' ? GRPC_UNAVAILABLE : (GRPC_STATUS[refusal.status] ?? GRPC_UNKNOWN);
  const status = refusal.grpcStatus ?? mapped;
  const headers = Headers.from([
    ['content-type', 'application/grpc'],
    ['grpc-status', String(status)],
    ['grpc-message', percentEncoded(refusal.message)],
  ]);
  return { status: 200, headers, body: emptyBody };
}

/** Everything but printable ASCII, and `%` itself (gRPC over HTTP/2, "Responses"). */
function percentEncoded(message: string): string {
  return Array.from(Buffer.from(message), (byte) =>
    byte >= 0x20 && byte <= 0x7e && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}
