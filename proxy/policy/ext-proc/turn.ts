import type { JsonObject } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Headers } from '../../exchange/headers.ts';
import type { HeaderMutation, ProcessingRequest } from '../../services/messages/process.ts';
import { type BodyAnswer, BodyAnswerReader } from './body-answer.ts';
import type { Conversation } from './conversation.ts';
import type { Direction } from './direction.ts';
import { BodyCut, Ended } from './ended.ts';
import { trailerList } from './header-list.ts';
import type { Reply } from './reply.ts';
import type { SideModes } from './modes.ts';
import { mutateTrailers } from './mutation.ts';

export interface TurnParts {
  readonly conversation: Conversation;
  readonly exchange: Exchange;
  readonly direction: Direction;
  readonly attributes: JsonObject;
  /** A failure before any byte of the body was sent is forgiven. */
  readonly failOpen: boolean;
  /** Gives waiting up. */
  readonly signal: AbortSignal;
}

/** One direction's part of the conversation: messages there, replies back, and what was changed. */
export class Turn {
  readonly parts: TurnParts;
  /** What was changed, for traces. */
  readonly changes: string[] = [];
  /** Some bytes of the body were sent in one message. */
  bodySent = false;
  #first: JsonObject | null;

  constructor(parts: TurnParts) {
    this.parts = parts;
    this.#first = parts.attributes;
  }

  /** As they are now: the service may change them in its reply to headers. */
  get modes(): SideModes {
    const { conversation, direction } = this.parts;
    return conversation.modes(direction.side);
  }

  get limitBytes(): number {
    return this.parts.conversation.settings.maxBufferBytes;
  }

  /** Aborted when the body need not be read any more. */
  get reading(): AbortSignal {
    return AbortSignal.any([this.parts.signal, this.parts.conversation.stop.signal]);
  }

  /** Nothing more is asked. */
  done(): void {
    const { conversation, direction } = this.parts;
    conversation.done(direction.side);
  }

  /** Throws `Ended`. */
  send(message: ProcessingRequest): void {
    const { conversation, direction } = this.parts;
    conversation.send(direction.side, message, this.#first);
    this.#first = null;
  }

  /** Rejects with `Ended`. */
  async reply(part: Reply['part']): Promise<Reply> {
    const { conversation, direction } = this.parts;
    const reply = await conversation.within(conversation[direction.side].next());
    if (reply.part !== part) throw this.breach(`answered ${part} with ${reply.part}`);
    if (part !== 'headers') conversation.ignoreExtras(reply);
    return reply;
  }

  /** The reply to headers changes the head, what is known of the request, and the modes of what follows. */
  takeHeaders(reply: Reply): void {
    const { conversation, exchange, direction } = this.parts;
    this.mutate(reply.headerMutation);
    if (reply.dynamicMetadata !== null) {
      exchange.attributes.extproc = { ...exchange.attributes.extproc, ...reply.dynamicMetadata };
      this.changes.push(`${count(Object.keys(reply.dynamicMetadata).length, 'value')} of metadata`);
    }
    conversation.override(reply, direction.side);
  }

  mutate(mutation: HeaderMutation | null): void {
    this.parts.direction.mutate(mutation);
    const set = mutation?.setHeaders?.length ?? 0;
    const removed = mutation?.removeHeaders?.length ?? 0;
    if (set > 0) this.changes.push(`${count(set, 'header')} set`);
    if (removed > 0) this.changes.push(`${count(removed, 'header')} removed`);
  }

  /** Sends a body in one message. Rejects with `Ended`. */
  async body(bytes: Uint8Array, endOfStream: boolean): Promise<BodyAnswer> {
    const { conversation, direction } = this.parts;
    this.send(direction.bodyMessage(bytes, endOfStream));
    if (bytes.byteLength > 0) this.bodySent = true;
    const lane = conversation[direction.side];
    const breach = (message: string): void => conversation.breach(message);
    const answering = new Promise<BodyAnswer>((resolve, reject) =>
      lane.listen(new BodyAnswerReader({ maxBytes: this.limitBytes, breach, resolve, reject })),
    );
    const answer = await conversation.within(answering);
    lane.listen(null);
    if (answer.body !== null) this.changes.push(`body replaced by ${count(answer.body.byteLength, 'byte')}`);
    return answer;
  }

  /** Sends trailers; gives those that go on. Rejects with `Ended`. */
  async trailers(trailers: Headers): Promise<Headers> {
    this.send(this.parts.direction.trailersMessage(trailerList(trailers)));
    const { headerMutation } = await this.reply('trailers');
    return mutateTrailers(trailers, headerMutation);
  }

  /** The service does not keep to the protocol. */
  breach(message: string): Ended {
    const { conversation } = this.parts;
    conversation.breach(message);
    return conversation.ended ?? new Ended(message);
  }

  /** Reading the body has failed: by itself, or because nobody needs it any more. */
  cutBy(error: Error): Error {
    const { ended } = this.parts.conversation;
    return error === ended ? ended : new BodyCut(error);
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
