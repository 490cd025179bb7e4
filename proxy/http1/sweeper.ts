/** Something with deadlines that need no precision. */
export interface Swept {
  /** `now` in milliseconds of `performance.now()`. */
  sweep(now: number): void;
}

/**
 * One timer for all idle limits of a thread: connections note when they last moved, and are asked now and then.
 * A timer per connection and request would cost more than the request.
 */
export class Sweeper {
  readonly #members = new Set<Swept>();
  readonly #timer: NodeJS.Timeout;
  /** The time of the last sweep: a clock that costs nothing to read, half a second coarse. */
  now = performance.now();

  constructor(intervalMs = 500) {
    this.#timer = setInterval(() => this.sweep(performance.now()), intervalMs);
    this.#timer.unref();
  }

  add(member: Swept): void {
    this.#members.add(member);
  }

  remove(member: Swept): void {
    this.#members.delete(member);
  }

  sweep(now: number): void {
    this.now = now;
    for (const member of this.#members) member.sweep(now);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#members.clear();
  }
}
