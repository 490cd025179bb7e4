import type { JsonObject } from '../../../src/shared/json.ts';
import type { A2aBinding, A2aFacts } from '../../exchange/a2a-facts.ts';
import { type HttpRequest, pathOf } from '../../exchange/message.ts';
import { isJson } from './content-type.ts';
import { operationOf } from './methods.ts';

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

/**
 * What errors of the gateway look like to a client of an agent; null where its binding has no words of its own for them.
 * `facts` is null while nobody has looked at the call: then its head says what it is.
 */
export function agentEnvelope(
  facts: A2aFacts | null,
  request: Pick<HttpRequest, 'method' | 'target' | 'headers'>,
): ((status: number, message: string) => JsonObject) | null {
  const path = pathOf(request.target);
  switch (facts?.binding ?? bindingOf(request, path)) {
    case 'jsonRpc': {
      const id = facts?.requestId ?? null;
      return (status, message) => ({ jsonrpc: '2.0', id, error: { code: codeOf(status), message } });
    }
    case 'http':
      return OLDER.test(path) ? older : newer;
    default:
      return null;
  }
}

function bindingOf({ method, headers }: Pick<HttpRequest, 'method' | 'headers'>, path: string): A2aBinding {
  if (operationOf(method, path) !== null) return 'http';
  return method === 'POST' && isJson(headers.get('content-type')) ? 'jsonRpc' : 'other';
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
