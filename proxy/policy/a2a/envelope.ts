import type { JsonObject } from '../../../src/shared/json.ts';
import type { A2aFacts } from '../../exchange/a2a-facts.ts';

/** JSON-RPC 2.0 section 5.1. */
const INVALID_REQUEST = -32600;
const INTERNAL = -32603;

/** Of `google.rpc.Code`, which errors of the HTTP binding name. */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'OUT_OF_RANGE',
  429: 'RESOURCE_EXHAUSTED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Paths of version 0.3. */
const OLDER = /\/v1\/(?:message:|tasks|card)/;

/** What errors of the gateway look like to a client of an agent; null where its binding has no words of its own for them. */
export function agentEnvelope(
  { binding, requestId }: Pick<A2aFacts, 'binding' | 'requestId'>,
  path: string,
): ((status: number, message: string) => JsonObject) | null {
  switch (binding) {
    case 'jsonRpc':
      return (status, message) => ({ jsonrpc: '2.0', id: requestId, error: { code: codeOf(status), message } });
    case 'http':
      return OLDER.test(path) ? older : newer;
    default:
      return null;
  }
}

function older(status: number, message: string): JsonObject {
  return { code: codeOf(status), message };
}

function newer(code: number, message: string): JsonObject {
  return { error: { code, status: STATUS_NAMES[code] ?? (code >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT'), message } };
}

function codeOf(status: number): number {
  return status >= 500 ? INTERNAL : INVALID_REQUEST;
}
