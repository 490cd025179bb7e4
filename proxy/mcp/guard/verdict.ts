import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts';
import type { McpDenial, McpDenialCode, McpResponseResult } from '../../services/messages/mcp.ts';
import { rpcCodes } from '../message/codes.ts';
import { parseExactly } from '../message/exact-json.ts';
import type { RpcFailure } from '../message/message.ts';

/** What a processor says of a call. */
export type Verdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'mutated'; readonly body: JsonObject }
  | { readonly kind: 'reject'; readonly error: RpcFailure };

/** The processor answered, but with nothing that the protocol knows. The message is for logs and clients. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

const pass: Verdict = { kind: 'pass' };

/** `mutable`: there is something to put another in the place of. Throws a `Violation`. */
export function verdictOf(answer: McpResponseResult, mutable: boolean): Verdict {
  switch (answer.result) {
    case 'pass':
      return pass;
    case 'mutated':
      return mutable ? { kind: 'mutated', body: objectIn(answer.mutated) } : pass;
    case 'error':
      return { kind: 'reject', error: failureOf(answer.error ?? {}) };
    default:
      throw new Violation('the processor set no result');
  }
}

function objectIn(bytes: Uint8Array | undefined): JsonObject {
  const value = jsonIn(bytes);
  if (value === undefined) throw new Violation('what the processor put in its place is not JSON');
  if (!isJsonObject(value)) throw new Violation('what the processor put in its place is not an object');
  return value;
}

const CODES: Readonly<Record<McpDenialCode, number>> = {
  UNKNOWN: rpcCodes.internal,
  PERMISSION_DENIED: rpcCodes.permissionDenied,
  RESOURCE_EXHAUSTED: rpcCodes.resourceExhausted,
  INVALID: rpcCodes.invalidRequest,
};

function failureOf({ code, reason, mcpError }: McpDenial): RpcFailure {
  // Codes of a later version of the protocol are numbers.
  const known = typeof code === 'string' ? CODES[code] : rpcCodes.internal;
  const message = reason === undefined || reason === '' ? 'rejected by a guardrail' : reason;
  const data = jsonIn(mcpError);
  return data === undefined ? { code: known, message } : { code: known, message, data };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Undefined for what is none. */
function jsonIn(bytes: Uint8Array | undefined): JsonValue | undefined {
  if (bytes === undefined || bytes.byteLength === 0) return undefined;
  try {
    return parseExactly(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}
