import type { Clock } from '../../../exchange/wait.ts';

const FIRST_MS = 250;
const MOST_MS = 30_000;

/** When something that fails at once may be tried again: longer after each failure, at once after a success. */
export class Backoff {
  readonly #clock: Clock;
  #failures = 0;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the next try. */
  get leftMs(): number {
    return Math.max(0, this.#notBefore - this.#clock.now());
  }

  failed(): void {
    this.#notBefore = this.#clock.now() + Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(this.#failures, 16));
    this.#failures += 1;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBefore = Number.NEGATIVE_INFINITY;
  }
}
