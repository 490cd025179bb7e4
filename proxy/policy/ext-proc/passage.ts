import type { Conversation } from './conversation.ts';
import type { Direction } from './direction.ts';
import { DuplexBody } from './duplex-body.ts';
import type { Ended } from './ended.ts';
import { passBeginning, passWhole } from './held-body.ts';
import type { Reply } from './reply.ts';
import { mayHaveTrailers, passTrailers } from './trailers-body.ts';
import { Turn, type TurnParts } from './turn.ts';

/** What a message asks for: nothing, when none of its parts is to be sent. */
export function asksAnything(conversation: Conversation, { side, hasBody, message }: Direction): boolean {
  const { headers, body, trailers } = conversation.modes(side);
  if (headers === 'send') return true;
  return hasBody && (body !== 'none' || (trailers === 'send' && mayHaveTrailers(message.body)));
}

/**
 * One message, request or response, on its way past the service: head, body and trailers in turn, as the modes say. What
 * streams goes on after `run`.
 */
export class Passage {
  readonly #turn: Turn;
  #duplex: DuplexBody | null = null;

  constructor(parts: TurnParts) {
    this.#turn = new Turn(parts);
  }

  /** What was changed, for traces. */
  get changes(): readonly string[] {
    return this.#turn.changes;
  }

  /** Whether the message can still go on as it came: the service has got no byte of its body. */
  get untouched(): boolean {
    return !this.#turn.bodySent && this.#duplex?.sent !== true;
  }

  /** Resolves when the message may go on. Rejects with `Ended` or `BodyCut`. */
  async run(): Promise<void> {
    const { direction } = this.#turn.parts;
    const { headers, body } = this.#turn.modes;
    if (headers === 'send') {
      this.#turn.send(direction.headersMessage(!direction.hasBody));
      if (direction.hasBody && body === 'fullDuplexStreamed') this.#stream();
      this.#turn.takeHeaders(await this.#headersReply());
    }
    if (direction.hasBody) await this.#passBody(headers === 'send');
    else this.#turn.done();
    this.#settleLength();
  }

  /** The message goes on as it came. */
  pass(): void {
    if (this.#duplex === null) return;
    this.#duplex.pass();
    this.#turn.parts.direction.message.body = this.#duplex.out;
  }

  /** Nothing goes on: what was begun is given up. */
  abandon(ended: Ended): void {
    this.#duplex?.onEnded(ended);
  }

  /** A body that is cut meanwhile is what ends the conversation, not the service. */
  async #headersReply(): Promise<Reply> {
    try {
      return await this.#turn.reply('headers');
    } catch (error) {
      throw this.#duplex?.cut ?? error;
    }
  }

  async #passBody(announced: boolean): Promise<void> {
    // An answer to the headers may have changed the mode, but not of a body that streams.
    switch (this.#duplex === null ? this.#turn.modes.body : 'fullDuplexStreamed') {
      case 'none':
        passTrailers(this.#turn);
        return;
      case 'buffered':
        await passWhole(this.#turn, announced);
        return;
      case 'bufferedPartial':
        await passBeginning(this.#turn);
        return;
      case 'fullDuplexStreamed':
        this.#handOver();
    }
  }

  /** Pieces go to the service from now on; nothing is waited for. */
  #stream(): DuplexBody {
    const duplex = new DuplexBody(this.#turn);
    this.#duplex = duplex;
    duplex.begin();
    return duplex;
  }

  /** What the service sends back goes on. */
  #handOver(): void {
    const { message } = this.#turn.parts.direction;
    const duplex = this.#duplex ?? this.#stream();
    message.headers.remove('content-length');
    message.body = duplex.out;
    this.#turn.changes.push('body streams through the service');
  }

  /** The field follows the body that leaves. */
  #settleLength(): void {
    const { message, hasBody } = this.#turn.parts.direction;
    const { length } = message.body;
    if (hasBody && length !== null && message.headers.has('content-length'))
      message.headers.set('content-length', String(length));
  }
}
