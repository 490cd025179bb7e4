import type { Clock } from '../../../exchange/wait.ts';

const FIRST_MS = 250;
const MOST_MS = 30_000;

/** When something that fails at once may be tried again: longer after each failure, at once after a success. */
export class Backoff {
  readonly #clock: Clock;
  readonly #forgiven: number;
  #failures = 0;
  #notBefore = Number.NEGATIVE_INFINITY;
  #reason = '';

  /** So many failures in a row cost no time. */
  constructor(clock: Clock, forgiven = 0) {
    this.#clock = clock;
    this.#forgiven = forgiven;
  }

  /** Milliseconds until the next try. */
  get leftMs(): number {
    return Math.max(0, this.#notBefore - this.#clock.now());
  }

  /** Why it failed last, in words. */
  get reason(): string {
    return this.#reason;
  }

  failed(reason = ''): void {
    this.#reason = reason;
    const counted = this.#failures - this.#forgiven;
    this.#failures += 1;
    if (counted >= 0) this.#notBefore = this.#clock.now() + Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(counted, 16));
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBefore = Number.NEGATIVE_INFINITY;
  }
}
