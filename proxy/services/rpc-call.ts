import { type Outcome, outcomeOf } from '../backends/health.ts';
import type { UpstreamResponse } from '../backends/upstream.ts';
import type { Body, BodySink } from '../exchange/body.ts';
import { Headers } from '../exchange/headers.ts';
import type { Connection } from './connection.ts';
import { type RpcOptions, ServiceError } from './contract.ts';
import { FrameReader } from './grpc-frames.ts';
import { httpStatusError, statusIn } from './grpc-status.ts';
import { PushBody } from '../exchange/push-body.ts';
import { type CallLimits, ServiceCall, type ServiceDeps } from './service-call.ts';

/** What gRPC libraries take by default. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** How long a service may take to end a call that the gateway has ended. */
const GRACE_MS = 1000;

export interface RpcParts {
  readonly path: string;
  /** Framed messages. */
  readonly body: Body;
  readonly limits: CallLimits;
  readonly options: RpcOptions;
  onMessage(bytes: Uint8Array): void;
  /** Called once; null for status OK. */
  onEnd(error: ServiceError | null): void;
}

/** One gRPC call over HTTP/2, whatever its messages are: frames, status, limits. */
export class RpcCall implements BodySink {
  readonly #parts: RpcParts;
  readonly #frames: FrameReader;
  #call: ServiceCall | null = null;
  #answer: Body | null = null;
  #paused = false;
  #ended = false;
  #grace: NodeJS.Timeout | null = null;

  /** Never throws: what goes wrong ends in `onEnd`, after this has returned. */
  constructor(deps: ServiceDeps, connection: Connection, parts: RpcParts) {
    this.#parts = parts;
    const { options } = parts;
    this.#frames = new FrameReader(options.maxMessageBytes ?? MAX_MESSAGE_BYTES, (bytes) => {
      if (!this.#ended) parts.onMessage(bytes);
    });
    try {
      this.#call = new ServiceCall(deps, connection, {
        method: 'POST',
        target: parts.path,
        authority: null,
        headers: callHeaders(options, parts.limits),
        body: parts.body,
        http2: true,
        limits: parts.limits,
        options,
      });
    } catch (error) {
      queueMicrotask(() => this.#end(asServiceError(error)));
      return;
    }
    this.#call.onGivenUp = (error) => this.#end(error);
    this.#call.response.then(
      (response) => this.#onResponse(response),
      (error: unknown) => this.#end(asServiceError(error)),
    );
  }

  /** The messages of the service make no sense. */
  breach(error: ServiceError): void {
    this.#fail(error);
  }

  /** Gives the call up; `onEnd` is told so unless it was told before. */
  cancel(): void {
    this.#call?.giveUp(new ServiceError('cancelled', 'the call was given up'));
  }

  /**
   * The caller has all that it wants: nothing is called any more. The service gets some time to end the call by itself.
   */
  leave(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#answer === null) {
      this.cancel();
      return;
    }
    this.#call?.finish({ kind: 'healthy' });
    this.resume();
    this.#grace = setTimeout(() => this.#call?.cut(), GRACE_MS).unref();
  }

  pause(): void {
    this.#paused = true;
    this.#answer?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#answer?.resume();
  }

  onData(chunk: Uint8Array): void {
    if (this.#ended) return;
    try {
      this.#frames.read(chunk);
    } catch (error) {
      this.#fail(error);
    }
  }

  onEnd(trailers: Headers | null): void {
    if (this.#left()) return;
    const status = statusIn(trailers);
    if (status === undefined) this.#fail(new ServiceError('protocol', 'the service ended its answer without a status'));
    else if (status.error === null && this.#frames.cut) {
      this.#fail(new ServiceError('protocol', 'the service ended its answer inside a message'));
    } else this.#over(status.error, outcomeOf(200, status.status));
  }

  onError(error: Error): void {
    if (this.#left()) return;
    this.#end(this.#call?.failed(error) ?? asServiceError(error));
  }

  #onResponse({ status, headers, body }: UpstreamResponse): void {
    if (this.#ended) {
      body.cancel();
      return;
    }
    this.#answer = body;
    const early = statusIn(headers);
    if (early?.error !== undefined && early.error !== null) this.#over(early.error, outcomeOf(status, early.status));
    else if (status !== 200) this.#over(httpStatusError(status), outcomeOf(status, 2));
    else if (!/^application\/grpc(?:$|[+;])/i.test(headers.get('content-type') ?? '')) {
      this.#fail(new ServiceError('protocol', 'the service did not answer as a gRPC service'));
    } else if (early === undefined || body.length !== 0) {
      if (this.#paused) body.pause();
      body.pipe(this);
    } else this.#over(null, outcomeOf(status, 0));
  }

  /** The service has said its last word. */
  #over(error: ServiceError | null, outcome: Outcome): void {
    if (this.#ended) return;
    this.#call?.finish(outcome);
    this.#cutSending();
    this.#answer?.cancel();
    this.#end(error);
  }

  /** The peer may end while it is still being sent to: the rest would wait for ever. */
  #cutSending(): void {
    const { body } = this.#parts;
    if (body instanceof PushBody && !body.over) this.#call?.cut();
  }

  /** The end of a call that nobody listens to any more. */
  #left(): boolean {
    if (this.#grace === null) return false;
    clearTimeout(this.#grace);
    this.#cutSending();
    return true;
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    const failure = this.#call?.failed(error) ?? asServiceError(error);
    this.#answer?.cancel();
    this.#end(failure);
  }

  #end(error: ServiceError | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#parts.onEnd(error);
  }
}

function callHeaders({ metadata }: RpcOptions, { totalMs }: CallLimits): Headers {
  const headers = new Headers();
  headers.append('content-type', 'application/grpc');
  headers.append('te', 'trailers');
  if (totalMs !== null) headers.append('grpc-timeout', timeoutText(totalMs));
  for (const [name, value] of metadata ?? []) headers.append(name, value);
  return headers;
}

/** At most eight digits and a unit. */
function timeoutText(ms: number): string {
  return ms < 1e8 ? `${Math.max(1, Math.ceil(ms))}m` : `${Math.min(99_999_999, Math.ceil(ms / 1000))}S`;
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('protocol', error instanceof Error ? error.message : String(error), { cause: error });
}
