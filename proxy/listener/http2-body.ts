import type { ServerHttp2Stream } from 'node:http2';

import type { Body, BodySink } from '../exchange/body.ts';
import { Headers } from '../exchange/headers.ts';

export interface BodyReader {
  /** Somebody begins to read; called before anything is delivered. */
  bodyWanted(): void;
  bodyMoved(): void;
}

/**
 * A request body on its way in. While its sink is full the stream is not read, its flow-control window closes, and the
 * client has to stop: nothing beyond one window is held in memory.
 */
export class Http2RequestBody implements Body {
  readonly length: number | null;
  readonly #stream: ServerHttp2Stream;
  readonly #reader: BodyReader;
  #sink: BodySink | null = null;
  #trailers: Headers | null = null;
  #bytes = 0;
  #finished = false;

  constructor(stream: ServerHttp2Stream, length: number | null, reader: BodyReader) {
    this.#stream = stream;
    this.length = length;
    this.#reader = reader;
    stream.on('trailers', (_trailers, _flags, fields?: readonly string[]) => this.#keepTrailers(fields ?? []));
  }

  /** On its way: somebody reads it, and it has not ended. */
  get flowing(): boolean {
    return this.#sink !== null;
  }

  pipe(sink: BodySink): void {
    if (this.#finished) {
      sink.onError(new Error('client closed the stream'));
      return;
    }
    this.#sink = sink;
    this.#reader.bodyWanted();
    this.#stream.on('data', this.#onData);
    this.#stream.on('end', this.#onEnd);
  }

  pause(): void {
    if (!this.#finished) this.#stream.pause();
  }

  resume(): void {
    if (!this.#finished) this.#stream.resume();
  }

  cancel(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#sink = null;
    // What is on its way is read away; the stream itself ends with its response.
    this.#stream.resume();
  }

  /** The stream broke before its end. */
  fail(error: Error): void {
    if (this.#finished) return;
    this.#finished = true;
    const sink = this.#sink;
    this.#sink = null;
    sink?.onError(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    this.#reader.bodyMoved();
    if (this.length !== null && this.#bytes > this.length) {
      this.fail(new Error('the body is longer than its content-length'));
      return;
    }
    this.#sink?.onData(chunk);
  };

  readonly #onEnd = (): void => {
    if (this.#finished) return;
    // The library ends the readable side of a stream that was reset, too.
    if (this.#stream.aborted || this.#stream.rstCode) {
      this.fail(new Error('client closed the stream'));
      return;
    }
    if (this.length !== null && this.#bytes < this.length) {
      this.fail(new Error('the body is shorter than its content-length'));
      return;
    }
    this.#finished = true;
    const sink = this.#sink;
    this.#sink = null;
    sink?.onEnd(this.#trailers);
  };

  #keepTrailers(fields: readonly string[]): void {
    const trailers = new Headers();
    for (let i = 0; i < fields.length; i += 2) {
      const name = fields[i] ?? '';
      if (!name.startsWith(':')) trailers.append(name, fields[i + 1] ?? '');
    }
    if (trailers.size > 0) this.#trailers = trailers;
  }
}
