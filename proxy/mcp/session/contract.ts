import type { Exchange } from '../../exchange/exchange.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { RpcAnswer, RpcNotification, RpcRequest } from '../message/message.ts';
import type { Era } from '../message/versions.ts';
import type { CallSink, Calling, TargetFailure } from '../targets/contract.ts';

export type { Era };

/** One HTTP request of a client, or one message of it over the older transport. */
export interface ClientCall {
  readonly exchange: Exchange;
  readonly era: Era;
  /** As the client's header or message names it; null where it does not. */
  readonly version: string | null;
}

/**
 * What the client's side asks of whatever stands behind one address: several targets that look like one server. Messages
 * to and from it carry the names that clients see.
 */
export interface McpSession {
  /** What the client is told as `Mcp-Session-Id`; null before the targets have answered `initialize`, and without sessions. */
  readonly id: string | null;
  request(message: RpcRequest, call: ClientCall, sink: CallSink): Calling;
  /** Null when it was taken. */
  post(message: RpcNotification | RpcAnswer, call: ClientCall): Promise<TargetFailure | null>;
  /** What targets say without being asked. */
  listen(call: ClientCall, sink: CallSink): Calling;
  /** Keeps it from lying idle until what is returned is called; absent where it is not kept. */
  hold?(): () => void;
  /** The client ends it. */
  close(call: ClientCall): Promise<void>;
}

/** `foreign`: there is or was one, which another client began. */
export type NoSession = 'undecodable' | 'unknown' | 'foreign';

/** The sessions of one MCP backend in one data thread. */
export interface McpSessions {
  /** False: every request stands alone, there are no streams of sessions and nothing to end. */
  readonly stateful: boolean;
  /** For the `initialize` of a client; it is kept once the answer is there, see `id`. A refusal where nothing can be set up. */
  begin(call: ClientCall): McpSession | Refusal;
  /** For one request outside of any session; ended when its answer has been delivered. */
  alone(call: ClientCall): McpSession | Refusal;
  /** By id: from memory, or from what the id itself tells. Must not be told from an unknown one: somebody else's. */
  find(id: string, call: ClientCall): McpSession | NoSession | Promise<McpSession | NoSession>;
}
