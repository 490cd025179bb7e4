import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts';
import { rpcCodes } from './codes.ts';
import { parseExactly } from './exact-json.ts';
import type { RequestId, RpcAnswer, RpcFailure, RpcMessage } from './message.ts';

export type Parsed = { readonly kind: 'message'; readonly message: RpcMessage } | Unparsed;

/** What is no message, as far as it could be read. */
export interface Unparsed {
  readonly kind: 'invalid';
  readonly error: RpcFailure;
  /** Of the request; null where there is none. */
  readonly id: RequestId | null;
  readonly method: string | null;
}

/**
 * Reads exactly one message; never throws. Batches are none: no version that has them is in use. Of members that stand
 * there twice the last one counts, and members that JSON-RPC does not know are dropped: what goes on is written anew.
 */
export function parseMessage(text: string): Parsed {
  let value: JsonValue;
  try {
    value = parseExactly(text);
  } catch (error) {
    const deep = error instanceof RangeError || (error instanceof Error && error.message === 'nested too deeply');
    return invalid(rpcCodes.parseError, deep ? 'message is nested too deeply' : 'message is not valid JSON');
  }
  return messageOf(value);
}

export function messageOf(value: JsonValue): Parsed {
  if (Array.isArray(value)) return invalid(rpcCodes.invalidRequest, 'batches are not supported');
  if (!isJsonObject(value)) return invalid(rpcCodes.invalidRequest, 'message is not an object');
  if (value['jsonrpc'] !== '2.0') return invalid(rpcCodes.invalidRequest, 'jsonrpc is not "2.0"');
  if (Object.hasOwn(value, 'method')) return asked(value);
  const parsed = answerOf(value);
  return typeof parsed === 'string' ? invalid(rpcCodes.invalidRequest, parsed) : { kind: 'message', message: parsed };
}

function asked(value: JsonObject): Parsed {
  const { method, params, id } = value;
  if (typeof method !== 'string' || method === '') return invalid(rpcCodes.invalidRequest, 'method is not a name');
  if (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'))
    return invalid(rpcCodes.invalidRequest, 'message is both a request and an answer');
  if (Object.hasOwn(value, 'id') && !isRequestId(id))
    return invalid(rpcCodes.invalidRequest, 'id is neither a string nor a number that can be kept');
  const known = isRequestId(id) ? id : null;
  if (params !== undefined && !isJsonObject(params))
    return { ...invalid(rpcCodes.invalidParams, 'params is not an object'), id: known, method };
  const message: RpcMessage =
    known === null ? { kind: 'notification', method, params } : { kind: 'request', id: known, method, params };
  return { kind: 'message', message };
}

/** Why it is none, as text. */
function answerOf(value: JsonObject): RpcAnswer | string {
  const { result, error, id } = value;
  if (error !== undefined) {
    if (result !== undefined) return 'answer has both a result and an error';
    if (id !== undefined && id !== null && !isRequestId(id)) return 'id of an answer is none';
    const failure = failureOf(error);
    return failure === null ? 'error has no code or message' : { kind: 'error', id: id ?? null, error: failure };
  }
  if (result === undefined) return 'message has no method, result or error';
  if (!isRequestId(id)) return 'result has no id';
  return isJsonObject(result) ? { kind: 'result', id, result } : 'result is not an object';
}

function failureOf(error: JsonValue): RpcFailure | null {
  if (!isJsonObject(error)) return null;
  const { code, message, data } = error;
  if (typeof code !== 'number' || typeof message !== 'string') return null;
  return data === undefined ? { code, message } : { code, message, data };
}

/** Fractions are legal, if odd (JSON-RPC 2.0 section 4). A number that a double does not hold could not be given back. */
function isRequestId(id: JsonValue | undefined): id is RequestId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id));
}

function invalid(code: number, message: string): Unparsed {
  return { kind: 'invalid', error: { code, message }, id: null, method: null };
}
