import { formatLine, wallClockMs, type LogFormat } from '../../src/shared/log.ts';
import type { Batch } from './outbox.ts';

/** Takes text and tells when it has gone out; never blocks the caller. */
export interface LogSink {
  write(text: string): Promise<void>;
}

const MAX_WAITING_BYTES = 8 * 2 ** 20;

/** The process's log lines on their way out, in order, one write at a time, with a mark where lines were lost. */
export class LogWriter {
  readonly #sink: LogSink;
  readonly #format: LogFormat;
  #waiting: { readonly text: string; readonly written: (() => void) | null }[] = [];
  #bytes = 0;
  #dropped = 0;
  #writing: Promise<void> | null = null;

  constructor(sink: LogSink, format: LogFormat) {
    this.#sink = sink;
    this.#format = format;
  }

  /** A line of the control thread's own log. */
  line(text: string): void {
    if (this.#bytes >= MAX_WAITING_BYTES) {
      this.#dropped += 1;
      return;
    }
    this.#markLosses();
    this.#enqueue(text, null);
  }

  /** Lines of a data thread; `written` asks it for more. */
  batch(batch: Batch<string>, written: () => void): void {
    this.#markLosses();
    const text = batch.items.join('');
    this.#enqueue(batch.dropped > 0 ? text + this.#marker(batch.dropped) : text, written);
  }

  /** Resolves when everything that waits has gone out. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  #markLosses(): void {
    if (this.#dropped === 0) return;
    const marker = this.#marker(this.#dropped);
    this.#dropped = 0;
    this.#enqueue(marker, null);
  }

  #enqueue(text: string, written: (() => void) | null): void {
    this.#waiting.push({ text, written });
    this.#bytes += text.length;
    this.#writing ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // Lines logged in the same turn go out together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      this.#bytes = 0;
      // A sink that fails (a closed pipe) must not stop the gateway: what it was given is lost.
      await this.#sink.write(batch.map(({ text }) => text).join('')).catch(() => {});
      for (const { written } of batch) written?.();
    }
    this.#writing = null;
  }

  #marker(count: number): string {
    return formatLine(this.#format, {
      timeMs: wallClockMs(),
      level: 'warn',
      scope: 'log',
      message: `dropped ${count} lines, the output is too slow`,
    });
  }
}
