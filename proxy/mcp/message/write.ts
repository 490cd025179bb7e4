import { assertNever } from '../../../src/shared/assert-never.ts';
import type { RequestId, RpcFailure, RpcMessage } from './message.ts';

/** One line of JSON. */
export function writeMessage(message: RpcMessage): string {
  switch (message.kind) {
    case 'request':
      return JSON.stringify({ jsonrpc: '2.0', id: message.id, method: message.method, params: message.params });
    case 'notification':
      return JSON.stringify({ jsonrpc: '2.0', method: message.method, params: message.params });
    case 'result':
      return JSON.stringify({ jsonrpc: '2.0', id: message.id, result: message.result });
    case 'error':
      return writeError(message.id, message.error);
    default:
      return assertNever(message);
  }
}

export function writeError(id: RequestId | null, error: RpcFailure): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}
