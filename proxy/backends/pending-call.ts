import { BufferedBody } from '../exchange/body.ts';
import { UpstreamError, type UpstreamCall, type UpstreamRequest, type UpstreamResponse } from './upstream.ts';

/** A call that waits for a connection. */
export class PendingCall implements UpstreamCall {
  readonly request: UpstreamRequest;
  readonly response: Promise<UpstreamResponse>;
  #inner: UpstreamCall | null = null;
  #resolve: (response: UpstreamResponse | Promise<UpstreamResponse>) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  /** It stands for a call that failed once: it gets no further try. */
  readonly secondTry: boolean;
  /** Nobody waits for it any more. */
  cancelled = false;

  constructor(request: UpstreamRequest, secondTry: boolean = false) {
    this.request = request;
    this.secondTry = secondTry;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  start(inner: UpstreamCall): void {
    if (this.cancelled) {
      // Given up while its request was being written: nobody else will hear how the inner call ends.
      inner.response.catch(() => {});
      inner.cancel();
      return;
    }
    this.#inner = inner;
    this.#resolve(inner.response);
  }

  fail(error: unknown): void {
    this.request.body.cancel();
    this.#reject(error);
  }

  cancel(): void {
    if (this.#inner !== null) {
      this.#inner.cancel();
      return;
    }
    if (this.cancelled) return;
    this.cancelled = true;
    this.fail(new UpstreamError('cancelled', 'the call was given up'));
  }
}

/** Calls in the order they came; those that were given up are passed over. */
export class CallQueue {
  #calls: PendingCall[] = [];

  push(call: PendingCall): void {
    this.#calls.push(call);
  }

  next(): PendingCall | undefined {
    for (;;) {
      const call = this.#calls.shift();
      if (call === undefined || !call.cancelled) return call;
    }
  }

  /** Calls that still want a connection. */
  get waiting(): number {
    if (this.#calls.length > 0) this.#calls = this.#calls.filter((call) => !call.cancelled);
    return this.#calls.length;
  }

  failAll(error: unknown): void {
    for (let call = this.next(); call !== undefined; call = this.next()) call.fail(error);
  }

  moveTo(other: CallQueue): void {
    for (let call = this.next(); call !== undefined; call = this.next()) other.push(call);
  }
}

/** Decides about a failed call on a pooled connection: the call that takes its place, or null. */
export interface Replayer<Connection> {
  again(error: unknown, request: UpstreamRequest, connection: Connection): UpstreamCall | null;
}

export interface FirstTry<Connection> {
  readonly call: UpstreamCall;
  readonly request: UpstreamRequest;
  readonly connection: Connection;
}

/** A call that may be sent once more when its connection turns out to be dead. */
export class ReplayableCall<Connection> implements UpstreamCall {
  readonly response: Promise<UpstreamResponse>;
  #current: UpstreamCall;
  #cancelled = false;

  constructor(first: FirstTry<Connection>, replayer: Replayer<Connection>) {
    this.#current = first.call;
    this.response = first.call.response.catch((error: unknown) => {
      const next = this.#cancelled ? null : replayer.again(error, first.request, first.connection);
      if (next === null) throw error;
      this.#current = next;
      return next.response;
    });
  }

  cancel(): void {
    this.#cancelled = true;
    this.#current.cancel();
  }
}

/** A call that failed before it began. */
export function failedCall(request: UpstreamRequest, error: UpstreamError): UpstreamCall {
  const call = new PendingCall(request);
  call.fail(error);
  return call;
}

/** The body is still at hand whole, so that the request can be sent again. */
export function isReplayable(request: UpstreamRequest): boolean {
  return request.body.length === 0 || request.body instanceof BufferedBody;
}

/** RFC 9110 section 9.2.2: sending it twice has the effect of sending it once. */
export function isIdempotent(method: string): boolean {
  switch (method) {
    case 'GET':
    case 'HEAD':
    case 'OPTIONS':
    case 'TRACE':
    case 'PUT':
    case 'DELETE':
      return true;
    default:
      return false;
  }
}
