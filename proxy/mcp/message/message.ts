import type { JsonObject, JsonValue } from '../../../src/shared/json.ts';

/** Messages of JSON-RPC 2.0 as MCP uses them: one at a time, parameters and results are objects. */
export type RequestId = string | number;

export interface RpcRequest {
  readonly kind: 'request';
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
}

export interface RpcNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject | undefined;
}

export interface RpcResult {
  readonly kind: 'result';
  readonly id: RequestId;
  readonly result: JsonObject;
}

export interface RpcError {
  readonly kind: 'error';
  /** Null where the other side could not tell which request it is about. */
  readonly id: RequestId | null;
  readonly error: RpcFailure;
}

export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue | undefined;
}

export type RpcAnswer = RpcResult | RpcError;
export type RpcMessage = RpcRequest | RpcNotification | RpcAnswer;
