import { connect, type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import type { Socket } from 'node:net';

import { messageOf, systemCodeOf } from '../../src/shared/errors.ts';
import { connectionFailure } from './connection-failure.ts';
import { Http2Call } from './http2-call.ts';
import { rawHeaders } from './http2-fields.ts';
import { UpstreamError, type UpstreamCall, type UpstreamRequest } from './upstream.ts';

export interface Http2ClientOptions {
  /** `ip:port` or socket path */
  readonly peer: string;
  readonly maxHeadBytes: number;
  readonly maxHeaders: number;
}

/** Large enough for a gigabit over 8 ms without a stall, small enough for a slow reader's share of memory. */
const STREAM_WINDOW = 1024 * 1024;
const CONNECTION_WINDOW = 16 * 1024 * 1024;
/** Until the peer's settings tell its limit: more might be refused, and a call whose body streams cannot be sent twice. */
const STREAMS_BEFORE_SETTINGS = 1;

/** The upstream said that it has not touched the call: it may be sent again, whatever its method. */
export class UnprocessedError extends UpstreamError {}

/** The client side of one HTTP/2 connection: many calls at a time, until either side closes it. */
export class Http2Client {
  readonly peer: string;
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  #maxStreams = STREAMS_BEFORE_SETTINGS;
  #closed = false;
  #error: UpstreamError | null = null;
  /** Streams above it were not processed (RFC 9113 section 6.8). */
  #lastProcessed = Number.POSITIVE_INFINITY;
  #bytesSeen = 0;
  #pinging = false;
  openStreams = 0;
  /** The peer has told how many streams it allows. */
  settled = false;
  onSettled: (() => void) | null = null;
  /** A call has ended; there is room for another. */
  onRoom: (() => void) | null = null;
  onClosed: (() => void) | null = null;

  constructor(socket: Socket, options: Http2ClientOptions) {
    this.peer = options.peer;
    this.#socket = socket;
    this.#session = connect('http://upstream', {
      createConnection: () => socket,
      maxHeaderListPairs: options.maxHeaders + 8,
      maxSessionMemory: 64,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW, maxHeaderListSize: options.maxHeadBytes },
    });
    this.#session.once('connect', () => this.#session.setLocalWindowSize(CONNECTION_WINDOW));
    this.#session.on('remoteSettings', (settings) => {
      // Zero would make every call open another connection, for ever.
      this.#maxStreams = Math.max(1, settings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY);
      this.settled = true;
      this.onSettled?.();
    });
    this.#session.on('goaway', (_code, lastStreamId) => (this.#lastProcessed = lastStreamId));
    this.#session.on('error', (error) => (this.#error ??= this.#sessionError(error)));
    this.#session.once('close', () => this.#onClose());
  }

  /** New calls may be sent at all. */
  get usable(): boolean {
    return !this.#closed && !this.#session.closed && !this.#session.destroyed;
  }

  get hasRoom(): boolean {
    return this.openStreams < this.#maxStreams && this.usable;
  }

  send(request: UpstreamRequest): UpstreamCall {
    this.openStreams += 1;
    return new Http2Call(request, {
      peer: this.peer,
      stream: this.#open(request),
      ended: () => this.#streamEnded(),
      failure: (stream, error) => this.#streamFailure(stream, error),
    });
  }

  /** Takes no more calls; closes when the last has ended. */
  close(): void {
    if (!this.#session.closed) this.#session.close();
  }

  destroy(): void {
    this.#error ??= new UpstreamError('cancelled', 'the gateway closed the connection', { peer: this.peer });
    this.#session.destroy();
    this.#socket.destroy();
  }

  /**
   * Called every few seconds: a connection with calls on which nothing arrived since the last time is pinged, and given
   * up if nothing arrived until the next. Without it a dead peer is only noticed when TCP gives up, minutes later.
   */
  checkAlive(): void {
    const silent = this.#socket.bytesRead === this.#bytesSeen && this.openStreams > 0;
    this.#bytesSeen = this.#socket.bytesRead;
    if (!silent || !this.usable) this.#pinging = false;
    else if (this.#pinging) {
      this.#error ??= new UpstreamError('reset', 'the upstream no longer answers pings', { peer: this.peer });
      this.destroy();
    } else this.#pinging = this.#session.ping(() => {});
  }

  #open(request: UpstreamRequest): ClientHttp2Stream {
    const hasBody = request.body.length !== 0;
    return this.#session.request(rawHeaders(request), {
      endStream: !hasBody,
      // Only bodies without a length can carry trailers worth waiting for.
      ...(request.body.length === null ? { waitForTrailers: true } : {}),
    });
  }

  #streamEnded(): void {
    this.openStreams -= 1;
    this.onRoom?.();
  }

  #streamFailure(stream: ClientHttp2Stream, error: Error | null): UpstreamError {
    const code = stream.rstCode ?? 0;
    const unprocessed =
      code === constants.NGHTTP2_REFUSED_STREAM || stream.id === undefined || stream.id > this.#lastProcessed;
    if (unprocessed) return new UnprocessedError('reset', 'the upstream refused the call', { peer: this.peer });
    if (this.#error !== null) return this.#error;
    // What ended the connection reaches its streams first.
    if (error !== null && systemCodeOf(error) !== 'ERR_HTTP2_STREAM_ERROR') return this.#sessionError(error);
    if (this.#session.destroyed || code === 0) {
      return new UpstreamError('reset', 'connection closed by upstream', { peer: this.peer });
    }
    const kind = code === constants.NGHTTP2_PROTOCOL_ERROR ? 'protocol' : 'reset';
    return new UpstreamError(kind, `stream reset (${errorName(code)})`, { peer: this.peer });
  }

  #sessionError(error: unknown): UpstreamError {
    if (systemCodeOf(error) !== 'ERR_HTTP2_ERROR') return connectionFailure(error, this.peer);
    const message = this.settled ? `HTTP/2 went wrong: ${messageOf(error)}` : 'the backend does not speak HTTP/2';
    return new UpstreamError('protocol', message, { peer: this.peer, cause: error });
  }

  #onClose(): void {
    this.#closed = true;
    this.#socket.destroy();
    this.onClosed?.();
  }
}

/** RFC 9113 section 7, by code. */
const ERROR_NAMES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
];

function errorName(code: number): string {
  return ERROR_NAMES[code] ?? `code ${code}`;
}
