import type { Body, BodySink } from './body.ts';
import type { Headers } from './headers.ts';
import { HoldingBody } from './holding-body.ts';

/** What is kept of a request body for another attempt. */
const REPLAY_LIMIT_BYTES = 64 * 1024;

/**
 * A request body that can be sent again: what flows is recorded up to a limit. Each attempt gets its own body; the one
 * before is detached and may be cancelled without losing the source. `seal` when no attempt will follow.
 */
export class ReplayableBody implements BodySink {
  readonly #source: Body;
  readonly #limitBytes: number;
  #recorded: Uint8Array[] = [];
  #recordedBytes = 0;
  #lost: boolean;
  #piped = false;
  #sealed = false;
  #ended = false;
  #trailers: Headers | null = null;
  #error: Error | null = null;
  #current: HoldingBody | null = null;

  constructor(source: Body, limitBytes = REPLAY_LIMIT_BYTES) {
    this.#source = source;
    this.#limitBytes = limitBytes;
    this.#lost = (source.length ?? 0) > limitBytes;
  }

  /** Nothing of the body has been lost, so another attempt can send all of it. */
  get canReplay(): boolean {
    return !this.#lost && !this.#sealed && this.#error === null;
  }

  /** The body for the next attempt: what was recorded, then what still flows. Only the first may be taken if `canReplay` is false. */
  attempt(): Body {
    const own = (): boolean => this.#current === attempt;
    const attempt: HoldingBody = new HoldingBody(
      {
        length: this.#source.length,
        pause: () => (own() && this.#piped ? this.#source.pause() : undefined),
        resume: () => (own() ? this.#flow() : undefined),
        cancel: () => (own() ? this.#detach() : undefined),
      },
      this.#recorded.slice(),
    );
    this.#current = attempt;
    if (this.#error !== null) attempt.onError(this.#error);
    else if (this.#ended) attempt.onEnd(this.#trailers);
    return attempt;
  }

  /** No attempt will follow: recording ends, and cancelling reaches the source. */
  seal(): void {
    if (this.#sealed) return;
    this.#sealed = true;
    this.#recorded = [];
    if (this.#current === null && !this.#ended && this.#error === null) this.#source.cancel();
  }

  onData(chunk: Uint8Array): void {
    if (!this.#lost && !this.#sealed) this.#record(chunk);
    this.#current?.onData(chunk);
  }

  onEnd(trailers: Headers | null): void {
    this.#ended = true;
    this.#trailers = trailers;
    this.#current?.onEnd(trailers);
  }

  onError(error: Error): void {
    this.#error = error;
    this.#current?.onError(error);
  }

  #record(chunk: Uint8Array): void {
    this.#recordedBytes += chunk.byteLength;
    if (this.#recordedBytes > this.#limitBytes) {
      this.#lost = true;
      this.#recorded = [];
    } else {
      this.#recorded.push(chunk);
    }
  }

  #flow(): void {
    if (this.#piped) {
      this.#source.resume();
      return;
    }
    this.#piped = true;
    this.#source.pipe(this);
  }

  #detach(): void {
    this.#current = null;
    if (this.#sealed || !this.canReplay) this.#source.cancel();
    else if (this.#piped && !this.#ended) this.#source.pause();
  }
}
