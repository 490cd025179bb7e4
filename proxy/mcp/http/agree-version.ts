import type { Headers } from '../../exchange/headers.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import { rpcCodes } from '../message/codes.ts';
import { versionIn } from '../message/meta.ts';
import type { RequestId, RpcMessage } from '../message/message.ts';
import { isModernMethod } from '../message/methods.ts';
import type { Unparsed } from '../message/parse.ts';
import { routingMismatch } from '../message/routing-headers.ts';
import { eraOf, isKnownVersion, knownVersions, type Era } from '../message/versions.ts';
import { invalidVersionHeader, rpcRefusal } from './refusals.ts';

const VERSION_HEADER = 'mcp-protocol-version';
const PRINTABLE = /^[ -~]*$/;

export interface Agreed {
  readonly kind: 'agreed';
  readonly message: RpcMessage;
  readonly era: Era;
  /** As the header or the message names it; null where none does. */
  readonly version: string | null;
}

export type Disagreed = { readonly kind: 'refused'; readonly refusal: Refusal };

/** In which version a message is written, and whether what its headers say of it is so. */
export function agreeVersion(
  headers: Headers,
  read: { readonly kind: 'message'; readonly message: RpcMessage } | Unparsed,
): Agreed | Disagreed {
  const named = headerVersion(headers);
  if (named === undefined) return { kind: 'refused', refusal: invalidVersionHeader };
  const { id, method } = aboutOf(read);
  if (named !== null && !isKnownVersion(named)) return refused(unsupportedVersion(named, id, method));
  const era = named === null ? 'legacy' : eraOf(named);
  const wrong = era === 'modern' && id !== null && method !== null ? wrongModernMethod(id, method) : null;
  if (wrong !== null) return refused(wrong);
  if (read.kind === 'invalid') return refused(rpcRefusal(400, read.id, { error: read.error }));
  return withMessage(headers, read.message, named);
}

function withMessage(headers: Headers, message: RpcMessage, named: string | null): Agreed | Disagreed {
  const era = named === null ? 'legacy' : eraOf(named);
  const own =
    message.kind === 'request' || message.kind === 'notification' ? versionIn(message.method, message.params) : null;
  const id = message.kind === 'request' ? message.id : null;
  if (own === null) {
    if (era === 'modern' && message.kind === 'request')
      return refused(invalidParams(id, 'the request names no protocol version in _meta'));
  } else if (named === null) {
    // A handshake proposes a version; servers that do not have it answer with another.
    const proposed = message.kind === 'request' && message.method === 'initialize';
    if (!proposed && eraOf(own) === 'modern') return refused(invalidVersionHeader);
  } else if (own !== named) {
    return refused(mismatch(id, 'the protocol version of the header is not that of the message'));
  }
  const lie = routingMismatch(headers, message, era);
  return lie === null ? { kind: 'agreed', message, era, version: named ?? own } : refused(mismatch(id, lie));
}

/** Null when there is none, undefined when it is none. */
function headerVersion(headers: Headers): string | null | undefined {
  const [first, ...others] = headers.getAll(VERSION_HEADER);
  if (first === undefined) return null;
  if (others.some((other) => other !== first) || !PRINTABLE.test(first)) return undefined;
  return first.trim();
}

/** For requests without a message: the header of a stream or an end of a session. Undefined when it is no good. */
export function legacyVersionOf(headers: Headers): string | null | undefined {
  const named = headerVersion(headers);
  return named === undefined || named === null || (isKnownVersion(named) && eraOf(named) === 'legacy')
    ? named
    : undefined;
}

function aboutOf(read: { readonly kind: 'message'; readonly message: RpcMessage } | Unparsed): {
  readonly id: RequestId | null;
  readonly method: string | null;
} {
  if (read.kind === 'invalid') return read;
  const { message } = read;
  return message.kind === 'request' ? message : { id: null, method: null };
}

function wrongModernMethod(id: RequestId, method: string): Refusal | null {
  if (isModernMethod(method)) return null;
  return rpcRefusal(404, id, { error: { code: rpcCodes.methodNotFound, message: 'Method not found' } });
}

function unsupportedVersion(requested: string, id: RequestId | null, method: string | null): Refusal {
  const message = 'Unsupported protocol version';
  if (id === null) return { ...invalidVersionHeader, message: 'unsupported MCP protocol version' };
  const code = rpcCodes.unsupportedVersion;
  const error =
    method === 'initialize' ? { code, message } : { code, message, data: { supported: knownVersions, requested } };
  return rpcRefusal(400, id, { error });
}

function invalidParams(id: RequestId | null, message: string): Refusal {
  return rpcRefusal(400, id, { error: { code: rpcCodes.invalidParams, message } });
}

function mismatch(id: RequestId | null, message: string): Refusal {
  return rpcRefusal(400, id, { error: { code: rpcCodes.headerMismatch, message } });
}

function refused(refusal: Refusal): Disagreed {
  return { kind: 'refused', refusal };
}
