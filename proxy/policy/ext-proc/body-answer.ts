import type { HeaderMutation } from '../../services/messages/process.ts';
import type { Ended } from './ended.ts';
import type { LaneListener } from './lane.ts';
import type { Reply } from './reply.ts';

/** What the service makes of a body that it was sent in one message. */
export interface BodyAnswer {
  readonly headers: HeaderMutation | null;
  /** Null keeps the body. */
  readonly body: Uint8Array | null;
  /** Whether a length that the headers announce has to be that of `body`. */
  readonly mustFit: boolean;
}

interface Answering {
  /** What is taken of pieces. */
  readonly maxBytes: number;
  /** The service does not keep to the protocol; `onEnded` follows. */
  readonly breach: (message: string) => void;
  readonly resolve: (answer: BodyAnswer) => void;
  readonly reject: (ended: Ended) => void;
}

/** Reads the answer to a body in one message: one reply, or pieces up to one that says that it is the last. */
export class BodyAnswerReader implements LaneListener {
  readonly #parts: Answering;
  #headers: HeaderMutation | null = null;
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;
  #streams = false;

  constructor(parts: Answering) {
    this.#parts = parts;
  }

  onReply({ part, headerMutation, bodyMutation }: Reply): void {
    const { breach, resolve } = this.#parts;
    if (part !== 'body') {
      breach(`answered a body with ${part}`);
      return;
    }
    this.#headers ??= headerMutation;
    const streamed = bodyMutation?.streamedResponse;
    if (streamed !== undefined) this.#take(streamed.body, streamed.endOfStream === true);
    else if (this.#streams) breach('broke a streamed answer off');
    else if (bodyMutation?.clearBody === true) resolve({ headers: this.#headers, body: NOTHING, mustFit: false });
    else resolve({ headers: this.#headers, body: bodyMutation?.body ?? null, mustFit: true });
  }

  onEnded(ended: Ended): void {
    this.#parts.reject(ended);
  }

  #take(piece: Uint8Array | undefined, last: boolean): void {
    const { maxBytes, breach, resolve } = this.#parts;
    this.#streams = true;
    if (piece !== undefined && piece.byteLength > 0) this.#pieces.push(piece);
    this.#bytes += piece?.byteLength ?? 0;
    if (this.#bytes > maxBytes) breach(`sent a body of more than ${maxBytes} bytes`);
    else if (last) resolve({ headers: this.#headers, body: Buffer.concat(this.#pieces), mustFit: false });
  }
}

const NOTHING = new Uint8Array(0);
