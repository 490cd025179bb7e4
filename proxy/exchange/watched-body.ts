import { type Body, type BodySink, BufferedBody } from './body.ts';
import type { Headers } from './headers.ts';

/** The body, telling of each piece that moves; what is in memory already stays as it is. */
export function watchedBody(body: Body, moved: () => void): Body {
  return body.length === 0 || body instanceof BufferedBody ? body : new WatchedBody(body, moved);
}

class WatchedBody implements Body, BodySink {
  readonly length: number | null;
  readonly #source: Body;
  readonly #moved: () => void;
  #sink: BodySink | null = null;

  constructor(source: Body, moved: () => void) {
    this.length = source.length;
    this.#source = source;
    this.#moved = moved;
  }

  pipe(sink: BodySink): void {
    this.#sink = sink;
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
    this.#moved();
    this.#sink?.onData(chunk);
  }

  onEnd(trailers: Headers | null): void {
    this.#sink?.onEnd(trailers);
  }

  onError(error: Error): void {
    this.#sink?.onError(error);
  }
}
