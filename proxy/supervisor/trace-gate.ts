const ACTIVE = 0;
const FOLLOWERS = 1;
const FIRST_SLOT = 2;
const SLOTS = 64;
/** Behind the tickets: what each slot waits for. */
const FIRST_FILTER = FIRST_SLOT + SLOTS;

/** The filter of who takes any request. */
export const ANY = 0;

/** Returned by `claim` when no waiting watcher wants the request. */
export const NO_SLOT = -1;

/**
 * Tells every data thread, in one shared number, whether anybody watches traces, and lets exactly one thread take a
 * watcher that wants one request. Slots hold the ticket of a waiting watcher, or 0; the lowest ticket waited longest.
 * Beside it stands the number of the filter that a request has to pass.
 */
export class TraceGate {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: Int32Array;
  /** Slots given out by the control side, waiting or claimed. */
  readonly #reserved = new Set<number>();
  #tickets = 0;

  constructor(
    buffer: SharedArrayBuffer = new SharedArrayBuffer((FIRST_FILTER + SLOTS) * Int32Array.BYTES_PER_ELEMENT),
  ) {
    this.buffer = buffer;
    this.#cells = new Int32Array(buffer);
  }

  /** Data threads ask this once per request; a plain read, a moment late is good enough. */
  watched(): boolean {
    return this.#cells[ACTIVE] !== 0;
  }

  /** Somebody follows every request. */
  followed(): boolean {
    return Atomics.load(this.#cells, FOLLOWERS) > 0;
  }

  /** Data threads: takes the watcher that has waited longest for such a request; its slot, or `NO_SLOT`. */
  claim(passes: (filter: number) => boolean): number {
    for (;;) {
      const slot = this.#oldest(passes);
      if (slot === NO_SLOT) return NO_SLOT;
      const ticket = Atomics.load(this.#cells, FIRST_SLOT + slot);
      if (ticket !== 0 && this.#take(slot, ticket)) return slot;
    }
  }

  /** Control thread: registers a watcher of one request; its slot, or `NO_SLOT` when too many wait. */
  wait(filter: number = ANY): number {
    for (let slot = 0; slot < SLOTS; slot++) {
      if (this.#reserved.has(slot)) continue;
      this.#reserved.add(slot);
      this.#tickets += 1;
      Atomics.store(this.#cells, FIRST_FILTER + slot, filter);
      Atomics.store(this.#cells, FIRST_SLOT + slot, this.#tickets);
      Atomics.add(this.#cells, ACTIVE, 1);
      return slot;
    }
    return NO_SLOT;
  }

  /** Control thread: the watcher of a slot has gone; true when no thread had claimed it. */
  withdraw(slot: number): boolean {
    const ticket = Atomics.load(this.#cells, FIRST_SLOT + slot);
    return ticket !== 0 && this.#take(slot, ticket);
  }

  /** Control thread: the slot may be used again. A claimed slot is released when its trace has ended. */
  release(slot: number): void {
    this.#reserved.delete(slot);
  }

  /** Followers with a filter do not count as those who follow every request: data threads know their filters. */
  follow(filter: number = ANY): void {
    if (filter === ANY) Atomics.add(this.#cells, FOLLOWERS, 1);
    Atomics.add(this.#cells, ACTIVE, 1);
  }

  unfollow(filter: number = ANY): void {
    if (filter === ANY) Atomics.sub(this.#cells, FOLLOWERS, 1);
    Atomics.sub(this.#cells, ACTIVE, 1);
  }

  #take(slot: number, ticket: number): boolean {
    if (Atomics.compareExchange(this.#cells, FIRST_SLOT + slot, ticket, 0) !== ticket) return false;
    Atomics.sub(this.#cells, ACTIVE, 1);
    return true;
  }

  #oldest(passes: (filter: number) => boolean): number {
    let found = NO_SLOT;
    let lowest = Number.POSITIVE_INFINITY;
    for (let slot = 0; slot < SLOTS; slot++) {
      const ticket = Atomics.load(this.#cells, FIRST_SLOT + slot);
      if (ticket === 0 || ticket >= lowest) continue;
      const filter = Atomics.load(this.#cells, FIRST_FILTER + slot);
      // A slot that changes hands meanwhile has another ticket, and is not taken with this one.
      if (filter === ANY || passes(filter)) {
        lowest = ticket;
        found = slot;
      }
    }
    return found;
  }
}
