import type { Duplex } from 'node:stream';

import type { ConnectionFacts } from '../exchange/connection.ts';
import { emptyBody } from '../exchange/body.ts';
import type { RequestHandler } from '../exchange/exchange.ts';
import type { Headers } from '../exchange/headers.ts';
import type { HttpRequest, HttpResponse } from '../exchange/message.ts';
import type { Delivery, Transport } from '../exchange/transport.ts';
import { badRequestAnswer } from './bad-request.ts';
import { type Awaited, Deadlines, lateness, type TimeLimits } from './deadlines.ts';
import type { FieldParser } from './fields.ts';
import { HeadReader } from './head-reader.ts';
import { type BodySource, IncomingBody } from './incoming-body.ts';
import { Http1Error } from './limits.ts';
import { Outgoing } from './outgoing.ts';
import { parseRequestHead, type RequestHead } from './request-head.ts';
import { type DateHeader, interimHead, outgoingFraming, responseHead } from './response-writer.ts';
import type { Sweeper, Swept } from './sweeper.ts';

export interface Http1ServerOptions extends TimeLimits {
  /** Bytes that were read from the socket to find out what it speaks. */
  readonly first?: Buffer | undefined;
  readonly maxHeadBytes: number;
  readonly maxHeaders: number;
  readonly preserveCase: boolean;
  readonly fields: FieldParser;
  readonly date: DateHeader;
  readonly sweeper: Sweeper;
  /** A message that was refused before there was a request. */
  readonly onBadRequest?: ((connection: ConnectionFacts, error: Http1Error) => void) | undefined;
}

/** Bytes of an unwanted request body that are read away to keep a connection, before it is closed instead. */
const DRAIN_LIMIT = 256 * 1024;

type Phase = 'head' | 'exchange' | 'closing' | 'takenOver' | 'closed';

export function serveHttp1(
  socket: Duplex,
  facts: ConnectionFacts,
  options: Http1ServerOptions,
  handler: RequestHandler,
): Http1Connection {
  const connection = new Http1Connection(socket, facts, options, handler);
  connection.start();
  return connection;
}

/**
 * The server side of one HTTP/1 connection: one exchange at a time, pipelined requests wait their turn.
 * A state machine, so longer than most classes: its parts only make sense together.
 */
export class Http1Connection implements Transport, BodySource, Swept {
  readonly #socket: Duplex;
  readonly #facts: ConnectionFacts;
  readonly #options: Http1ServerOptions;
  readonly #handler: RequestHandler;
  readonly #heads: HeadReader;
  readonly #deadlines: Deadlines;
  #phase: Phase = 'head';
  /** Bytes that were read but not used yet: the rest of a read, or a pipelined request. */
  #held: Buffer | null = null;
  #processing = false;
  #request: RequestHead | null = null;
  #incoming: IncomingBody | null = null;
  #drained = 0;
  #discarding = false;
  #continueDue = false;
  #outgoing: Outgoing | null = null;
  #done: ((delivery: Delivery) => void) | null = null;
  #responded = false;
  #closeAfter = false;
  #ended = false;
  #clientGone: (() => void) | null = null;
  /** What the client was told when the rest of its request could not be taken. */
  #refusedWith: Http1Error | null = null;
  #closed: (() => void) | null = null;

  constructor(socket: Duplex, facts: ConnectionFacts, options: Http1ServerOptions, handler: RequestHandler) {
    this.#socket = socket;
    this.#facts = facts;
    this.#options = options;
    this.#handler = handler;
    this.#heads = new HeadReader(options.maxHeadBytes);
    this.#deadlines = new Deadlines(options, options.sweeper, this.#heads);
  }

  /** Between requests, with nothing of a next one. */
  get idle(): boolean {
    return this.#phase === 'head' && this.#held === null && this.#heads.empty;
  }

  start(): void {
    this.#options.sweeper.add(this);
    this.#socket.on('data', this.#onData);
    this.#socket.on('drain', this.#onDrain);
    this.#socket.on('end', this.#onSocketEnd);
    this.#socket.on('error', this.#onSocketError);
    this.#socket.on('close', this.#onSocketClose);
    if (this.#options.first !== undefined && this.#options.first.length > 0) this.#onData(this.#options.first);
  }

  onClosed(listener: () => void): void {
    this.#closed = listener;
  }

  /** Finishes the exchange in hand with `connection: close`; closes at once when idle. */
  drain(): void {
    this.#closeAfter = true;
    if (this.idle) this.#close();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  // ── reading ──

  readonly #onData = (chunk: Buffer): void => {
    this.#deadlines.moved();
    this.#held = this.#held === null ? chunk : Buffer.concat([this.#held, chunk]);
    this.#process();
  };

  /** Uses the held bytes as far as the state allows. Not re-entered: a handler that answers at once continues the loop. */
  #process(): void {
    if (this.#processing) return;
    this.#processing = true;
    try {
      let progress = true;
      while (progress && this.#held !== null) {
        if (this.#phase === 'head') progress = this.#readHead(this.#held);
        else if (this.#phase === 'exchange') progress = this.#readBody(this.#held);
        else {
          this.#held = this.#phase === 'takenOver' ? this.#held : null;
          progress = false;
        }
      }
    } catch (error) {
      this.#refuse(error);
    }
    this.#processing = false;
    if (this.#held !== null && this.#phase === 'exchange') this.#socket.pause();
  }

  #readHead(bytes: Buffer): boolean {
    const text = this.#heads.read(bytes);
    if (text === null) {
      this.#held = null;
      return false;
    }
    this.#held = this.#heads.rest;
    this.#begin(parseRequestHead(text, this.#options.fields, this.#options.maxHeaders));
    return true;
  }

  #begin(head: RequestHead): void {
    this.#phase = 'exchange';
    this.#request = head;
    this.#responded = false;
    this.#drained = 0;
    this.#discarding = false;
    this.#continueDue = head.expectsContinue;
    this.#incoming =
      head.framing.kind === 'none'
        ? null
        : new IncomingBody(this, head.framing, this.#options.fields, this.#options.maxHeaders);
    const request: HttpRequest = {
      method: head.method,
      scheme: this.#facts.tls === null ? 'http' : 'https',
      authority: head.authority,
      target: head.target,
      version: head.version,
      headers: head.headers,
      body: this.#incoming ?? emptyBody,
      upgrade: null,
    };
    this.#handler(request, this.#facts, this);
  }

  #readBody(bytes: Buffer): boolean {
    const incoming = this.#incoming;
    if (incoming === null || incoming.complete) return false;
    if (!incoming.flowing && !this.#discarding) return false;
    const used = incoming.feed(bytes, 0);
    this.#held = used === bytes.length ? null : bytes.subarray(used);
    if (this.#discarding) this.#discarded(used);
    if (incoming.complete) this.#exchangeDone();
    return true;
  }

  // ── the body source ──

  bodyWanted(): void {
    if (this.#continueDue && !this.#responded) this.#socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
    this.#continueDue = false;
    this.resumeReading();
  }

  pauseReading(): void {
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#process();
    if (this.#held === null) this.#socket.resume();
  }

  bodyCancelled(): void {
    this.#discarding = true;
    // A client that still waits for `100 Continue` will not send its body, so nothing can be read away.
    if (this.#continueDue) this.#closeAfter = true;
    this.resumeReading();
  }

  #discarded(bytes: number): void {
    this.#drained += bytes;
    if (this.#drained > DRAIN_LIMIT && this.#incoming?.complete === false) {
      this.#closeAfter = true;
      if (this.#done === null && this.#responded) this.#close();
    }
  }

  // ── the transport ──

  respond(response: HttpResponse, done: (delivery: Delivery) => void): void {
    const request = this.#request;
    if (request === null || this.#phase !== 'exchange') {
      response.body.cancel();
      done(this.#refusedWith === null ? { kind: 'clientGone', bytes: 0 } : refusedDelivery(this.#refusedWith));
      return;
    }
    this.#responded = true;
    this.#done = done;
    if (this.#continueDue) this.#closeAfter = true;
    const context = {
      method: request.method,
      version: request.version,
      keepAlive: request.keepAlive && !this.#closeAfter && !this.#deadlines.tooOld,
      preserveCase: this.#options.preserveCase,
    };
    const framing = outgoingFraming(response, context);
    if (!context.keepAlive || framing === 'close') this.#closeAfter = true;
    this.#outgoing = new Outgoing({
      socket: this.#socket,
      head: responseHead(response, framing, context, this.#options.date),
      framing,
      body: response.body,
      onDone: (bytes, error) => this.#responseDone(bytes, error),
    });
    this.#deadlines.responding();
    this.#outgoing.start();
  }

  informational(status: number, headers: Headers): void {
    if (this.#phase !== 'exchange' || this.#responded || this.#request?.version !== 'HTTP/1.1') return;
    if (status === 100) this.#continueDue = false;
    this.#socket.write(interimHead(status, headers), 'latin1');
  }

  takeOver(status: number, headers: Headers): Duplex | null {
    if (this.#phase !== 'exchange' || this.#responded) return null;
    // What is left of a body must not become the first words of another protocol.
    if (this.#incoming !== null && !this.#incoming.complete) return null;
    this.#phase = 'takenOver';
    this.#detach();
    this.#socket.write(interimHead(status, headers), 'latin1');
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.#socket.unshift(held);
    return this.#socket;
  }

  onClientGone(listener: () => void): void {
    this.#clientGone = listener;
  }

  closeAfterResponse(): void {
    this.#closeAfter = true;
  }

  // ── the end of an exchange ──

  #responseDone(bytes: number, error: Error | null): void {
    const done = this.#done;
    this.#done = null;
    this.#outgoing = null;
    this.#clientGone = null;
    if (error !== null) {
      // The client has part of a message: cutting the connection is the only way left to say so.
      done?.({ kind: 'cut', bytes, error });
      this.#socket.destroy();
      return;
    }
    done?.({ kind: 'complete', bytes });
    this.#deadlines.answered();
    const incoming = this.#incoming;
    if (incoming !== null && !incoming.complete && !incoming.piped) incoming.cancel();
    this.#exchangeDone();
  }

  /** Called when the response is out and when the request is in; the later one ends the exchange. */
  #exchangeDone(): void {
    if (this.#phase !== 'exchange' || !this.#responded || this.#done !== null) return;
    if (this.#closeAfter || this.#ended) {
      this.#close();
      return;
    }
    if (this.#incoming !== null && !this.#incoming.complete) return;
    this.#phase = 'head';
    this.#request = null;
    this.#incoming = null;
    this.#deadlines.moved();
    if (this.#held !== null) this.#process();
    if (this.#held === null) this.#socket.resume();
  }

  /** Closes towards the client after everything written; what it still sends is read away for a moment. */
  #close(): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return;
    this.#phase = 'closing';
    this.#deadlines.restart();
    this.#held = null;
    this.#socket.end();
    // A reset that overtakes the response would take it away from the client: read until it closes (RFC 9112 9.6).
    this.#socket.resume();
  }

  #refuse(thrown: unknown): void {
    const error = thrown instanceof Http1Error ? thrown : new Http1Error(500, 'internal error');
    this.#held = null;
    this.#options.onBadRequest?.(this.#facts, error);
    const incoming = this.#incoming;
    if (this.#phase === 'exchange' && this.#responded) {
      incoming?.fail(error);
      this.#socket.destroy();
      return;
    }
    if (this.#phase === 'exchange' && this.#clientGone !== null) {
      // The body broke after the request had been handed on: whoever handles it learns that its client is lost.
      const gone = this.#clientGone;
      this.#clientGone = null;
      this.#responded = true;
      this.#refusedWith = error;
      gone();
    }
    incoming?.fail(error);
    this.#socket.write(badRequestAnswer(error), 'latin1');
    this.#close();
  }

  readonly #onDrain = (): void => {
    this.#deadlines.moved();
    this.#outgoing?.onDrain();
  };

  readonly #onSocketEnd = (): void => {
    this.#ended = true;
    if (this.#phase === 'head') {
      if (this.#heads.empty) this.#socket.end();
      else this.#refuse(new Http1Error(400, 'the connection ended inside a request head'));
      return;
    }
    if (this.#phase === 'exchange') this.#lost(new Error('client closed the connection'));
    else if (this.#phase === 'closing') this.#socket.destroy();
  };

  readonly #onSocketError = (): void => {
    this.#socket.destroy();
  };

  readonly #onSocketClose = (): void => {
    if (this.#phase === 'takenOver') return;
    this.#lost(new Error('client closed the connection'));
    this.#phase = 'closed';
    this.#held = null;
    this.#options.sweeper.remove(this);
    this.#closed?.();
  };

  /** The client went away inside an exchange. */
  #lost(error: Error): void {
    if (this.#phase !== 'exchange') return;
    this.#phase = 'closing';
    this.#incoming?.fail(error);
    const outgoing = this.#outgoing;
    const done = this.#done;
    const gone = this.#clientGone;
    this.#outgoing = null;
    this.#done = null;
    this.#clientGone = null;
    outgoing?.abandon();
    if (done !== null) done({ kind: 'clientGone', bytes: outgoing?.bytes ?? 0 });
    gone?.();
    this.#socket.destroy();
  }

  #detach(): void {
    this.#options.sweeper.remove(this);
    this.#socket.off('data', this.#onData);
    this.#socket.off('drain', this.#onDrain);
    this.#socket.off('end', this.#onSocketEnd);
    this.#socket.off('error', this.#onSocketError);
    this.#socket.once('close', () => this.#closed?.());
    this.#socket.pause();
  }

  // ── deadlines ──

  sweep(now: number): void {
    this.#deadlines.sent(this.#outgoing?.bytes ?? 0, now);
    const awaited = this.#awaited();
    if (!this.#deadlines.passed(awaited, now)) return;
    if (awaited === 'end') this.#socket.destroy();
    else if (awaited === 'request' || awaited === 'leftover') this.#close();
    else if (awaited === 'response') this.#cutResponse();
    else if (awaited !== 'nothing') this.#refuse(lateness(awaited));
  }

  #awaited(): Awaited {
    if (this.#phase === 'head') return this.#heads.empty ? 'request' : 'head';
    if (this.#phase === 'closing') return 'end';
    if (this.#phase !== 'exchange') return 'nothing';
    if (this.#discarding && this.#responded && this.#done === null) return 'leftover';
    const incoming = this.#incoming;
    if (this.#outgoing !== null) return 'response';
    // Waiting for an upstream's head has other limits.
    if (incoming === null || incoming.complete || !incoming.piped) return 'nothing';
    if (this.#responded) return 'response';
    // A body that is held back waits for the upstream, not for the client.
    return incoming.flowing ? 'body' : 'upstream';
  }

  #cutResponse(): void {
    const outgoing = this.#outgoing;
    outgoing?.abandon();
    this.#responseDone(outgoing?.bytes ?? 0, new Error('nothing moved on the stream for too long'));
  }
}

function refusedDelivery({ status, message }: Http1Error): Delivery {
  return { kind: 'refused', bytes: 0, status, message };
}
