import type { BodyMutation, CommonResponse, HeaderMutation, ProcessingMode } from '../../services/messages/process.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import { Ended } from './ended.ts';

/** What the service said to one message. */
export interface Reply {
  readonly part: 'headers' | 'body' | 'trailers';
  readonly headerMutation: HeaderMutation | null;
  readonly bodyMutation: BodyMutation | null;
  readonly dynamicMetadata: JsonObject | null;
  readonly modeOverride: ProcessingMode | null;
}

export interface LaneListener {
  onReply(reply: Reply): void;
  onEnded(ended: Ended): void;
}

/** Replies that nobody has asked for yet. */
const MAX_WAITING = 64;

/** The replies of one direction, one after the other: awaited one by one, or listened to once a body streams. */
export class Lane {
  readonly #replies: Reply[] = [];
  #ended: Ended | null = null;
  #waiting: { resolve: (reply: Reply) => void; reject: (ended: Ended) => void } | null = null;
  #listener: LaneListener | null = null;
  /** Something of this direction was sent. */
  open = false;
  /** Nothing more is expected. */
  done = false;

  /** Somebody waits for the service. */
  get busy(): boolean {
    return this.#waiting !== null || (this.#listener !== null && !this.done);
  }

  /** Rejects with `Ended`. */
  next(): Promise<Reply> {
    const reply = this.#replies.shift();
    if (reply !== undefined) return Promise.resolve(reply);
    if (this.#ended !== null) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  /** Every reply from now on, those that wait first. */
  listen(listener: LaneListener): void {
    this.#listener = listener;
    for (const reply of this.#replies.splice(0)) listener.onReply(reply);
    if (this.#ended !== null) listener.onEnded(this.#ended);
  }

  /** Tells whether the reply was to be expected. */
  push(reply: Reply): boolean {
    if (this.done) return true;
    if (!this.open) return false;
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) waiting.resolve(reply);
    else if (this.#listener !== null) this.#listener.onReply(reply);
    else this.#replies.push(reply);
    return this.#replies.length <= MAX_WAITING;
  }

  end(ended: Ended): void {
    this.#ended ??= ended;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(ended);
    if (!this.done) this.#listener?.onEnded(ended);
  }
}

/** Plain replies of headers and bodies. */
export function commonReply(
  part: 'headers' | 'body',
  { response }: { readonly response?: CommonResponse | null },
  rest: Pick<Reply, 'dynamicMetadata' | 'modeOverride'>,
): Reply {
  const { headerMutation = null, bodyMutation = null } = response ?? {};
  return { part, headerMutation, bodyMutation, ...rest };
}
