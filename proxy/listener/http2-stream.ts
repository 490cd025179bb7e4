import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';

import { isToken } from '../exchange/grammar.ts';
import { emptyBody, type Body, type BodySink } from '../exchange/body.ts';
import type { Headers } from '../exchange/headers.ts';
import type { HttpResponse } from '../exchange/message.ts';
import type { Delivery, Transport } from '../exchange/transport.ts';
import { breakStream, cancelStream } from '../http2/reset.ts';
import { type BodyReader, Http2RequestBody } from './http2-body.ts';
import type { Http2RequestHead } from './http2-request.ts';

export interface Http2StreamOwner {
  /** Coarse time, milliseconds of `performance.now()`. */
  readonly now: number;
  /** Asks the client to open its next streams elsewhere. */
  drain(): void;
  streamClosed(stream: Http2Exchange, cutByClient: boolean): void;
}

/** Response fields that HTTP/2 does not know (RFC 9113 section 8.2.2), and the length, which the body tells. */
const NOT_FORWARDED = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'te',
  'content-length',
]);

/** One stream: the transport of its exchange and the sink of its response body. */
export class Http2Exchange implements Transport, BodySink, BodyReader {
  readonly #stream: ServerHttp2Stream;
  readonly #head: Http2RequestHead;
  readonly #owner: Http2StreamOwner;
  readonly #incoming: Http2RequestBody | null;
  readonly #takesTrailers: boolean;
  #continueDue: boolean;
  #response: HttpResponse | null = null;
  #done: ((delivery: Delivery) => void) | null = null;
  #clientGone: (() => void) | null = null;
  #trailers: Headers | null = null;
  #waitsForTrailers = false;
  #bytes = 0;
  #needsDrain = false;
  #bodyEnded = false;
  #takenOver = false;
  #cutHere = false;
  /** Since the last sweep, which takes it for a move at that moment: never cut too early. */
  #moved = false;
  #lastMove: number;

  constructor(stream: ServerHttp2Stream, head: Http2RequestHead, owner: Http2StreamOwner) {
    this.#stream = stream;
    this.#head = head;
    this.#owner = owner;
    this.#lastMove = owner.now;
    this.#takesTrailers = head.headers.get('te') === 'trailers';
    this.#continueDue = head.expectsContinue;
    this.#incoming = stream.endAfterHeaders ? null : new Http2RequestBody(stream, head.contentLength, this);
    if (this.#incoming === null) stream.resume();
    stream.on('drain', this.#onDrain);
    stream.on('error', ignoreError);
    stream.on('close', this.#onClose);
  }

  get requestBody(): Body {
    return this.#incoming ?? emptyBody;
  }

  // ── the transport ──

  respond(response: HttpResponse, done: (delivery: Delivery) => void): void {
    if (this.#stream.destroyed || this.#stream.closed || this.#response !== null || this.#takenOver) {
      response.body.cancel();
      done({ kind: 'clientGone', bytes: 0 });
      return;
    }
    this.#response = response;
    this.#done = done;
    this.#moved = true;
    const bodyless = this.#head.method === 'HEAD' || hasNoBody(response.status);
    const empty = bodyless || response.body.length === 0;
    this.#waitsForTrailers = !empty && (this.#takesTrailers || response.body.length === null);
    try {
      this.#stream.respond(responseFields(response, bodyless), {
        endStream: empty,
        waitForTrailers: this.#waitsForTrailers,
      });
    } catch (error) {
      // Fields or a status that HTTP/2 cannot carry.
      response.body.cancel();
      this.#cut(asError(error));
      return;
    }
    if (bodyless) response.body.cancel();
    else if (empty) response.body.pipe(nowhere);
    if (empty) this.#complete();
    else this.#sendBody(response.body);
  }

  informational(status: number, headers: Headers): void {
    if (this.#response !== null || this.#stream.destroyed || this.#stream.closed || status === 101) return;
    if (status === 100) this.#continueDue = false;
    this.#stream.additionalHeaders({ ':status': status, ...fieldsOf(headers) });
  }

  takeOver(status: number, headers: Headers): Duplex | null {
    if (this.#head.method !== 'CONNECT' || this.#response !== null || this.#stream.destroyed) return null;
    this.#takenOver = true;
    this.#stream.off('drain', this.#onDrain);
    this.#stream.pause();
    this.#stream.respond({ ':status': status, ...fieldsOf(headers) });
    return this.#stream;
  }

  onClientGone(listener: () => void): void {
    this.#clientGone = listener;
  }

  closeAfterResponse(): void {
    this.#owner.drain();
  }

  // ── the sink of the response body ──

  onData(chunk: Uint8Array): void {
    if (this.#done === null) return;
    this.#moved = true;
    this.#bytes += chunk.byteLength;
    const expected = this.#response?.body.length ?? Number.POSITIVE_INFINITY;
    if (this.#bytes > expected) {
      this.#response?.body.cancel();
      this.#cut(new Error('the body is longer than its content-length'));
      return;
    }
    if (this.#stream.write(chunk) || this.#needsDrain) return;
    this.#needsDrain = true;
    this.#response?.body.pause();
  }

  onEnd(trailers: Headers | null): void {
    if (this.#done === null) return;
    const expected = this.#response?.body.length;
    if (typeof expected === 'number' && this.#bytes < expected) {
      this.#cut(new Error('the body is shorter than its content-length'));
      return;
    }
    this.#bodyEnded = true;
    this.#trailers = trailers;
    this.#stream.end();
  }

  onError(error: Error): void {
    if (this.#done !== null) this.#cut(error);
  }

  // ── the reader of the request body ──

  bodyWanted(): void {
    this.#moved = true;
    if (!this.#continueDue || this.#response !== null || this.#stream.destroyed) return;
    this.#continueDue = false;
    this.#stream.additionalHeaders({ ':status': 100 });
  }

  bodyMoved(): void {
    this.#moved = true;
  }

  // ── deadlines ──

  /** Cuts the stream when a body that is on its way has not moved for `limitMs`. */
  sweep(now: number, limitMs: number): void {
    if (this.#moved) this.#lastMove = now;
    this.#moved = false;
    if (this.#takenOver || now - this.#lastMove <= limitMs) return;
    const sending = this.#done !== null;
    if (!sending && this.#incoming?.flowing !== true) return;
    const error = new Error('nothing moved on the stream for too long');
    const response = this.#response;
    this.#incoming?.fail(error);
    if (sending) {
      response?.body.cancel();
      this.#cut(error);
    } else {
      this.#lost();
      this.#cutHere = true;
      cancelStream(this.#stream);
    }
  }

  #sendBody(body: Body): void {
    if (this.#waitsForTrailers) this.#stream.on('wantTrailers', this.#onWantTrailers);
    else this.#stream.on('finish', this.#onFinish);
    body.pipe(this);
  }

  readonly #onDrain = (): void => {
    this.#moved = true;
    if (!this.#needsDrain) return;
    this.#needsDrain = false;
    if (this.#done !== null && !this.#bodyEnded) this.#response?.body.resume();
  };

  readonly #onWantTrailers = (): void => {
    try {
      this.#stream.sendTrailers(this.#trailers === null ? {} : fieldsOf(this.#trailers));
    } catch (error) {
      // A field that HTTP/2 cannot carry; without its trailers the response is not what was meant.
      this.#cut(asError(error));
      return;
    }
    this.#complete();
  };

  readonly #onFinish = (): void => {
    if (this.#bodyEnded) this.#complete();
  };

  /** The whole response is with the connection; an upload that nobody reads any more is told to stop. */
  #complete(): void {
    const done = this.#done;
    this.#done = null;
    this.#clientGone = null;
    done?.({ kind: 'complete', bytes: this.#bytes });
    if (this.#incoming === null || this.#stream.readableEnded) return;
    setImmediate(() => {
      if (!this.#stream.readableEnded) this.#stopUpload();
    });
  }

  #cut(error: Error): void {
    const done = this.#done;
    this.#done = null;
    this.#clientGone = null;
    this.#cutHere = true;
    breakStream(this.#stream);
    done?.({ kind: 'cut', bytes: this.#bytes, error });
  }

  #stopUpload(): void {
    this.#cutHere = true;
    if (!this.#stream.destroyed && !this.#stream.closed) this.#stream.close(constants.NGHTTP2_NO_ERROR);
  }

  readonly #onClose = (): void => {
    const cutByClient = !this.#cutHere && this.#stream.rstCode !== constants.NGHTTP2_NO_ERROR;
    // A client that has everything may close before the write is reported as finished, over TLS nearly always.
    if (this.#bodyEnded && this.#done !== null && this.#stream.rstCode === constants.NGHTTP2_NO_ERROR) this.#complete();
    this.#incoming?.fail(new Error('client closed the stream'));
    const unfinished = this.#done !== null;
    if (unfinished) this.#response?.body.cancel();
    this.#lost();
    this.#owner.streamClosed(this, cutByClient);
  };

  /** The client is gone before its response was complete. */
  #lost(): void {
    const done = this.#done;
    const gone = this.#clientGone;
    this.#done = null;
    this.#clientGone = null;
    done?.({ kind: 'clientGone', bytes: this.#bytes });
    gone?.();
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

const nowhere: BodySink = { onData() {}, onEnd() {}, onError() {} };

/** Node reports the reset of a stream twice; `close` is the one that is acted on. */
function ignoreError(): void {}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/** Names and values by turns, so that repeated fields and their order survive. */
function responseFields(response: HttpResponse, bodyless: boolean): string[] {
  const fields = [':status', String(response.status)];
  const { names, values } = response.headers;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? '';
    // What HEAD and 304 tell is the length of the body that they leave out.
    const kept =
      (!NOT_FORWARDED.has(name) && isToken(name)) || (name === 'content-length' && bodyless && response.status !== 204);
    if (kept) fields.push(name, values[i] ?? '');
  }
  if (!bodyless && response.body.length !== null) fields.push('content-length', String(response.body.length));
  return fields;
}

function fieldsOf(headers: Headers): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of headers) {
    if (NOT_FORWARDED.has(name) || !isToken(name)) continue;
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else fields[name] = Array.isArray(before) ? [...before, value] : [before, value];
  }
  return fields;
}
