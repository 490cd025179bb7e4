import { BufferedBody } from '../../../exchange/body.ts';
import { codingOf, decoded } from '../../../exchange/coding/content-coding.ts';
import { collect } from '../../../exchange/collect.ts';
import type { HttpResponse } from '../../../exchange/message.ts';
import { rpcCodes } from '../../message/codes.ts';
import type { RpcFailure } from '../../message/message.ts';
import type { Era } from '../../message/versions.ts';
import type { TargetFailure, TargetState } from '../contract.ts';
import { mediaType } from '../event-reader.ts';
import { messagesIn } from '../incoming.ts';

/** Errors are short. */
const LIMIT_BYTES = 64 * 1024;

/** The failure with the error of JSON-RPC that its body is, if it is one; the body can still be read. */
export async function explained(failure: TargetFailure): Promise<TargetFailure> {
  if (failure.kind !== 'http' || failure.response === null || failure.error !== undefined) return failure;
  const error = await errorIn(failure.response);
  return error === null ? failure : { ...failure, error };
}

async function errorIn(response: HttpResponse): Promise<RpcFailure | null> {
  const coding = codingOf(response.headers);
  if (mediaType(response) !== 'application/json' || coding === undefined) return null;
  const collected = await collect(response.body, LIMIT_BYTES);
  if (collected.kind === 'overflow') {
    response.body = collected.rest;
    return null;
  }
  response.body = collected.kind === 'whole' ? collected.body : new BufferedBody(new Uint8Array());
  if (collected.kind === 'failed') return null;
  try {
    const { bytes } = collected.body;
    const plain = coding === null ? bytes : await decoded(bytes, coding, LIMIT_BYTES);
    const [message] = messagesIn(Buffer.from(plain).toString()) ?? [];
    return message?.kind === 'error' ? message.error : null;
  } catch {
    return null;
  }
}

/** Nobody reads its body. */
export function dropped(failure: TargetFailure): void {
  if (failure.kind === 'http') failure.response?.body.cancel();
}

/** What servers of the other generation say to a first message that they do not understand. */
const STATUSES: ReadonlySet<number> = new Set([400, 404, 405, 406, 415, 422, 501]);
/** What servers take for faults of their own transport. */
const SERVER_ERROR = -32000;
/** Errors that only servers make which speak the modern versions. */
const MODERN_ONLY: ReadonlySet<number> = new Set([rpcCodes.headerMismatch, rpcCodes.missingCapability]);

/** Whether the target refuses the generation itself, and not just this message. */
export function refusesEra(era: Era, failure: TargetFailure): boolean {
  const error = failure.kind === 'rpc' || failure.kind === 'http' ? failure.error : undefined;
  if (error?.code === rpcCodes.unsupportedVersion || error?.code === rpcCodes.methodNotFound) return true;
  if (failure.kind !== 'rpc')
    return failure.kind === 'http' && STATUSES.has(failure.status) && !tellsModern(era, error);
  // Older servers have many words for a method that they do not know, or do not take before the handshake.
  return era === 'modern' && !tellsModern(era, error);
}

/**
 * Whether a target that has spoken the generation refuses it now: another server stands there. It has not looked at the
 * request.
 */
export function deniesEra(era: Era, failure: TargetFailure): boolean {
  if (failure.kind !== 'http' && failure.kind !== 'rpc') return false;
  const code = failure.error?.code;
  if (code === rpcCodes.unsupportedVersion) return true;
  if (era === 'legacy' || failure.kind === 'rpc') return false;
  if (code === undefined) return failure.status === 400 || failure.status === 404 || failure.status === 405;
  // Older servers miss a session, or a handshake.
  return failure.status === 400 && (code === SERVER_ERROR || code === rpcCodes.invalidRequest);
}

/** Whether the target has lost the session; `state` is what is known of it. */
export function losesSession(failure: TargetFailure, state: TargetState | null): boolean {
  if (failure.kind === 'forgotten') return true;
  // Many servers say so where they should answer 404; no call has come that far.
  const denied = failure.kind === 'http' && failure.status === 400 && failure.error?.code === SERVER_ERROR;
  return denied && state?.session !== undefined;
}

function tellsModern(era: Era, error: RpcFailure | undefined): boolean {
  return era === 'modern' && error !== undefined && MODERN_ONLY.has(error.code);
}
