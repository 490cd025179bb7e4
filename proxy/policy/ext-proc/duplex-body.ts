import type { Body, BodySink } from '../../exchange/body.ts';
import type { Headers } from '../../exchange/headers.ts';
import { PushBody } from '../../exchange/push-body.ts';
import type { ProcessingRequest } from '../../services/messages/process.ts';
import type { Conversation } from './conversation.ts';
import { Ended } from './ended.ts';
import { trailerList } from './header-list.ts';
import type { LaneListener, Reply } from './lane.ts';
import type { Side } from './modes.ts';
import { mutateTrailers } from './mutation.ts';

/** The largest piece of a body in one message. */
const PIECE_BYTES = 64 * 1024;
/** The source rests while more than this waits for the far end. */
const MAX_WAITING = 256 * 1024;
/** The service rests while more than this waits for the far end. */
const MAX_SURPLUS = 1024 * 1024;

export interface Streaming {
  readonly conversation: Conversation;
  readonly side: Side;
  readonly source: Body;
  /** A failure before any byte was sent lets the body pass as it is. */
  readonly failOpen: boolean;
  /** Pieces and trailers as messages. */
  readonly body: (bytes: Uint8Array, endOfStream: boolean) => ProcessingRequest;
  readonly trailers: (list: ReturnType<typeof trailerList>) => ProcessingRequest;
}

/**
 * A body on its way through the service: pieces go there as they come, and what the service sends back goes on in `out`.
 * The far end's back-pressure reaches the source, and so does the service's.
 */
export class DuplexBody implements BodySink, LaneListener {
  readonly out = new PushBody();
  /** Some bytes of the body were sent to the service. */
  sent = false;
  readonly #parts: Streaming;
  #resting = false;
  #passing = false;
  #sourceEnded = false;
  #trailers: Headers | null = null;
  #over = false;

  constructor(parts: Streaming) {
    this.#parts = parts;
    this.out.onDrain = () => this.#balance();
    this.out.onCancel = () => this.#lostInterest();
    parts.conversation.onDrain(() => this.#balance());
  }

  start(): void {
    this.#parts.source.pipe(this);
  }

  /** The body goes on as it is: the service has no part in it. */
  pass(): void {
    const { source } = this.#parts;
    this.#passing = true;
    this.out.length = source.length;
    if (this.#sourceEnded) this.#finish(this.#trailers);
    else this.#balance();
  }

  // ── the source ──

  onData(chunk: Uint8Array): void {
    if (this.#over) return;
    if (this.#passing) this.out.push(chunk);
    else this.#sendPieces(chunk);
    this.#balance();
  }

  onEnd(trailers: Headers | null): void {
    if (this.#over) return;
    this.#sourceEnded = true;
    this.#trailers = trailers;
    const { body, trailers: message } = this.#parts;
    if (this.#passing) this.#finish(trailers);
    else if (trailers === null) this.#send(body(new Uint8Array(0), true));
    else this.#send(message(trailerList(trailers)));
  }

  onError(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#sourceEnded = true;
    this.out.fail(error);
    this.#parts.conversation.cancel(`the ${this.#parts.side} body was cut`);
  }

  // ── the service ──

  onReply(reply: Reply): void {
    if (this.#over) return;
    if (reply.dynamicMetadata !== null) this.#warn('dynamic metadata in an answer to a body is ignored');
    if (reply.part === 'body') this.#onBody(reply.bodyMutation);
    else if (reply.part === 'trailers' && this.#trailers !== null)
      this.#finish(mutateTrailers(this.#trailers, reply.headerMutation));
    else this.#parts.conversation.breach(`answered a body with ${reply.part}`);
  }

  onEnded(ended: Ended): void {
    if (this.#over || this.#passing) return;
    const { conversation, source, failOpen } = this.#parts;
    if (failOpen && !this.sent && ended.immediate === null) {
      conversation.skipped = true;
      this.pass();
      return;
    }
    this.#over = true;
    conversation.cut = true;
    this.out.fail(ended);
    if (!this.#sourceEnded) source.cancel();
  }

  #onBody(mutation: Reply['bodyMutation']): void {
    const streamed = mutation?.streamedResponse;
    if (streamed !== undefined) {
      if (streamed.body !== undefined) this.out.push(streamed.body);
      // With trailers the end comes with the answer to those.
      if (streamed.endOfStream === true && this.#trailers === null) this.#finish(null);
      else this.#balance();
    } else if (mutation?.body !== undefined) {
      this.out.push(mutation.body);
      this.#finish(this.#trailers);
    } else if (mutation?.clearBody === true) this.#finish(this.#trailers);
    else this.#parts.conversation.breach('answered a streamed body without a body');
  }

  #sendPieces(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.byteLength && !this.#over && !this.#passing; at += PIECE_BYTES) {
      this.sent = true;
      this.#send(this.#parts.body(chunk.subarray(at, at + PIECE_BYTES), false));
    }
  }

  #send(message: ProcessingRequest): void {
    try {
      this.#parts.conversation.send(this.#parts.side, message);
    } catch (error) {
      if (error instanceof Ended) this.onEnded(error);
      else throw error;
    }
  }

  /** Lets the source flow as far as both ends take it. */
  #balance(): void {
    if (this.#over) return;
    const { conversation, side, source } = this.#parts;
    conversation.hold(side, this.out.waitingBytes > MAX_SURPLUS);
    if (this.#sourceEnded) return;
    const rest = (!this.#passing && conversation.full) || this.out.waitingBytes > MAX_WAITING;
    if (rest === this.#resting) return;
    this.#resting = rest;
    if (rest) source.pause();
    else source.resume();
  }

  /** The service has said the end; what the source still has is of no use. */
  #finish(trailers: Headers | null): void {
    if (this.#over) return;
    this.#over = true;
    const { conversation, side, source } = this.#parts;
    this.out.end(trailers);
    if (!this.#sourceEnded) source.cancel();
    conversation.hold(side, false);
    conversation.done(side);
  }

  /** The far end takes no more. */
  #lostInterest(): void {
    if (this.#over) return;
    this.#over = true;
    const { conversation, side, source } = this.#parts;
    if (!this.#sourceEnded) source.cancel();
    conversation.hold(side, false);
    conversation.done(side);
  }

  #warn(message: string): void {
    this.#parts.conversation.settings.log.warn(message);
  }
}
