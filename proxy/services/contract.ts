import type { BackendAuth } from '../../src/config/ir/policy/backend-auth.ts';
import type { ServiceRef } from '../../src/config/ir/policy/policy-service.ts';
import type { Headers } from '../exchange/headers.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import type { CallSpans } from '../telemetry/spans/request-span.ts';

export type { ServiceRef } from '../../src/config/ir/policy/policy-service.ts';

/** What the calls count as in `upstream_call_duration_seconds`. */
export type ServiceUse = 'Http' | 'ExtAuthz' | 'ExtProc' | 'Guardrail' | 'RateLimit' | 'Oidc';

/** Makes clients of policy services; one per data thread. */
export interface Services {
  /** Compiles how the service is reached; called while policies are compiled. Throws a `GwError` for a reference to nothing. */
  open(ref: ServiceRef, use?: ServiceUse): ServiceClient;
}

export interface CallOptions {
  /** Covers everything up to the end of the answer; null is no limit of its own. */
  readonly timeoutMs: number | null;
  /** Gives the call up. */
  readonly signal?: AbortSignal | undefined;
  /** Already scoped (`ext_authz`, …); the call reports its start and result to it. */
  readonly trace: Recorder | null;
  /** `exchange.spans`, for calls on behalf of a request: the call becomes a span of its trace. */
  readonly spans?: CallSpans | null | undefined;
}

/** Calls of one service, over the pools of the data thread, with the connection policies of its backend applied. */
export interface ServiceClient {
  /** As logs and traces name it. */
  readonly name: string;
  /** What the policies of the connection show the service, for callers that can tell on whose behalf they call. */
  readonly credentials?: BackendAuth | undefined;
  /** The name that calls carry unless they say otherwise. Throws a `ServiceError` where nobody can be called. */
  readonly authority?: () => string;
  /** One HTTP call, its answer read whole. Throws a `ServiceError`. */
  http(request: ServiceRequest, options: CallOptions & { readonly maxResponseBytes: number }): Promise<ServiceResponse>;
  /** One gRPC call. Throws a `ServiceError`. */
  unary<I, O>(method: RpcMethod<I, O>, message: I, options: RpcOptions): Promise<O>;
  /** A bidirectional gRPC stream. */
  stream<I, O>(method: RpcMethod<I, O>, events: RpcEvents<O>, options: RpcOptions): RpcStream<I>;
}

export interface ServiceRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Of the request; null takes the service's own. */
  readonly authority: string | null;
  readonly headers: Headers;
  readonly body: Uint8Array | null;
}

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** A method of a gRPC service and how its messages are written. */
export interface RpcMethod<I, O> {
  /** `/package.Service/Method` */
  readonly path: string;
  encode(message: I): Uint8Array;
  decode(bytes: Uint8Array): O;
  /** Loads what the codec takes, so that no request waits for it; called while policies are compiled. */
  prepare?(): void;
}

export interface RpcOptions extends CallOptions {
  /** Initial metadata. */
  readonly metadata?: Headers | undefined;
  /** The largest message that is taken; 4 MiB by default. */
  readonly maxMessageBytes?: number | undefined;
}

export interface RpcEvents<O> {
  onMessage(message: O): void;
  /** The stream is over; null when the server ended it with status OK. Called once. */
  onEnd(error: ServiceError | null): void;
}

export interface RpcStream<I> {
  send(message: I): void;
  /** Nothing more will be sent. */
  end(): void;
  /** Gives the call up; `onEnd` is told. */
  cancel(): void;
  /** All is said and heard: ends the stream without listening to the server any more. No event follows. */
  close(): void;
  /** Messages wait for the peer's window; stop producing until `onDrain`. */
  readonly full: boolean;
  onDrain(listener: () => void): void;
  /** How long the connection lets its callers wait for an answer; null is no limit. The stream watches the first alone. */
  readonly answerMs: number | null;
  /** Holds back messages of the server; those of the piece that is being read still come. */
  pause(): void;
  resume(): void;
}

export type ServiceFailureKind = 'unreachable' | 'timeout' | 'cancelled' | 'protocol' | 'status' | 'tooLarge';

/** Why a policy service gave no usable answer. */
export class ServiceError extends Error {
  readonly kind: ServiceFailureKind;
  /** The gRPC status, for kind `status`. */
  readonly grpcStatus: number | null;
  /** Details of that status, as the service sent them (`google.rpc.Status`). */
  readonly grpcDetails: Uint8Array | null;

  constructor(
    kind: ServiceFailureKind,
    message: string,
    options: { grpcStatus?: number | null; grpcDetails?: Uint8Array | null; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ServiceError';
    this.kind = kind;
    this.grpcStatus = options.grpcStatus ?? null;
    this.grpcDetails = options.grpcDetails ?? null;
  }
}
