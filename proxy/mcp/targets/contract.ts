import type { Exchange } from '../../exchange/exchange.ts';
import type { Headers } from '../../exchange/headers.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import type { Reason } from '../../exchange/refusal.ts';
import type { Recorder } from '../../telemetry/recorder.ts';
import type { RpcAnswer, RpcFailure, RpcMessage, RpcNotification, RpcRequest } from '../message/message.ts';

/** The request of a client on whose behalf a target is called. */
export interface TargetCall {
  readonly exchange: Exchange;
  /** Scoped to the target; null when nobody watches. */
  readonly trace: Recorder | null;
  /**
   * Headers that go along where the transport has some: the client's without those of bodies and sessions, changed by
   * guardrails. A copy of its own for each call.
   */
  readonly headers: Headers;
  /** The protocol version in whose words the message is written; null before one is agreed. */
  readonly version: string | null;
}

/** What comes for one request. Nothing is called after `onEnd`. */
export interface CallSink {
  /** Of `listen`, where it can be told: the stream is there, though nothing may have been said on it. */
  onOpen?(): void;
  /** Notifications and requests of the target on the way, then at most one answer. */
  onMessage(message: RpcMessage): void;
  /** Null when it ended as it should; else why nothing more comes. */
  onEnd(failure: TargetFailure | null): void;
}

/** A call under way. */
export interface Calling {
  /** The client has lost interest: nothing more is delivered. What the target is told of it is the transport's business. */
  cancel(): void;
  /** The client does not take more for now, or does again. */
  pause(): void;
  resume(): void;
}

/** Why a target gave no answer. */
export type TargetFailure =
  /** It answered with a status of HTTP that is no success; a client of one target gets this answer as it is. */
  | {
      readonly kind: 'http';
      readonly status: number;
      readonly response: HttpResponse | null;
      readonly message: string;
      /** What its body says, where that is an error of JSON-RPC and has been looked at. */
      readonly error?: RpcFailure | undefined;
    }
  /** It knows the session no more (HTTP 404, a program that has been started again). */
  | { readonly kind: 'forgotten'; readonly message: string }
  /** It could not be reached, went away, or broke its protocol. */
  | {
      readonly kind: 'broken';
      readonly message: string;
      /** What clients are told instead, where the message says where the target is. */
      readonly shown?: string | undefined;
    }
  /** It has no such thing: a stream of its own, a way to take answers. */
  | { readonly kind: 'unsupported'; readonly message: string }
  /** A policy of the connection refused the call, or its time is up. */
  | { readonly kind: 'refused'; readonly status: number; readonly reason: Reason; readonly message: string }
  /** The gateway itself says no, in words of JSON-RPC. */
  | { readonly kind: 'denied'; readonly status: number; readonly reason: Reason; readonly error: RpcFailure }
  | { readonly kind: 'rpc'; readonly error: RpcFailure };

/**
 * One conversation with one target, over whatever transport; knows nothing of sessions of clients, of names or of other
 * targets. Methods may be called at once; a connection that has to be opened first does so with the first call.
 */
export interface TargetConnection {
  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling;
  /** Takes a notification, or a client's answer to a request of the target. Null when it was taken. */
  post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null>;
  /**
   * What the target says without being asked. `onEnd` with `unsupported` where it has no such stream. Ends with `cancel`.
   */
  listen(call: TargetCall, sink: CallSink): Calling;
  /** Ends the conversation. `call` is null when no client waits (an idle session). */
  close(call: TargetCall | null): Promise<TargetFailure | null>;
  /**
   * Lets go of what it holds here. The target is told nothing where somebody else may go on with the conversation; where nobody
   * can, it is closed.
   */
  leave(): void;
  /** What another data thread, or another replica, needs to go on with the conversation; null when only this thread can. */
  readonly state: TargetState | null;
}

/** As it stands in session ids. */
export interface TargetState {
  /** The session id that the target gave; undefined when it gave none. */
  readonly session?: string | undefined;
  /** `ip:port` of the endpoint that has the session, where the target is a service with several. */
  readonly pinned?: string | undefined;
}

/** A target, compiled; makes conversations with it. */
export interface Target {
  readonly name: string;
  /** How the target is reached, as people are told: `streamable`, `sse`, `stdio`, `openapi`. */
  readonly transport: string;
  /** Goes on where `state` says, or begins anew. `lone`: for one message, after which others of the kind may come. */
  connect(state: TargetState | null, lone?: boolean): TargetConnection;
}
