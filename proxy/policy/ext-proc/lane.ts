import type { Ended } from './ended.ts';
import type { Reply } from './reply.ts';

export interface LaneListener {
  onReply(reply: Reply): void;
  onEnded(ended: Ended): void;
}

/** Replies that nobody has asked for yet; one or two may come early, more are no conversation. */
const MAX_EARLY = 16;

/** The replies of one direction, one after the other: awaited one by one, or listened to where one message has many. */
export class Lane {
  readonly #early: Reply[] = [];
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

  /** The next reply, also when somebody listens. Rejects with `Ended`. */
  next(): Promise<Reply> {
    const reply = this.#early.shift();
    if (reply !== undefined) return Promise.resolve(reply);
    if (this.#ended !== null) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  /** Every reply from now on that nobody awaits, those that came early first; null listens no more. */
  listen(listener: LaneListener | null): void {
    this.#listener = listener;
    if (listener === null) return;
    for (const reply of this.#early.splice(0)) listener.onReply(reply);
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
    else this.#early.push(reply);
    return this.#early.length <= MAX_EARLY;
  }

  end(ended: Ended): void {
    if (this.#ended !== null) return;
    this.#ended = ended;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(ended);
    if (!this.done) this.#listener?.onEnded(ended);
  }
}
