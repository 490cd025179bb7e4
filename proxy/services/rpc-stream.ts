import { UnprocessedError } from '../backends/http2-client.ts';
import { PushBody } from '../exchange/push-body.ts';
import type { Connection } from './connection.ts';
import type { RpcEvents, RpcMethod, RpcOptions, RpcStream, ServiceError } from './contract.ts';
import { frame } from './grpc-frames.ts';
import { decoded } from './grpc-message.ts';
import { RpcCall } from './rpc-call.ts';
import type { ServiceDeps } from './service-call.ts';

export interface StreamTo<I, O> {
  readonly deps: ServiceDeps;
  readonly connection: Connection;
  readonly options: RpcOptions;
  readonly method: RpcMethod<I, O>;
  readonly events: RpcEvents<O>;
}

/** What is kept of a stream that has no answer yet. */
const KEPT_BYTES = 64 * 1024;

/**
 * Messages both ways. A server that goes away may refuse a stream without having looked at it: then it begins again, once,
 * on another connection.
 */
export class OpenStream<I, O> implements RpcStream<I> {
  readonly answerMs: number | null;
  readonly #to: StreamTo<I, O>;
  #body = new PushBody();
  #call: RpcCall;
  #onDrain: (() => void) | null = null;
  /** What was sent, until the server shows that it has seen it; null when it would be too much, or of no use. */
  #kept: Uint8Array[] | null = [];
  #keptBytes = 0;
  #ended = false;
  #paused = false;

  constructor(to: StreamTo<I, O>) {
    this.#to = to;
    this.answerMs = to.connection.timeoutMs;
    this.#call = this.#begin();
  }

  get full(): boolean {
    return this.#body.full;
  }

  send(message: I): void {
    const framed = frame(this.#to.method.encode(message));
    this.#keep(framed);
    this.#body.push(framed);
  }

  end(): void {
    this.#ended = true;
    this.#body.end();
  }

  cancel(): void {
    this.#kept = null;
    this.#call.cancel();
  }

  close(): void {
    this.#kept = null;
    this.end();
    this.#call.leave();
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  pause(): void {
    this.#paused = true;
    this.#call.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#call.resume();
  }

  #begin(): RpcCall {
    const { deps, connection, options, method, events } = this.#to;
    const body = this.#body;
    body.onDrain = () => this.#onDrain?.();
    return new RpcCall(deps, connection, {
      path: method.path,
      body,
      limits: { totalMs: options.timeoutMs, headMs: connection.timeoutMs },
      options,
      onMessage: (bytes) => {
        this.#kept = null;
        events.onMessage(decoded(method, bytes));
      },
      onEnd: (error) => this.#onEnd(error),
    });
  }

  #keep(framed: Uint8Array): void {
    this.#keptBytes += framed.byteLength;
    if (this.#keptBytes > KEPT_BYTES) this.#kept = null;
    this.#kept?.push(framed);
  }

  #onEnd(error: ServiceError | null): void {
    const kept = this.#kept;
    this.#kept = null;
    if (kept === null || !(error?.cause instanceof UnprocessedError)) {
      this.#to.events.onEnd(error);
      return;
    }
    this.#body = new PushBody();
    this.#call = this.#begin();
    if (this.#paused) this.#call.pause();
    for (const framed of kept) this.#body.push(framed);
    if (this.#ended) this.#body.end();
  }
}
