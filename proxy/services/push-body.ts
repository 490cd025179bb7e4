import type { Body, BodySink } from '../exchange/body.ts';

/**
 * A body whose writer decides when there is more: what is pushed flows to the sink, or waits until it takes more. The
 * writer heeds `full`; nothing is refused.
 */
export class PushBody implements Body {
  readonly length = null;
  #sink: BodySink | null = null;
  #waiting: Uint8Array[] = [];
  #paused = false;
  #ending = false;
  #over = false;
  #delivering = false;
  /** The sink takes more again. */
  onDrain: (() => void) | null = null;

  /** What is pushed now has to wait. */
  get full(): boolean {
    return this.#paused || this.#waiting.length > 0;
  }

  /** Nothing that is pushed would arrive. */
  get over(): boolean {
    return this.#over;
  }

  push(chunk: Uint8Array): void {
    if (this.#over || this.#ending) return;
    this.#waiting.push(chunk);
    this.#deliver();
  }

  end(): void {
    if (this.#over) return;
    this.#ending = true;
    this.#deliver();
  }

  pipe(sink: BodySink): void {
    this.#sink = sink;
    this.#deliver();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#deliver();
    if (!this.full && !this.#over) this.onDrain?.();
  }

  cancel(): void {
    this.#over = true;
    this.#waiting = [];
    this.#sink = null;
  }

  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    while (this.#sink !== null && !this.#paused) {
      const chunk = this.#waiting.shift();
      if (chunk === undefined) break;
      this.#sink.onData(chunk);
    }
    this.#delivering = false;
    if (!this.#ending || this.#waiting.length > 0 || this.#sink === null) return;
    const sink = this.#sink;
    this.cancel();
    sink.onEnd(null);
  }
}
