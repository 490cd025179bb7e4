import type { Body, BodySink } from './body.ts';
import type { Headers } from './headers.ts';

/** What a held body asks of the side that it comes from. */
export type BodyOrigin = Pick<Body, 'length' | 'pause' | 'resume' | 'cancel'>;

/**
 * Stands between a source and a sink that comes later: holds what arrives until it is piped, then delivers what it
 * held and what still comes. The source is not told to stop by itself; whoever holds for long pauses it.
 */
export class HoldingBody implements Body, BodySink {
  readonly length: number | null;
  readonly #origin: BodyOrigin;
  readonly #held: Uint8Array[];
  readonly #onChange: (() => void) | null;
  #heldBytes = 0;
  #sink: BodySink | null = null;
  #paused = false;
  #delivering = false;
  #ended = false;
  #trailers: Headers | null = null;
  #error: Error | null = null;

  /** `onChange` is called after each event until the body is piped. */
  constructor(origin: BodyOrigin, held: Uint8Array[] = [], onChange: (() => void) | null = null) {
    this.#origin = origin;
    this.length = origin.length;
    this.#held = held;
    this.#onChange = onChange;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The whole body has arrived. */
  get ended(): boolean {
    return this.#ended;
  }

  get error(): Error | null {
    return this.#error;
  }

  get held(): readonly Uint8Array[] {
    return this.#held;
  }

  get trailers(): Headers | null {
    return this.#trailers;
  }

  onData(chunk: Uint8Array): void {
    if (this.#sink !== null && this.#held.length === 0 && !this.#paused) {
      this.#sink.onData(chunk);
      return;
    }
    this.#held.push(chunk);
    this.#heldBytes += chunk.byteLength;
    this.#changed();
  }

  onEnd(trailers: Headers | null): void {
    this.#ended = true;
    this.#trailers = trailers;
    if (this.#sink !== null) this.#deliver();
    this.#changed();
  }

  /** A cut body is cut at once, whatever is still held. */
  onError(error: Error): void {
    this.#error = error;
    const sink = this.#sink;
    this.#drop();
    sink?.onError(error);
    this.#changed();
  }

  pipe(sink: BodySink): void {
    if (this.#error !== null) {
      sink.onError(this.#error);
      return;
    }
    this.#sink = sink;
    this.#deliver();
  }

  pause(): void {
    this.#paused = true;
    if (!this.#ended) this.#origin.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#sink !== null) this.#deliver();
  }

  cancel(): void {
    this.#drop();
    if (!this.#ended && this.#error === null) this.#origin.cancel();
  }

  #changed(): void {
    if (this.#sink === null) this.#onChange?.();
  }

  /** Hands over what is held, as far as the sink takes it; then the end, or the source again. */
  #deliver(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    while (!this.#paused && this.#sink !== null) {
      const chunk = this.#held.shift();
      if (chunk === undefined) break;
      this.#heldBytes -= chunk.byteLength;
      this.#sink.onData(chunk);
    }
    this.#delivering = false;
    const sink = this.#sink;
    if (sink === null || this.#held.length > 0) return;
    if (this.#ended) {
      this.#sink = null;
      sink.onEnd(this.#trailers);
    } else if (!this.#paused) {
      this.#origin.resume();
    }
  }

  #drop(): void {
    this.#sink = null;
    this.#held.length = 0;
    this.#heldBytes = 0;
  }
}
