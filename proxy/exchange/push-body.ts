import type { Body, BodySink } from './body.ts';
import type { Headers } from './headers.ts';

/**
 * A body whose writer decides when there is more: what is pushed flows to the sink, or waits until it takes more. The
 * writer heeds `full` or `waitingBytes`; nothing is refused.
 */
export class PushBody implements Body {
  /** Until it is piped, the writer may tell it. */
  length: number | null = null;
  #sink: BodySink | null = null;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #paused = false;
  #ending = false;
  #trailers: Headers | null = null;
  #error: Error | null = null;
  #over = false;
  #delivering = false;
  /** There is a sink, or it takes more again. */
  onDrain: (() => void) | null = null;
  /** The sink wants no more. */
  onCancel: (() => void) | null = null;

  /** What is pushed now has to wait. */
  get full(): boolean {
    return !this.#over && (this.#sink === null || this.#paused || this.#waiting.length > 0);
  }

  /** Bytes that the sink has not taken. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Nothing that is pushed would arrive. */
  get over(): boolean {
    return this.#over;
  }

  push(chunk: Uint8Array): void {
    if (this.#over || this.#ending || chunk.byteLength === 0) return;
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.byteLength;
    this.#deliver();
  }

  end(trailers: Headers | null = null): void {
    if (this.#over || this.#ending) return;
    this.#ending = true;
    this.#trailers = trailers;
    this.#deliver();
  }

  /** Cuts the body, whatever still waits. */
  fail(error: Error): void {
    if (this.#over) return;
    const sink = this.#sink;
    this.#drop();
    this.#error = error;
    sink?.onError(error);
  }

  pipe(sink: BodySink): void {
    if (this.#error !== null) {
      sink.onError(this.#error);
      return;
    }
    this.#sink = sink;
    this.#deliver();
    if (!this.#over) this.onDrain?.();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#deliver();
    if (!this.#over) this.onDrain?.();
  }

  cancel(): void {
    if (this.#over) return;
    this.#drop();
    this.onCancel?.();
  }

  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    while (this.#sink !== null && !this.#paused) {
      const chunk = this.#waiting.shift();
      if (chunk === undefined) break;
      this.#waitingBytes -= chunk.byteLength;
      this.#sink.onData(chunk);
    }
    this.#delivering = false;
    const sink = this.#sink;
    if (!this.#ending || this.#waiting.length > 0 || sink === null) return;
    this.#drop();
    sink.onEnd(this.#trailers);
  }

  #drop(): void {
    this.#over = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#sink = null;
  }
}
