import type { Body } from '../../exchange/body.ts';
import { BufferedBody } from '../../exchange/body.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import { collect } from '../../exchange/collect.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Headers } from '../../exchange/headers.ts';
import { peekBody } from '../../exchange/peek.ts';
import type { HeaderMutation } from '../../services/messages/process.ts';
import type { Conversation } from './conversation.ts';
import { DuplexBody } from './duplex-body.ts';
import { BodyCut, Ended } from './ended.ts';
import { trailerList } from './header-list.ts';
import type { Reply } from './lane.ts';
import type { Direction } from './direction.ts';
import { mutateTrailers } from './mutation.ts';
import { ReplacedStart } from './replaced-start.ts';
import { TrailersBody } from './trailers-body.ts';

export interface PassageParts {
  readonly conversation: Conversation;
  readonly exchange: Exchange;
  readonly direction: Direction;
  readonly attributes: JsonObject;
  /** A failure before any byte of the body was sent is forgiven. */
  readonly failOpen: boolean;
  /** Gives waiting up. */
  readonly signal: AbortSignal;
}

/** What a message asks for: nothing, when none of its parts is to be sent. */
export function asksAnything({ conversation, direction }: Pick<PassageParts, 'conversation' | 'direction'>): boolean {
  const { headers, body, trailers } = conversation.modes(direction.side);
  if (headers === 'send') return true;
  return direction.hasBody && (body !== 'none' || (trailers === 'send' && mayHaveTrailers(direction.message.body)));
}

/**
 * One message, request or response, on its way past the service: head, body and trailers in turn, as the modes say. What
 * streams goes on after `run`.
 */
export class Passage {
  readonly #parts: PassageParts;
  #first: JsonObject | null;
  #duplex: DuplexBody | null = null;
  #bodySent = false;
  /** What was changed, for traces. */
  readonly changes: string[] = [];

  constructor(parts: PassageParts) {
    this.#parts = parts;
    this.#first = parts.attributes;
  }

  /** Whether the message can still go on as it came: the service has got no byte of its body. */
  get untouched(): boolean {
    return !this.#bodySent && this.#duplex?.sent !== true;
  }

  /** Resolves when the message may go on. Rejects with `Ended` or `BodyCut`. */
  async run(): Promise<void> {
    const { conversation, direction } = this.#parts;
    const { headers, body } = conversation.modes(direction.side);
    if (headers === 'send') {
      this.#send(direction.headersMessage(!direction.hasBody));
      if (direction.hasBody && body === 'fullDuplexStreamed') this.#stream();
      this.#takeHeaders(await this.#next('headers'));
    }
    if (direction.hasBody) await this.#passBody(headers === 'send');
    else conversation.done(direction.side);
    this.#settleLength();
  }

  /** The message goes on as it came. */
  pass(): void {
    if (this.#duplex === null) return;
    this.#duplex.pass();
    this.#parts.direction.message.body = this.#duplex.out;
  }

  /** Nothing goes on: what was begun is given up. */
  abandon(ended: Ended): void {
    this.#duplex?.onEnded(ended);
  }

  async #passBody(announced: boolean): Promise<void> {
    const { conversation, direction } = this.#parts;
    // An answer to the headers may have changed it.
    const mode = this.#duplex === null ? conversation.modes(direction.side).body : 'fullDuplexStreamed';
    switch (mode) {
      case 'none':
        this.#passTrailers();
        return;
      case 'buffered':
        await this.#passBuffered(announced);
        return;
      case 'bufferedPartial':
        await this.#passPartial();
        return;
      case 'fullDuplexStreamed':
        this.#handOver();
    }
  }

  // ── streamed ──

  #stream(): DuplexBody {
    const { conversation, direction, failOpen } = this.#parts;
    const { side, message } = direction;
    const duplex = new DuplexBody({
      conversation,
      side,
      source: message.body,
      failOpen,
      body: (bytes, endOfStream) => direction.bodyMessage(bytes, endOfStream),
      trailers: (list) => direction.trailersMessage(list),
    });
    this.#duplex = duplex;
    duplex.start();
    return duplex;
  }

  #handOver(): void {
    const { conversation, direction } = this.#parts;
    const duplex = this.#duplex ?? this.#stream();
    direction.message.headers.remove('content-length');
    direction.message.body = duplex.out;
    this.changes.push('body streams through the service');
    conversation[direction.side].listen(duplex);
  }

  // ── buffered ──

  async #passBuffered(announced: boolean): Promise<void> {
    const { conversation, direction, signal } = this.#parts;
    const { message, side } = direction;
    const limit = conversation.settings.maxBufferBytes;
    const collected = await collect(message.body, limit, AbortSignal.any([signal, conversation.stop.signal]));
    if (collected.kind === 'failed') throw this.#cutBy(collected.error);
    if (collected.kind === 'overflow') {
      message.body = collected.rest;
      throw new Ended(`the ${side} body is larger than ${limit} bytes`);
    }
    message.body = collected.body;
    const { bytes, trailers } = collected.body;
    const reply = await this.#exchangeWhole(bytes, trailers);
    direction.mutate(reply.headers);
    if (!announced) message.headers.remove('content-length');
    if (reply.streamed) message.headers.remove('content-length');
    if (reply.body !== null) this.#checkLength(reply.body);
    message.body = new BufferedBody(reply.body ?? bytes, reply.trailers);
    conversation.done(side);
  }

  async #passPartial(): Promise<void> {
    const { conversation, direction, signal } = this.#parts;
    const { message, side } = direction;
    const limit = conversation.settings.maxBufferBytes;
    const peeked = await peekBody(message.body, limit, AbortSignal.any([signal, conversation.stop.signal]));
    if (peeked.kind === 'failed') throw this.#cutBy(peeked.error);
    message.body = peeked.body;
    if (peeked.whole) {
      const trailers = peeked.body instanceof BufferedBody ? peeked.body.trailers : null;
      const reply = await this.#exchangeWhole(peeked.bytes, trailers);
      direction.mutate(reply.headers);
      message.body = new BufferedBody(reply.body ?? peeked.bytes, reply.trailers);
      conversation.done(side);
    } else {
      const reply = await this.#exchangeBody(peeked.bytes, false);
      direction.mutate(reply.headers);
      if (reply.body !== null) message.body = new ReplacedStart(peeked.body, peeked.bytes.byteLength, reply.body);
      this.#passTrailers();
    }
    message.headers.remove('content-length');
  }

  /** The whole body, and its trailers where those are wanted. */
  async #exchangeWhole(bytes: Uint8Array, trailers: Headers | null): Promise<BodyReply & { trailers: Headers | null }> {
    const { conversation, direction } = this.#parts;
    const asked = trailers !== null && conversation.modes(direction.side).trailers === 'send';
    const reply = await this.#exchangeBody(bytes, !asked);
    return { ...reply, trailers: asked ? await this.#exchangeTrailers(trailers) : trailers };
  }

  async #exchangeBody(bytes: Uint8Array, endOfStream: boolean): Promise<BodyReply> {
    const { direction } = this.#parts;
    if (bytes.byteLength > 0) this.#bodySent = true;
    this.#send(direction.bodyMessage(bytes, endOfStream));
    const first = await this.#next('body');
    const { headerMutation: headers, bodyMutation: mutation } = first;
    if (mutation?.streamedResponse !== undefined) {
      return { headers, body: await this.#streamedReply(first), streamed: true };
    }
    const body = mutation?.clearBody === true ? new Uint8Array(0) : (mutation?.body ?? null);
    if (body !== null) this.changes.push(`body replaced by ${body.byteLength} bytes`);
    return { headers, body, streamed: false };
  }

  /** A body that comes back in pieces. */
  async #streamedReply(first: Reply): Promise<Uint8Array> {
    const { conversation } = this.#parts;
    const limit = conversation.settings.maxBufferBytes;
    const pieces: Uint8Array[] = [];
    let total = 0;
    for (let reply = first; ; reply = await this.#next('body')) {
      const streamed = reply.bodyMutation?.streamedResponse;
      if (streamed === undefined) throw this.#breach('broke a streamed answer off');
      if (streamed.body !== undefined) pieces.push(streamed.body);
      total += streamed.body?.byteLength ?? 0;
      if (total > limit) throw this.#breach(`sent a body of more than ${limit} bytes`);
      if (streamed.endOfStream === true) break;
    }
    this.changes.push(`body replaced by ${total} bytes`);
    return Buffer.concat(pieces);
  }

  // ── trailers ──

  /** The body passes without the service; its trailers wait for it. */
  #passTrailers(): void {
    const { conversation, direction } = this.#parts;
    const { message, side } = direction;
    if (conversation.modes(side).trailers === 'skip' || !mayHaveTrailers(message.body)) conversation.done(side);
    else message.body = new TrailersBody(message.body, (trailers) => this.#lookAtTrailers(trailers));
  }

  async #lookAtTrailers(trailers: Headers | null): Promise<Headers | null> {
    const { conversation, direction, failOpen } = this.#parts;
    if (trailers === null || conversation.skipped) {
      conversation.done(direction.side);
      return trailers;
    }
    try {
      const passed = await this.#exchangeTrailers(trailers);
      conversation.done(direction.side);
      return passed;
    } catch (error) {
      if (failOpen && this.untouched && error instanceof Ended && error.immediate === null) {
        conversation.skipped = true;
        return trailers;
      }
      conversation.cut = true;
      throw error;
    }
  }

  async #exchangeTrailers(trailers: Headers): Promise<Headers> {
    this.#send(this.#parts.direction.trailersMessage(trailerList(trailers)));
    const { headerMutation } = await this.#next('trailers');
    return mutateTrailers(trailers, headerMutation);
  }

  // ── the conversation ──

  #send(message: ReturnType<Direction['headersMessage']>): void {
    const { conversation, direction } = this.#parts;
    const attributes = this.#first;
    this.#first = null;
    conversation.send(direction.side, message, attributes);
  }

  async #next(part: Reply['part']): Promise<Reply> {
    const { conversation, direction } = this.#parts;
    const reply = await conversation[direction.side].next();
    if (reply.part !== part) throw this.#breach(`answered ${part} with ${reply.part}`);
    if (part !== 'headers' && reply.dynamicMetadata !== null)
      conversation.settings.log.warn('dynamic metadata is only taken from answers to headers', { part });
    return reply;
  }

  #takeHeaders(reply: Reply): void {
    const { conversation, exchange, direction } = this.#parts;
    this.#mutated(reply.headerMutation);
    if (reply.dynamicMetadata !== null) {
      exchange.attributes.extproc = { ...exchange.attributes.extproc, ...reply.dynamicMetadata };
      this.changes.push(`${Object.keys(reply.dynamicMetadata).length} entries of metadata`);
    }
    conversation.override(reply, direction.side);
  }

  #mutated(mutation: HeaderMutation | null): void {
    this.#parts.direction.mutate(mutation);
    const set = mutation?.setHeaders?.length ?? 0;
    const removed = mutation?.removeHeaders?.length ?? 0;
    if (set + removed > 0) this.changes.push(`${set} headers set, ${removed} removed`);
  }

  #breach(message: string): Ended {
    const { conversation } = this.#parts;
    conversation.breach(message);
    return conversation.ended ?? new Ended(message);
  }

  /** Reading the body has failed: by itself, or because nobody needs it any more. */
  #cutBy(error: Error): Error {
    const { ended } = this.#parts.conversation;
    return error === ended ? ended : new BodyCut(error);
  }

  /** A body that was announced has to have the length that was announced. */
  #checkLength(body: Uint8Array): void {
    const { message } = this.#parts.direction;
    const announced = message.headers.get('content-length');
    if (announced === undefined || Number(announced) === body.byteLength) return;
    throw this.#breach(`replaced a body by ${body.byteLength} bytes, but content-length is ${announced}`);
  }

  /** The field follows the body that leaves. */
  #settleLength(): void {
    const { message, hasBody } = this.#parts.direction;
    const { length } = message.body;
    if (hasBody && length !== null && message.headers.has('content-length'))
      message.headers.set('content-length', String(length));
  }
}

interface BodyReply {
  readonly headers: HeaderMutation | null;
  /** Null keeps the body. */
  readonly body: Uint8Array | null;
  readonly streamed: boolean;
}

/** Only bodies without a length can be followed by trailers that are not known yet. */
function mayHaveTrailers(body: Body): boolean {
  return body.length === null || (body instanceof BufferedBody && body.trailers !== null);
}
