import { formatDuration } from '../../../src/shared/duration.ts';
import { StreamStalled } from '../../exchange/stream-stalled.ts';
import type { Clock } from '../../exchange/wait.ts';

export interface IdleLimit {
  readonly clock: Clock;
  /** Longest time without a byte from the upstream, milliseconds. */
  readonly streamIdleTimeoutMs: number;
}

/**
 * Tells when an upstream has sent nothing for too long. One that is not asked for more is waited for; any other has to send
 * something now and then. One timer for a stream, however many pieces it has.
 */
export class IdleWatch {
  readonly #limit: IdleLimit;
  readonly #onStalled: (error: StreamStalled) => void;
  #movedAt: number;
  #paused = false;
  #unschedule: () => void;

  constructor(limit: IdleLimit, onStalled: (error: StreamStalled) => void) {
    this.#limit = limit;
    this.#onStalled = onStalled;
    this.#movedAt = limit.clock.now();
    this.#unschedule = limit.clock.schedule(this.#look, limit.streamIdleTimeoutMs);
  }

  moved(): void {
    this.#movedAt = this.#limit.clock.now();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.moved();
  }

  /** Nothing is waited for any more. */
  stop(): void {
    this.#unschedule();
  }

  readonly #look = (): void => {
    const { clock, streamIdleTimeoutMs } = this.#limit;
    const now = clock.now();
    if (this.#paused) this.#movedAt = now;
    const left = this.#movedAt + streamIdleTimeoutMs - now;
    if (left > 0) this.#unschedule = clock.schedule(this.#look, left);
    else this.#onStalled(new StreamStalled(`nothing came for ${formatDuration(streamIdleTimeoutMs)}`));
  };
}
