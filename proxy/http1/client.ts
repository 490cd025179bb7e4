import type { Duplex } from 'node:stream';

import { connectionFailure } from '../backends/connection-failure.ts';
import { type UpstreamCall, UpstreamError, type UpstreamRequest, type UpstreamResponse } from '../backends/upstream.ts';
import { emptyBody } from '../exchange/body.ts';
import type { FieldParser } from './fields.ts';
import { responseFraming } from './framing.ts';
import { HeadReader } from './head-reader.ts';
import { type BodySource, IncomingBody } from './incoming-body.ts';
import { Http1Error, MAX_INTERIM_RESPONSES } from './limits.ts';
import { Outgoing, type OutgoingFraming } from './outgoing.ts';
import { keepsAlive } from './request-head.ts';
import { parseResponseHead, type ResponseHead } from './response-head.ts';

export interface Http1ClientOptions {
  /** `ip:port` or socket path, for logs. */
  readonly peer: string;
  readonly maxHeadBytes: number;
  readonly maxHeaders: number;
  readonly fields: FieldParser;
  readonly preserveCase: boolean;
}

/** The client side of one HTTP/1.1 connection: one call at a time, reused while both sides keep it. */
export class Http1Client implements BodySource {
  readonly #socket: Duplex;
  readonly #options: Http1ClientOptions;
  readonly #heads: HeadReader;
  #held: Buffer | null = null;
  #processing = false;
  #request: UpstreamRequest | null = null;
  #outgoing: Outgoing | null = null;
  #incoming: IncomingBody | null = null;
  #call: Http1Call | null = null;
  #endedBy: UpstreamError | null = null;
  #keepAlive = true;
  #interim = 0;
  #requestSent = false;
  #responseRead = false;
  #closed = false;
  #detached = false;
  /** Any byte of a response to the current call was seen. */
  started = false;
  /** The upstream's `keep-alive: timeout=N`, milliseconds. */
  keepAliveHintMs: number | null = null;
  /** The response is read, the request is sent, and the connection may take another call. */
  onIdle: (() => void) | null = null;
  onClosed: (() => void) | null = null;

  constructor(socket: Duplex, options: Http1ClientOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#heads = new HeadReader(options.maxHeadBytes);
    socket.on('data', this.#onData);
    socket.on('drain', this.#onDrain);
    socket.on('end', this.#onEnd);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  /** Idle, open, and both sides want to keep it. */
  get reusable(): boolean {
    return this.#request === null && this.#keepAlive && !this.#closed;
  }

  /** Starts a call; only on a connection that has none. */
  send(request: UpstreamRequest): UpstreamCall {
    this.#request = request;
    this.#interim = 0;
    this.#requestSent = false;
    this.#responseRead = false;
    this.started = false;
    const call = new Http1Call(this);
    this.#call = call;
    const framing = requestFramingOut(request);
    this.#outgoing = new Outgoing({
      socket: this.#socket,
      head: this.#head(request, framing),
      framing,
      body: request.body,
      onDone: (_bytes, error) => this.#sent(error),
    });
    this.#outgoing.start();
    return call;
  }

  /** Gives up a call that is still the one in hand. */
  cancel(call: Http1Call): void {
    if (this.#call !== call) return;
    this.destroy(new UpstreamError('cancelled', 'the call was given up', { peer: this.#options.peer }));
  }

  destroy(error?: Error): void {
    this.#fail(
      error instanceof UpstreamError ? error : this.#failure('reset', error?.message ?? 'connection closed', error),
    );
    this.#socket.destroy();
  }

  // ── writing ──

  #head(request: UpstreamRequest, framing: OutgoingFraming): string {
    let head = `${request.method} ${request.target === '' ? '/' : request.target} HTTP/1.1\r\nhost: ${request.authority}\r\n`;
    const { headers } = request;
    const { names, values } = headers;
    for (let i = 0; i < names.length; i++) {
      const name = names[i] ?? '';
      if (isFraming(name)) continue;
      head += `${this.#options.preserveCase ? headers.spelling(i) : name}: ${values[i]}\r\n`;
    }
    if (framing === 'length') head += `content-length: ${request.body.length}\r\n`;
    else if (framing === 'chunked') head += 'transfer-encoding: chunked\r\n';
    else if (expectsBody(request.method)) head += 'content-length: 0\r\n';
    if (request.upgrade !== null) head += `connection: upgrade\r\nupgrade: ${request.upgrade}\r\n`;
    else if (headers.has('te')) head += 'connection: te\r\n';
    return `${head}\r\n`;
  }

  #sent(error: Error | null): void {
    this.#outgoing = null;
    if (error !== null) {
      // The client's body broke: the upstream must not take what it has for the whole.
      this.destroy(this.#failure('cancelled', `request body failed: ${error.message}`, error));
      return;
    }
    this.#requestSent = true;
    if (this.#responseRead) this.#finish();
  }

  // ── reading ──

  readonly #onData = (chunk: Buffer): void => {
    if (this.#request === null) {
      // Bytes that nobody asked for: this connection can't be trusted with a request.
      this.#keepAlive = false;
      this.#socket.destroy();
      return;
    }
    this.started = true;
    this.#held = this.#held === null ? chunk : Buffer.concat([this.#held, chunk]);
    this.#process();
  };

  #process(): void {
    if (this.#processing) return;
    this.#processing = true;
    try {
      let progress = true;
      while (progress && this.#held !== null && this.#readable && !this.#detached) {
        progress = this.#incoming === null ? this.#readHead(this.#held) : this.#readBody(this.#incoming, this.#held);
      }
    } catch (error) {
      this.destroy(this.#failure('protocol', error instanceof Error ? error.message : 'invalid response', error));
    }
    this.#processing = false;
    if (this.#held !== null && !this.#detached) this.#socket.pause();
  }

  /** What has come before the end is still to be delivered after it. */
  get #readable(): boolean {
    return !this.#closed || this.#endedBy !== null;
  }

  #readHead(bytes: Buffer): boolean {
    const request = this.#request;
    if (request === null || this.#call === null) return false;
    const text = this.#heads.read(bytes);
    this.#held = text === null ? null : this.#heads.rest;
    if (text === null) return false;
    const head = parseResponseHead(text, this.#options.fields, this.#options.maxHeaders);
    if (head.status === 101) this.#upgraded(head);
    else if (head.status < 200) this.#informed(head, request);
    else this.#responded(head, request);
    return true;
  }

  /** Nothing holds an upstream back that sends these without end, so their number is limited. */
  #informed(head: ResponseHead, request: UpstreamRequest): void {
    this.#interim += 1;
    if (this.#interim > MAX_INTERIM_RESPONSES) throw new Http1Error(502, 'too many interim responses');
    request.onInformational?.(head.status, head.headers);
  }

  #responded(head: ResponseHead, request: UpstreamRequest): void {
    const framing = responseFraming(head.status, head.headers, request.method);
    this.#keepAlive = keepsAlive(head.headers, head.version) && framing.kind !== 'close' && !isDubious(head);
    this.keepAliveHintMs = keepAliveHint(head.headers.get('keep-alive'));
    const incoming =
      framing.kind === 'none' ? null : new IncomingBody(this, framing, this.#options.fields, this.#options.maxHeaders);
    this.#incoming = incoming;
    const { status, headers } = head;
    this.#settle({ status, headers, body: incoming ?? emptyBody, upgraded: null, peer: this.#options.peer });
    if (incoming === null) this.#responseComplete();
  }

  #upgraded(head: ResponseHead): void {
    this.#detached = true;
    this.#closed = true;
    this.#keepAlive = false;
    this.#socket.off('data', this.#onData).off('drain', this.#onDrain).off('end', this.#onEnd);
    this.#socket.off('error', this.#onError).off('close', this.#onClose);
    this.#socket.pause();
    if (this.#held !== null) this.#socket.unshift(this.#held);
    this.#held = null;
    this.#outgoing?.abandon();
    this.onClosed?.();
    const { status, headers } = head;
    this.#settle({ status, headers, body: emptyBody, upgraded: this.#socket, peer: this.#options.peer });
  }

  #settle(response: UpstreamResponse): void {
    this.#call?.resolve(response);
  }

  #readBody(incoming: IncomingBody, bytes: Buffer): boolean {
    if (incoming.complete || !incoming.flowing) return false;
    const used = incoming.feed(bytes, 0);
    if (this.#held === null) return false;
    this.#held = used === bytes.length ? null : bytes.subarray(used);
    if (incoming.complete) this.#responseComplete();
    else if (this.#held === null && this.#endedBy !== null) this.#ended(this.#endedBy);
    return true;
  }

  #responseComplete(): void {
    this.#responseRead = true;
    if (this.#held !== null) this.#keepAlive = false;
    if (this.#requestSent) this.#finish();
    else this.#abandonRequest();
  }

  /** The upstream answered before it had read the request: what is left of it is not sent (RFC 9112 section 9.3). */
  #abandonRequest(): void {
    // An answer to a request whose last byte is being written right now is no early answer.
    queueMicrotask(() => {
      if (this.#requestSent || !this.#responseRead || this.#closed) return;
      this.#keepAlive = false;
      this.#outgoing?.abandon();
      this.#requestSent = true;
      this.#finish();
    });
  }

  #finish(): void {
    this.#request = null;
    this.#call = null;
    this.#incoming = null;
    this.#outgoing = null;
    if (!this.#keepAlive) this.#socket.destroy();
    else {
      this.#socket.resume();
      this.onIdle?.();
    }
  }

  // ── the body source ──

  bodyWanted(): void {
    this.resumeReading();
  }

  pauseReading(): void {
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#process();
    if (this.#held === null && !this.#closed) this.#socket.resume();
  }

  bodyCancelled(): void {
    this.destroy(new UpstreamError('cancelled', 'the response was not wanted', { peer: this.#options.peer }));
  }

  // ── the end of the connection ──

  readonly #onDrain = (): void => this.#outgoing?.onDrain();

  readonly #onEnd = (): void => this.#ended(this.#failure('reset', 'connection closed by upstream', undefined));

  readonly #onError = (error: Error): void => {
    this.#fail(connectionFailure(error, this.#options.peer));
  };

  readonly #onClose = (): void => {
    this.#ended(this.#failure('reset', 'connection closed by upstream', undefined));
    this.#closed = true;
    this.onClosed?.();
  };

  /** Nothing more will come. What is still held back is delivered first. */
  #ended(error: UpstreamError): void {
    this.#keepAlive = false;
    if (this.#held !== null && this.#incoming !== null) {
      this.#endedBy = error;
      return;
    }
    const incoming = this.#incoming;
    if (incoming !== null && !incoming.complete) {
      incoming.connectionClosed(error);
      if (incoming.complete) this.#responseComplete();
    }
    this.#fail(error);
    this.#socket.destroy();
  }

  #fail(error: UpstreamError): void {
    this.#closed = true;
    this.#keepAlive = false;
    const call = this.#call;
    this.#call = null;
    this.#outgoing?.abandon();
    this.#outgoing = null;
    this.#incoming?.fail(error);
    this.#request = null;
    call?.reject(error);
  }

  #failure(kind: 'reset' | 'protocol' | 'cancelled', message: string, cause: unknown): UpstreamError {
    return new UpstreamError(kind, message, { peer: this.#options.peer, cause });
  }
}

/** One call on a connection; after its end it has no power over the connection any more. */
class Http1Call implements UpstreamCall {
  readonly response: Promise<UpstreamResponse>;
  readonly #client: Http1Client;
  resolve: (response: UpstreamResponse) => void = () => {};
  reject: (error: UpstreamError) => void = () => {};

  constructor(client: Http1Client) {
    this.#client = client;
    this.response = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  cancel(): void {
    this.#client.cancel(this);
  }
}

/**
 * Framing that others may read differently: a body announced where there is none, or a coding that HTTP/1.0 does not
 * know. Such a response is taken, but what comes behind it could be its own, so the connection is not used again.
 */
function isDubious({ status, version, headers }: ResponseHead): boolean {
  if (headers.has('transfer-encoding')) return version === 'HTTP/1.0' || status === 204 || status === 304;
  return status === 204 && (headers.get('content-length') ?? '0') !== '0';
}

function isFraming(name: string): boolean {
  return name === 'content-length' || name === 'transfer-encoding' || name === 'connection' || name === 'host';
}

/** Methods whose empty body is worth saying (RFC 9110 section 8.6). */
function expectsBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

function requestFramingOut(request: UpstreamRequest): OutgoingFraming {
  if (request.body.length === 0) return 'none';
  return request.body.length === null ? 'chunked' : 'length';
}

function keepAliveHint(value: string | undefined): number | null {
  if (value === undefined) return null;
  const match = /(?:^|[\s,])timeout=(\d{1,6})/i.exec(value);
  return match === null ? null : Number(match[1]) * 1000;
}
