import { type ClientHttp2Stream, constants } from 'node:http2';

import { messageOf } from '../../src/shared/errors.ts';
import { emptyBody, type Body, type BodySink } from '../exchange/body.ts';
import { Headers } from '../exchange/headers.ts';
import { cancelStream } from '../http2/reset.ts';
import { fieldsOf } from './http2-fields.ts';
import { UpstreamError, type UpstreamCall, type UpstreamRequest, type UpstreamResponse } from './upstream.ts';

export interface Http2CallOptions {
  readonly peer: string;
  readonly stream: ClientHttp2Stream;
  readonly ended: () => void;
  /** Why a stream that is over did not end well. */
  readonly failure: (stream: ClientHttp2Stream, error: Error | null) => UpstreamError;
}

/** One stream: sends the request's body under the peer's flow control, hands out the response. */
export class Http2Call implements UpstreamCall, BodySink {
  readonly response: Promise<UpstreamResponse>;
  readonly #options: Http2CallOptions;
  readonly #stream: ClientHttp2Stream;
  readonly #requestBody: Body;
  #incoming: Http2Body | null = null;
  #ended = false;
  #sending: boolean;
  #trailers: Headers | null = null;
  #failedBy: UpstreamError | null = null;
  #streamError: Error | null = null;
  #answered = false;
  #resolve: (response: UpstreamResponse) => void = () => {};
  #reject: (error: UpstreamError) => void = () => {};

  constructor(request: UpstreamRequest, options: Http2CallOptions) {
    this.#options = options;
    this.#stream = options.stream;
    this.#requestBody = request.body;
    this.#sending = request.body.length !== 0;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#listen(request);
    if (this.#sending) request.body.pipe(this);
  }

  cancel(): void {
    if (this.#ended) return;
    this.#giveUp(new UpstreamError('cancelled', 'the call was given up', { peer: this.#options.peer }));
  }

  // ── the request's body ──

  onData(chunk: Uint8Array): void {
    if (this.#sending && !this.#stream.write(chunk)) this.#requestBody.pause();
  }

  onEnd(trailers: Headers | null): void {
    if (!this.#sending) return;
    this.#sending = false;
    this.#trailers = trailers;
    this.#stream.end();
  }

  onError(error: Error): void {
    if (!this.#sending) return;
    this.#sending = false;
    // The upstream must not take what it has for the whole.
    const message = `request body failed: ${messageOf(error)}`;
    this.#giveUp(new UpstreamError('cancelled', message, { peer: this.#options.peer, cause: error }));
  }

  #listen(request: UpstreamRequest): void {
    const stream = this.#stream;
    const inform = request.onInformational;
    stream.on('response', (_headers, flags, raw) => this.#onResponse(raw, flags));
    stream.on('error', (error) => (this.#streamError ??= error));
    stream.once('close', () => this.#onClose());
    if (this.#sending) stream.on('drain', () => this.#requestBody.resume());
    if (request.body.length === null) stream.once('wantTrailers', () => this.#sendTrailers());
    if (inform === undefined) return;
    stream.on('continue', () => inform(100, new Headers()));
    stream.on('headers', (_headers, _flags, raw) => inform(statusOf(raw), fieldsOf(raw)));
  }

  #sendTrailers(): void {
    const trailers: Record<string, string[]> = {};
    for (const [name, value] of this.#trailers ?? []) (trailers[name] ??= []).push(value);
    this.#stream.sendTrailers(trailers);
  }

  // ── the response ──

  #onResponse(raw: readonly string[], flags: number): void {
    this.#answered = true;
    const headers = fieldsOf(raw);
    let body: Body = emptyBody;
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) this.#stream.resume();
    else {
      this.#incoming = new Http2Body(this.#stream, lengthOf(headers));
      body = this.#incoming;
    }
    this.#resolve({ status: statusOf(raw), headers, body, upgraded: null, peer: this.#options.peer });
  }

  #giveUp(error: UpstreamError): void {
    this.#failedBy ??= error;
    cancelStream(this.#stream);
    this.#settle();
  }

  #onClose(): void {
    this.#settle();
    this.#options.ended();
  }

  #settle(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#sending) {
      this.#sending = false;
      this.#requestBody.cancel();
    }
    const incoming = this.#incoming;
    if (this.#answered && (incoming === null || incoming.complete)) return;
    const error = this.#failedBy ?? this.#options.failure(this.#stream, this.#streamError);
    this.#reject(error);
    incoming?.fail(error);
  }
}

/** A response body on its way in. Unread bytes stay within the stream's flow-control window. */
class Http2Body implements Body {
  readonly length: number | null;
  readonly #stream: ClientHttp2Stream;
  #sink: BodySink | null = null;
  #error: UpstreamError | null = null;
  #trailers: Headers | null = null;
  #cancelled = false;
  /** The sink has seen the end, or wants none. */
  complete = false;

  constructor(stream: ClientHttp2Stream, length: number | null) {
    this.#stream = stream;
    this.length = length;
    stream.once('trailers', (_headers, _flags, raw) => (this.#trailers = fieldsOf(raw)));
  }

  pipe(sink: BodySink): void {
    this.#sink = sink;
    if (this.#error !== null) {
      sink.onError(this.#error);
      return;
    }
    this.#stream.on('data', (chunk: Uint8Array) => {
      if (!this.#cancelled) sink.onData(chunk);
    });
    this.#stream.once('end', () => this.#onEnd(sink));
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  cancel(): void {
    if (this.complete) return;
    this.#cancelled = true;
    this.complete = true;
    cancelStream(this.#stream);
  }

  fail(error: UpstreamError): void {
    if (this.complete) return;
    this.complete = this.#sink !== null;
    this.#error = error;
    this.#sink?.onError(error);
  }

  #onEnd(sink: BodySink): void {
    // A reset ends the stream as well; what came of it is reported by `fail`.
    if (this.complete || this.#stream.rstCode !== constants.NGHTTP2_NO_ERROR || this.#stream.aborted) return;
    this.complete = true;
    sink.onEnd(this.#trailers);
  }
}

function statusOf(raw: readonly string[]): number {
  const at = raw.indexOf(':status');
  return at === -1 ? 0 : Number(raw[at + 1]);
}

function lengthOf(headers: Headers): number | null {
  const value = headers.get('content-length');
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : null;
}
