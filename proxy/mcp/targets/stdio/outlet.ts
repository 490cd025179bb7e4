import type { RpcMessage } from '../../message/message.ts';
import type { CallSink, TargetFailure } from '../contract.ts';

/** What may wait for one client before its program is made to wait. */
const FULL_BYTES = 2 ** 20;

/** The way to one client's call: keeps what comes while the client takes nothing. */
export class Outlet {
  readonly #sink: CallSink;
  readonly #onRoom: () => void;
  #waiting: { readonly message: RpcMessage; readonly bytes: number }[] = [];
  #bytes = 0;
  #paused = false;
  /** Undefined while more may come. */
  #end: TargetFailure | null | undefined = undefined;
  #done = false;

  /** `onRoom` is called when an outlet that was full is full no more. */
  constructor(sink: CallSink, onRoom: () => void) {
    this.#sink = sink;
    this.#onRoom = onRoom;
  }

  get full(): boolean {
    return this.#bytes >= FULL_BYTES && !this.#done && this.#end === undefined;
  }

  push(message: RpcMessage, bytes: number): void {
    if (this.#done || this.#end !== undefined) return;
    if (!this.#paused && this.#waiting.length === 0) {
      this.#sink.onMessage(message);
      return;
    }
    this.#waiting.push({ message, bytes });
    this.#bytes += bytes;
  }

  /** Nothing comes any more once the client has taken what waits. */
  end(failure: TargetFailure | null): void {
    if (this.#done || this.#end !== undefined) return;
    this.#end = failure;
    this.#flow();
  }

  /** Nothing is delivered any more. */
  close(): void {
    this.#done = true;
    this.#waiting = [];
    this.#bytes = 0;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    const { full } = this;
    this.#flow();
    if (full && !this.full) this.#onRoom();
  }

  #flow(): void {
    while (!this.#paused && !this.#done) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#bytes -= next.bytes;
      this.#sink.onMessage(next.message);
    }
    if (this.#paused || this.#done || this.#end === undefined) return;
    this.#done = true;
    this.#sink.onEnd(this.#end);
  }
}
