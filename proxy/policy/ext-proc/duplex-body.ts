import type { BodySink } from '../../exchange/body.ts';
import type { Headers } from '../../exchange/headers.ts';
import { PushBody } from '../../exchange/push-body.ts';
import type { ProcessingRequest } from '../../services/messages/process.ts';
import { BodyCut, Ended } from './ended.ts';
import { trailerList } from './header-list.ts';
import type { LaneListener } from './lane.ts';
import type { Reply } from './reply.ts';
import { mutateTrailers } from './mutation.ts';
import type { Turn } from './turn.ts';

/** The largest piece of a body in one message. */
const PIECE_BYTES = 64 * 1024;
/** The source rests while more than this waits for the far end. */
const MAX_WAITING = 256 * 1024;
/** The service rests while more than this waits for the far end. */
const MAX_SURPLUS = 1024 * 1024;

/**
 * A body on its way through the service: pieces go there as they come, and what the service sends back goes on in `out`.
 * The far end's back-pressure reaches the source, and so does the service's.
 */
export class DuplexBody implements BodySink, LaneListener {
  readonly out = new PushBody();
  /** Some bytes of the body were sent to the service. */
  sent = false;
  /** The source has failed. */
  cut: BodyCut | null = null;
  readonly #turn: Turn;
  #flows = false;
  #resting = false;
  #passing = false;
  #sourceEnded = false;
  #trailers: Headers | null = null;
  #over = false;
  #unwatch: (() => void) | null = null;
  readonly #source: Turn['parts']['direction']['message']['body'];

  constructor(turn: Turn) {
    this.#turn = turn;
    const { conversation, direction } = turn.parts;
    this.#source = direction.message.body;
    this.out.onDrain = () => this.#balance();
    this.out.onCancel = () => this.#giveUp();
    conversation.onDrain(() => this.#balance());
  }

  /** Reads the source as soon as the service takes what there is: one that cannot be reached gets no byte. Throws `Ended`. */
  begin(): void {
    const { conversation, direction } = this.#turn.parts;
    conversation.open();
    conversation[direction.side].listen(this);
    this.#balance();
  }

  /** The body goes on as it is: the service has no part in it. */
  pass(): void {
    if (this.#passing) return;
    this.#passing = true;
    this.out.length = this.#source.length;
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
    const { direction } = this.#turn.parts;
    if (this.#passing) this.#finish(trailers);
    else if (trailers === null) this.#send(direction.bodyMessage(NOTHING, true));
    else this.#send(direction.trailersMessage(trailerList(trailers)));
    this.#balance();
  }

  onError(error: Error): void {
    if (this.#over) return;
    this.#stop();
    this.#sourceEnded = true;
    this.cut = new BodyCut(error);
    this.out.fail(error);
    const { conversation, direction } = this.#turn.parts;
    conversation.cancel(`the ${direction.side} body was cut`);
  }

  // ── the service ──

  onReply(reply: Reply): void {
    if (this.#over) return;
    const { conversation } = this.#turn.parts;
    conversation.ignoreExtras(reply);
    if (reply.part === 'body') this.#onPiece(reply.bodyMutation?.streamedResponse);
    else if (reply.part === 'trailers' && this.#trailers !== null)
      this.#finish(mutateTrailers(this.#trailers, reply.headerMutation));
    else conversation.breach(`answered a body with ${reply.part}`);
  }

  onEnded(ended: Ended): void {
    if (this.#over || this.#passing) return;
    const { conversation, failOpen } = this.#turn.parts;
    if (failOpen && !this.sent && ended.immediate === null) {
      conversation.skipped = true;
      this.pass();
      return;
    }
    this.#stop();
    conversation.cut = true;
    this.out.fail(ended);
    if (!this.#sourceEnded) this.#source.cancel();
  }

  /** A body that streams is answered in pieces; another answer would leave open which bytes it is about. */
  #onPiece(piece: { readonly body?: Uint8Array; readonly endOfStream?: boolean } | undefined): void {
    const { conversation } = this.#turn.parts;
    if (piece === undefined) {
      conversation.breach('answered a streamed body with another answer than a streamed one');
      return;
    }
    if (piece.body !== undefined) this.out.push(piece.body);
    // With trailers the end comes with the answer to those.
    if (piece.endOfStream === true && this.#trailers === null) this.#finish(null);
    else if (this.out.waitingBytes > MAX_SURPLUS + conversation.maxMessageBytes)
      conversation.breach('sent more than can be held');
    else this.#balance();
  }

  #sendPieces(chunk: Uint8Array): void {
    const { direction } = this.#turn.parts;
    for (let at = 0; at < chunk.byteLength && !this.#over; at += PIECE_BYTES) {
      const sent = this.#send(direction.bodyMessage(chunk.subarray(at, at + PIECE_BYTES), false));
      if (sent) this.sent = true;
      else if (this.#passing) {
        this.out.push(chunk.subarray(at));
        return;
      }
    }
  }

  #send(message: ProcessingRequest): boolean {
    try {
      this.#turn.send(message);
      return true;
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
      this.onEnded(error);
      return false;
    }
  }

  /** Lets the source flow as far as both ends take it. */
  #balance(): void {
    if (this.#over) return;
    const { conversation, direction } = this.#turn.parts;
    conversation.hold(direction.side, this.out.waitingBytes > MAX_SURPLUS);
    this.#watch();
    if (this.#sourceEnded) return;
    const rest = (!this.#passing && conversation.full) || this.out.waitingBytes > MAX_WAITING;
    if (!this.#flows) {
      if (rest) return;
      this.#flows = true;
      this.#source.pipe(this);
    } else if (rest !== this.#resting) {
      this.#resting = rest;
      if (rest) this.#source.pause();
      else this.#source.resume();
    }
  }

  /** Once it has the whole body, the service has as long for each piece as for any other answer. */
  #watch(): void {
    this.#unwatch?.();
    const waits = this.#sourceEnded && !this.#passing && this.out.waitingBytes === 0;
    this.#unwatch = waits ? this.#turn.parts.conversation.watch() : null;
  }

  #stop(): void {
    this.#over = true;
    this.#unwatch?.();
    this.#unwatch = null;
  }

  /** The service has said the end; what the source still has is of no use. */
  #finish(trailers: Headers | null): void {
    if (this.#over) return;
    // First: with the last byte the exchange may be over, which cuts what is still said.
    this.#giveUp();
    this.out.end(trailers);
  }

  /** Nothing more is to come, or to be taken. */
  #giveUp(): void {
    if (this.#over) return;
    this.#stop();
    const { conversation, direction } = this.#turn.parts;
    if (!this.#sourceEnded) this.#source.cancel();
    conversation.hold(direction.side, false);
    this.#turn.done();
  }
}

const NOTHING = new Uint8Array(0);
