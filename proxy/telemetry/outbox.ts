/** Items of one kind on their way to the control thread, with how many were lost just behind them. */
export interface Batch<T> {
  readonly items: readonly T[];
  readonly dropped: number;
}

export interface OutboxOptions<T> {
  /** Hands a batch over; the receiver calls `acknowledge` when it has dealt with it. */
  readonly post: (batch: Batch<T>) => void;
  readonly sizeOf: (item: T) => number;
  /** Items and bytes that may wait; what comes when it is full is counted and dropped. */
  readonly maxItems: number;
  readonly maxBytes: number;
  /** Posts at once when this much has gathered. */
  readonly batchBytes: number;
  /** Longest stay of an item before it is posted, milliseconds. */
  readonly delayMs: number;
}

/** At most this many batches are under way; the rest gathers here, where it is bounded. */
const MAX_UNACKNOWLEDGED = 4;

/** Gathers items into batches, so that a message between threads carries many, and never holds more than its bounds. */
export class Outbox<T> {
  readonly #options: OutboxOptions<T>;
  #items: T[] = [];
  #bytes = 0;
  #dropped = 0;
  #underWay = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: OutboxOptions<T>) {
    this.#options = options;
  }

  /** False when the item was dropped. */
  push(item: T): boolean {
    const size = this.#options.sizeOf(item);
    if (this.#items.length >= this.#options.maxItems || this.#bytes + size > this.#options.maxBytes) {
      this.#dropped += 1;
      return false;
    }
    this.#items.push(item);
    this.#bytes += size;
    if (this.#bytes >= this.#options.batchBytes) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), this.#options.delayMs).unref();
    return true;
  }

  /** For the few items that must arrive (the end of something): queued even when full. */
  force(item: T): void {
    this.#items.push(item);
    this.#bytes += this.#options.sizeOf(item);
    this.#timer ??= setTimeout(() => this.flush(), this.#options.delayMs).unref();
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#items.length === 0 || this.#underWay >= MAX_UNACKNOWLEDGED) return;
    const batch = { items: this.#items, dropped: this.#dropped };
    this.#items = [];
    this.#bytes = 0;
    this.#dropped = 0;
    this.#underWay += 1;
    this.#options.post(batch);
  }

  /** The receiver is ready for another batch. */
  acknowledge(): void {
    if (this.#underWay > 0) this.#underWay -= 1;
    this.flush();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
