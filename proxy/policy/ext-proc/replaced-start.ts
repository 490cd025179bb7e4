import type { Body, BodySink } from '../../exchange/body.ts';
import type { Headers } from '../../exchange/headers.ts';

/** A body whose first bytes are others; what follows them is as it was. */
export class ReplacedStart implements Body, BodySink {
  readonly length = null;
  readonly #source: Body;
  readonly #start: Uint8Array;
  #toDrop: number;
  #sink: BodySink | null = null;

  constructor(source: Body, dropBytes: number, start: Uint8Array) {
    this.#source = source;
    this.#toDrop = dropBytes;
    this.#start = start;
  }

  pipe(sink: BodySink): void {
    this.#sink = sink;
    if (this.#start.byteLength > 0) sink.onData(this.#start);
    this.#source.pipe(this);
  }

  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  cancel(): void {
    this.#source.cancel();
  }

  onData(chunk: Uint8Array): void {
    const dropped = Math.min(this.#toDrop, chunk.byteLength);
    this.#toDrop -= dropped;
    if (dropped < chunk.byteLength) this.#sink?.onData(dropped === 0 ? chunk : chunk.subarray(dropped));
  }

  onEnd(trailers: Headers | null): void {
    this.#sink?.onEnd(trailers);
  }

  onError(error: Error): void {
    this.#sink?.onError(error);
  }
}
