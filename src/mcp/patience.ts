/** How long an answer may take, from the first `renew` on; the time in which a person is asked does not count. */
export class Patience {
  readonly #waitMs: number;
  readonly #onEnd: () => void;
  #timer: NodeJS.Timeout | undefined;
  #held = 0;

  constructor(waitMs: number, onEnd: () => void) {
    this.#waitMs = waitMs;
    this.#onEnd = onEnd;
  }

  /** A question was sent, or something came: the time begins anew. */
  renew(): void {
    clearTimeout(this.#timer);
    if (this.#held === 0) this.#timer = setTimeout(this.#onEnd, this.#waitMs);
  }

  /** Waits as long as it takes for what a person does. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#held += 1;
    clearTimeout(this.#timer);
    try {
      return await work();
    } finally {
      this.#held -= 1;
      this.renew();
    }
  }

  end(): void {
    this.#held += 1;
    clearTimeout(this.#timer);
  }
}
