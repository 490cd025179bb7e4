import { assertNever } from '../../../src/shared/assert-never.ts';
import type { JsonObject } from '../../../src/shared/json.ts';
import { BufferedBody } from '../../exchange/body.ts';
import { Headers } from '../../exchange/headers.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import { refuse, type Reason, type Refusal } from '../../exchange/refusal.ts';
import { rpcCodes } from '../message/codes.ts';
import type { RequestId, RpcFailure } from '../message/message.ts';
import type { Era } from '../message/versions.ts';
import { writeError } from '../message/write.ts';
import { BEGUN_BY_ANOTHER } from '../session/principal.ts';
import { errorOf } from '../targets/errors.ts';
import type { TargetFailure } from '../targets/contract.ts';

export const SESSION_HEADER = 'mcp-session-id';

export const sessionUnknown = mcpRefusal(404, 'session not found');
/** The client hears the same. */
export const sessionForeign: Refusal = { ...sessionUnknown, logged: BEGUN_BY_ANOTHER };
export const invalidSessionHeader = mcpRefusal(400, 'invalid session ID header');
export const invalidVersionHeader = mcpRefusal(400, 'invalid MCP protocol version header');

/** Where no request is known that the error could be about, or no client reads what comes with it. */
export function mcpRefusal(status: number, message: string): Refusal {
  return refuse(status, 'MCP', message);
}

export function methodNotAllowed(allowed: string): Refusal {
  return { ...mcpRefusal(405, 'method not allowed'), headers: Headers.from([['allow', allowed]]) };
}

const JSON_TYPE = Headers.from([['content-type', 'application/json']]);

/** An error in the words of JSON-RPC, known before anything was said to the client. */
export function rpcRefusal(
  status: number,
  id: RequestId | null,
  { error, reason = 'MCP' }: { readonly error: RpcFailure; readonly reason?: Reason },
): Refusal {
  return { status, reason, message: error.message, headers: JSON_TYPE, body: Buffer.from(writeError(id, error)) };
}

/**
 * What errors look like that know nothing of MCP: policies, routing, limits. Its own stay as they are: where no request can
 * be told, the status says everything, and its text is for people.
 */
export function rpcEnvelopeFor({ reason }: Refusal): ((status: number, message: string) => JsonObject) | null {
  return reason === 'MCP' ? null : rpcEnvelope;
}

function rpcEnvelope(status: number, message: string): JsonObject {
  return { jsonrpc: '2.0', id: null, error: { code: codeOf(status), message } };
}

function codeOf(status: number): number {
  return status >= 500 ? rpcCodes.internal : rpcCodes.invalidRequest;
}

/** What a client is told when its request has failed before anything was said to it; `id` null for what has none. */
export function failureAnswer(
  failure: TargetFailure,
  { id, era }: { readonly id: RequestId | null; readonly era: Era },
): HttpResponse | Refusal {
  const internal = (status: number, reason: Reason): Refusal =>
    rpcRefusal(status, id, { error: failureError(failure), reason });
  switch (failure.kind) {
    case 'http':
      return failure.response === null
        ? internal(failure.status, 'UpstreamFailure')
        : asTheTargetSaid(failure.response);
    case 'forgotten':
      // 404 tells a client to begin a new session; modern clients have none.
      return era === 'legacy' ? { ...sessionUnknown, logged: failure.message } : internal(503, 'UpstreamFailure');
    case 'broken':
      return internal(era === 'legacy' ? 502 : 503, 'UpstreamFailure');
    case 'unsupported':
      return internal(era === 'legacy' ? 500 : 503, 'MCP');
    case 'refused':
      return internal(failure.status, failure.reason);
    case 'denied':
      return rpcRefusal(failure.status, id, failure);
    case 'rpc':
      return rpcRefusal(statusOf(failure.error.code, era), id, { error: failure.error });
    default:
      return assertNever(failure);
  }
}

/** The same once the answer has begun. */
export function failureError(failure: TargetFailure | null): RpcFailure {
  if (failure === null) return { code: rpcCodes.internal, message: 'the target gave no answer' };
  return errorOf(failure);
}

/** A failure that cannot be told as it is may hold an answer that nobody reads. */
export function discard(failure: TargetFailure | null): void {
  if (failure?.kind === 'http') failure.response?.body.cancel();
}

/** Its session is between the gateway and it. */
function asTheTargetSaid(response: HttpResponse): HttpResponse {
  response.headers.remove(SESSION_HEADER);
  return response;
}

/** Of an error that comes before anything else. Legacy clients take a 404 for the end of their session. */
export function statusOf(code: number, era: Era): number {
  if (era === 'legacy') return 200;
  switch (code) {
    case rpcCodes.methodNotFound:
      return 404;
    case rpcCodes.missingCapability:
    case rpcCodes.unsupportedVersion:
    case rpcCodes.headerMismatch:
      return 400;
    default:
      return 200;
  }
}

/** For answers that have no body. */
export function accepted(): HttpResponse {
  return { status: 202, headers: new Headers(), body: new BufferedBody(new Uint8Array(0)) };
}
