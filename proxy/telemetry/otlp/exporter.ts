import type { Clock } from '../../exchange/wait.ts';
import type { Log } from '../../../src/shared/log.ts';
import type { BatchFrame } from './encode.ts';

/** What became of a batch. */
export type Sent =
  /** `rejected` items were taken from the wire but not wanted. */
  | { readonly kind: 'taken'; readonly rejected: number; readonly message: string }
  /** Worth another try, after `afterMs` if the receiver said so. */
  | { readonly kind: 'later'; readonly afterMs: number | null; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

/** Takes a batch to its receiver. Never throws. */
export type Send = (batch: Uint8Array, signal: AbortSignal) => Promise<Sent>;

/** Counts items by what became of them. */
export interface ExportCounts {
  sent(items: number): void;
  /** No room, no receiver within the time for retries, or not wanted by the receiver. */
  dropped(items: number): void;
}

export interface ExporterOptions {
  /** `spans` or `log records`, for the log. */
  readonly what: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: ExportCounts;
  /** 0..1, spreads retries. */
  readonly random: () => number;
}

/** Where and how batches go at the moment; a reload replaces it under the items that wait. */
export interface Destination {
  readonly name: string;
  readonly frame: BatchFrame;
  readonly send: Send;
}

export const EXPORT_LIMITS = {
  /** Items and bytes that may wait; the oldest are dropped for newer ones. */
  queueItems: 8192,
  queueBytes: 8 * 2 ** 20,
  batchItems: 512,
  batchBytes: 2 ** 20,
  /** Longest stay of an item before it is sent, milliseconds. */
  delayMs: 1000,
  firstBackoffMs: 500,
  /** Whatever a receiver asks for. */
  minBackoffMs: 100,
  maxBackoffMs: 30_000,
  /** A batch that found no taker for this long is dropped. */
  retryForMs: 120_000,
} as const;

/**
 * Sends items to one receiver in batches, one at a time. It never makes anybody wait: what does not fit is dropped, oldest
 * first, counted, and told once per outage.
 */
export class Exporter {
  readonly #options: ExporterOptions;
  #destination: Destination;
  /** `#queue[#first]` is the oldest. */
  #queue: (Uint8Array | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #unschedule: (() => void) | null = null;
  #sending: Promise<void> | null = null;
  /** Ends a pause between retries early. */
  #wake: (() => void) | null = null;
  #hurry = false;
  #abort = new AbortController();
  /** Items lost since the last success; null while all is well. */
  #outage: { dropped: number } | null = null;

  constructor(destination: Destination, options: ExporterOptions) {
    this.#destination = destination;
    this.#options = options;
  }

  /** Nothing waits and nothing is under way. */
  get idle(): boolean {
    return this.#waiting === 0 && this.#sending === null;
  }

  set destination(destination: Destination) {
    this.#destination = destination;
  }

  push(item: Uint8Array): void {
    if (item.byteLength > EXPORT_LIMITS.batchBytes) {
      this.#drop(1, 'one of them is too large');
      return;
    }
    this.#queue.push(item);
    this.#bytes += item.byteLength;
    while (this.#waiting > EXPORT_LIMITS.queueItems || this.#bytes > EXPORT_LIMITS.queueBytes) {
      this.#shift();
      this.#drop(1, 'too many wait');
    }
    if (this.#sending !== null) return;
    if (this.#waiting >= EXPORT_LIMITS.batchItems || this.#bytes >= EXPORT_LIMITS.batchBytes) this.#begin();
    else this.#unschedule ??= this.#options.clock.schedule(() => this.#begin(), EXPORT_LIMITS.delayMs);
  }

  /** Sends everything that waits, without pauses for retries; resolves when it has gone, or is lost. */
  async flush(): Promise<void> {
    this.#hurry = true;
    this.#wake?.();
    while (!this.idle) {
      this.#begin();
      await this.#sending;
    }
    this.#hurry = false;
  }

  /** Gives up what waits. */
  close(): void {
    this.#hurry = true;
    this.#unschedule?.();
    this.#unschedule = null;
    this.#drop(this.#waiting, 'the gateway ends');
    this.#clear();
    this.#abort.abort();
    this.#wake?.();
  }

  get #waiting(): number {
    return this.#queue.length - this.#first;
  }

  #begin(): void {
    this.#unschedule?.();
    this.#unschedule = null;
    if (this.#sending !== null || this.#waiting === 0) return;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = null;
      if (this.#waiting > 0)
        this.#unschedule ??= this.#options.clock.schedule(() => this.#begin(), EXPORT_LIMITS.delayMs);
    });
  }

  /** Goes on while full batches wait; a rest waits for company again, unless somebody is in a hurry. */
  async #sendAll(): Promise<void> {
    do await this.#sendBatch(this.#take());
    while (this.#waiting > 0 && (this.#hurry || this.#waiting >= EXPORT_LIMITS.batchItems));
  }

  async #sendBatch(items: readonly Uint8Array[]): Promise<void> {
    const giveUpAt = this.#options.clock.now() + EXPORT_LIMITS.retryForMs;
    for (let tries = 0; ; tries++) {
      const { frame, send } = this.#destination;
      const sent = await send(frame.wrap(items), this.#abort.signal);
      if (sent.kind === 'taken') return this.#taken(items.length, sent);
      const pauseMs = sent.kind === 'later' ? this.#pauseMs(tries, sent.afterMs) : 0;
      // In a hurry there is one more try at most.
      const last = this.#hurry && tries > 0;
      if (sent.kind === 'refused' || last || this.#options.clock.now() + pauseMs > giveUpAt) {
        this.#drop(items.length, sent.why);
        return;
      }
      this.#warn(sent.why);
      if (!this.#hurry) await this.#pause(pauseMs);
    }
  }

  #taken(count: number, { rejected, message }: { readonly rejected: number; readonly message: string }): void {
    const { counts, log, what } = this.#options;
    const lost = Math.min(count, rejected);
    counts.sent(count - lost);
    if (lost > 0) {
      this.#drop(lost, message === '' ? 'the receiver did not want them' : message);
      return;
    }
    if (this.#outage === null) return;
    log.info(`${what} are exported again`, { to: this.#destination.name, dropped: this.#outage.dropped });
    this.#outage = null;
  }

  #pauseMs(tries: number, asked: number | null): number {
    const { firstBackoffMs, minBackoffMs, maxBackoffMs, retryForMs } = EXPORT_LIMITS;
    if (asked !== null) return Math.max(minBackoffMs, Math.min(asked, retryForMs));
    const full = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(tries, 16));
    return full / 2 + (full / 2) * this.#options.random();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        unschedule();
        this.#wake = null;
        resolve();
      };
      const unschedule = this.#options.clock.schedule(done, ms);
      this.#wake = done;
    });
  }

  #take(): readonly Uint8Array[] {
    const items: Uint8Array[] = [];
    let size = 0;
    while (this.#waiting > 0 && items.length < EXPORT_LIMITS.batchItems) {
      const next = this.#queue[this.#first];
      if (next === undefined || size + next.byteLength > EXPORT_LIMITS.batchBytes) break;
      size += next.byteLength;
      items.push(next);
      this.#shift();
    }
    return items;
  }

  #shift(): void {
    this.#bytes -= this.#queue[this.#first]?.byteLength ?? 0;
    this.#queue[this.#first] = undefined;
    this.#first += 1;
    // Moved rarely, so that taking the oldest stays cheap.
    if (this.#first < 1024 || this.#first * 2 < this.#queue.length) return;
    this.#queue = this.#queue.slice(this.#first);
    this.#first = 0;
  }

  #clear(): void {
    this.#queue = [];
    this.#first = 0;
    this.#bytes = 0;
  }

  #drop(items: number, why: string): void {
    if (items === 0) return;
    this.#warn(why);
    this.#options.counts.dropped(items);
    if (this.#outage !== null) this.#outage.dropped += items;
  }

  /** Once per outage. */
  #warn(why: string): void {
    if (this.#outage !== null) return;
    this.#outage = { dropped: 0 };
    this.#options.log.warn(`${this.#options.what} cannot be exported`, { to: this.#destination.name, error: why });
  }
}
