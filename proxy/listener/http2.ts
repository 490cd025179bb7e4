import {
  constants,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import type { FrontendHttp } from '../../src/config/ir/index.ts';
import { systemCodeOf } from '../../src/shared/errors.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import type { RequestHandler } from '../exchange/exchange.ts';
import type { HttpConnectionStart, HttpServerConnection } from './http-connection.ts';
import { readRequestHead, requestOf } from './http2-request.ts';
import { Http2Exchange, type Http2StreamOwner } from './http2-stream.ts';

/** Windows that limit what one client makes the gateway hold: one stream's worth per stream that is not read. */
const STREAM_WINDOW_BYTES = 64 * 1024;
const CONNECTION_WINDOW_BYTES = 1024 * 1024;
const MAX_CONCURRENT_STREAMS = 100;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_HEADER_FIELDS = 200;
/** Longest wait for the client's SETTINGS after its preface. */
const SETTINGS_TIMEOUT_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 20_000;
/** Longest wait between the first GOAWAY and the one that names the last stream. */
const DRAIN_ROUND_TRIP_MS = 1000;
/** Streams that a client may reset early: at once, and for each second. More is an attack (CVE-2023-44487). */
const RESET_BURST = 200;
const RESETS_PER_SECOND = 100;

export type Http2ErrorListener = (detail: string) => void;

/** The server side of one HTTP/2 connection: streams become exchanges. */
export class Http2Connection implements HttpServerConnection, Http2StreamOwner {
  readonly #session: ServerHttp2Session;
  readonly #facts: ConnectionFacts;
  readonly #handler: RequestHandler;
  readonly #http: FrontendHttp;
  readonly #onError: Http2ErrorListener;
  readonly #streams = new Set<Http2Exchange>();
  readonly #timer: NodeJS.Timeout;
  readonly #openedAt = performance.now();
  #idleSince = performance.now();
  #pingedAt = performance.now();
  #awaitedPingSince: number | null = null;
  #settled = false;
  #draining = false;
  #resets = RESET_BURST;
  #resetsAt = performance.now();
  #closed: (() => void) | null = null;
  now = performance.now();

  constructor(
    socket: Socket | TLSSocket,
    facts: ConnectionFacts,
    start: HttpConnectionStart,
    wiring: { handler: RequestHandler; onError: Http2ErrorListener },
  ) {
    this.#facts = facts;
    this.#handler = wiring.handler;
    this.#onError = wiring.onError;
    this.#http = start.http;
    if (start.first !== null) {
      socket.pause();
      socket.unshift(start.first);
    }
    this.#session = performServerHandshake(socket, sessionOptions(start.http));
    this.#session.setLocalWindowSize(start.http.http2ConnectionWindowSize ?? CONNECTION_WINDOW_BYTES);
    this.#session.on('stream', (stream, _headers, flags, fields) => this.#onStream(stream, fields ?? []));
    this.#session.on('remoteSettings', () => (this.#settled = true));
    this.#session.on('error', (error) => this.#onSessionError(error));
    this.#session.on('close', () => this.#onClose());
    // Sockets are half-open here; a client that has ended its side of an HTTP/2 connection is gone.
    socket.on('end', () => this.#session.destroy());
    const tickMs = tickOf(start.http);
    this.#timer = setInterval(() => this.#tick(performance.now()), tickMs);
    this.#timer.unref();
    if (start.draining) this.#session.once('remoteSettings', () => this.drain());
  }

  get idle(): boolean {
    return this.#streams.size === 0;
  }

  onClosed(listener: () => void): void {
    this.#closed = listener;
  }

  /**
   * RFC 9113 section 6.8: a first GOAWAY that excludes nothing, and one that names the last stream a round trip later, so
   * that requests already on their way are served and not lost.
   */
  drain(): void {
    if (this.#draining || this.#session.destroyed) return;
    this.#draining = true;
    this.#session.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1);
    const deadline = setTimeout(() => this.#session.close(), DRAIN_ROUND_TRIP_MS);
    const settle = (): void => {
      clearTimeout(deadline);
      this.#session.close();
    };
    this.#session.once('close', () => clearTimeout(deadline));
    if (!this.#session.ping(settle)) settle();
  }

  destroy(): void {
    this.#session.destroy();
  }

  streamClosed(stream: Http2Exchange, cutByClient: boolean): void {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this.#idleSince = this.now = performance.now();
    if (cutByClient) this.#countReset();
  }

  #onStream(stream: ServerHttp2Stream, fields: readonly string[]): void {
    if (stream.destroyed || stream.closed) {
      // Opened and reset in one breath: it costs the client, not the upstream.
      stream.on('error', ignore);
      this.#countReset();
      return;
    }
    this.#settled = true;
    const read = readRequestHead(fields, this.#http.http2MaxHeaderSize ?? MAX_HEADER_BYTES);
    if (read.kind === 'malformed') {
      refuse(stream, read.status, read.detail);
      this.#onError(`malformed request: ${read.detail}`);
      this.#countReset();
      return;
    }
    this.now = performance.now();
    const exchange = new Http2Exchange(stream, read.head, this);
    this.#streams.add(exchange);
    const scheme = this.#facts.tls === null ? 'http' : 'https';
    this.#handler(requestOf(read.head, scheme, exchange.requestBody), this.#facts, exchange);
  }

  #countReset(): void {
    const now = performance.now();
    this.#resets = Math.min(RESET_BURST, this.#resets + ((now - this.#resetsAt) / 1000) * RESETS_PER_SECOND);
    this.#resetsAt = now;
    this.#resets -= 1;
    if (this.#resets >= 0 || this.#session.destroyed) return;
    this.#session.destroy(new Error('too many streams were reset'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** A client that leaves by a reset breaks no rule; everything else is worth a word. */
  #onSessionError(error: Error): void {
    const code = systemCodeOf(error);
    if (code !== 'ECONNRESET' && code !== 'EPIPE') this.#onError(error.message);
  }

  #onClose(): void {
    clearInterval(this.#timer);
    this.#closed?.();
  }

  // ── deadlines ──

  #tick(now: number): void {
    this.now = now;
    for (const stream of this.#streams) stream.sweep(now, this.#http.streamIdleTimeoutMs);
    const age = now - this.#openedAt;
    const longest = this.#http.maxConnectionDurationMs;
    if (!this.#settled && age > SETTINGS_TIMEOUT_MS) this.#giveUp('no SETTINGS from the client in time');
    else if (longest !== undefined && age > longest) this.drain();
    else if (this.idle && now - this.#idleSince > this.#http.http1IdleTimeoutMs) this.drain();
    this.#keepAlive(now);
  }

  #keepAlive(now: number): void {
    const intervalMs = this.#http.http2KeepaliveIntervalMs;
    if (intervalMs === undefined || this.#session.destroyed) return;
    if (this.#awaitedPingSince !== null) {
      const limit = this.#http.http2KeepaliveTimeoutMs ?? KEEPALIVE_TIMEOUT_MS;
      if (now - this.#awaitedPingSince > limit) this.#giveUp('no answer to a keep-alive ping');
    } else if (now - this.#pingedAt > intervalMs) {
      this.#pingedAt = now;
      this.#awaitedPingSince = now;
      this.#session.ping(() => (this.#awaitedPingSince = null));
    }
  }

  #giveUp(detail: string): void {
    if (this.#session.destroyed) return;
    this.#onError(detail);
    this.#session.destroy();
  }
}

function sessionOptions(http: FrontendHttp): ServerOptions {
  return {
    settings: {
      initialWindowSize: http.http2WindowSize ?? STREAM_WINDOW_BYTES,
      maxConcurrentStreams: MAX_CONCURRENT_STREAMS,
      maxHeaderListSize: Math.min(http.http2MaxHeaderSize ?? MAX_HEADER_BYTES, 2 ** 32 - 1),
      ...(http.http2FrameSize === undefined ? {} : { maxFrameSize: http.http2FrameSize }),
    },
    maxHeaderListPairs: MAX_HEADER_FIELDS,
    // Repeated fields are passed on as they came: what they mean is between the two ends.
    strictSingleValueFields: false,
    // Behind the connection's own count, which has a say first.
    streamResetBurst: RESET_BURST * 5,
    streamResetRate: RESETS_PER_SECOND,
  };
}

/** How often deadlines are looked at: often enough for the shortest, never more than a hundred times a second. */
function tickOf(http: FrontendHttp): number {
  const limits = [
    http.streamIdleTimeoutMs,
    http.http1IdleTimeoutMs,
    http.maxConnectionDurationMs,
    http.http2KeepaliveIntervalMs,
    http.http2KeepaliveTimeoutMs,
    SETTINGS_TIMEOUT_MS,
  ].filter((limit) => limit !== undefined);
  return Math.min(1000, Math.max(10, Math.min(...limits) / 4));
}

function refuse(stream: ServerHttp2Stream, status: number, detail: string): void {
  stream.on('error', ignore);
  stream.respond({ ':status': status, 'content-type': 'text/plain', 'x-gw-reason': 'InvalidRequest' });
  stream.end(detail);
}

function ignore(): void {}
