import type { Body, BodySink } from '../exchange/body.ts';
import { ChunkedDecoder } from './chunked.ts';
import type { FieldParser } from './fields.ts';
import type { Framing } from './framing.ts';

/** The connection that a body is read from. */
export interface BodySource {
  /** The sink is ready: deliver what is at hand and read on. */
  bodyWanted(): void;
  pauseReading(): void;
  resumeReading(): void;
  /** Nobody wants the rest. */
  bodyCancelled(): void;
}

/** A message body on its way in: decodes the framing of the bytes that its connection feeds it. */
export class IncomingBody implements Body {
  readonly length: number | null;
  readonly #source: BodySource;
  readonly #chunked: ChunkedDecoder | null;
  #remaining: number;
  #sink: BodySink | null = null;
  #paused = false;
  #finished = false;
  /** Why there is no more, for a sink that comes too late to see it happen. */
  #error: Error | null = null;
  /** The last byte has been decoded (the sink may not have seen its end yet). */
  complete = false;

  constructor(source: BodySource, framing: Framing, fields: FieldParser, maxHeaders: number) {
    this.#source = source;
    this.#chunked = framing.kind === 'chunked' ? new ChunkedDecoder(fields, maxHeaders) : null;
    this.length = framing.kind === 'length' ? framing.length : null;
    this.#remaining = framing.kind === 'length' ? framing.length : Number.POSITIVE_INFINITY;
  }

  /** Whether bytes may be fed now. */
  get flowing(): boolean {
    return this.#sink !== null && !this.#paused;
  }

  get piped(): boolean {
    return this.#sink !== null;
  }

  pipe(sink: BodySink): void {
    if (this.#error !== null) {
      sink.onError(this.#error);
      return;
    }
    if (this.#finished) {
      sink.onEnd(null);
      return;
    }
    this.#sink = sink;
    this.#source.bodyWanted();
  }

  pause(): void {
    if (this.#paused || this.#finished) return;
    this.#paused = true;
    this.#source.pauseReading();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (!this.#finished) this.#source.resumeReading();
  }

  cancel(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#error = new Error('the body was cancelled');
    this.#sink = null;
    this.#source.bodyCancelled();
  }

  /** Decodes from `offset`, hands the data on and returns the offset behind the last byte that belonged to this body. */
  feed(bytes: Buffer, offset: number): number {
    if (this.#chunked !== null) return this.#feedChunked(this.#chunked, bytes, offset);
    const end = Math.min(bytes.length, offset + this.#remaining);
    this.#remaining -= end - offset;
    if (this.#remaining === 0) this.complete = true;
    if (end > offset) this.#sink?.onData(offset === 0 && end === bytes.length ? bytes : bytes.subarray(offset, end));
    if (this.complete) this.#finish();
    return end;
  }

  #feedChunked(decoder: ChunkedDecoder, bytes: Buffer, offset: number): number {
    const end = decoder.decode(bytes, offset);
    if (decoder.done) this.complete = true;
    if (decoder.dataEnd > decoder.dataStart) this.#sink?.onData(bytes.subarray(decoder.dataStart, decoder.dataEnd));
    if (this.complete) this.#finish();
    return end;
  }

  /** The connection closed: the end of a body that is framed by it, a cut for any other. */
  connectionClosed(error: Error): void {
    if (this.#finished) return;
    if (this.length === null && this.#chunked === null) {
      this.complete = true;
      this.#finish();
      return;
    }
    this.fail(error);
  }

  fail(error: Error): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#error = error;
    const sink = this.#sink;
    this.#sink = null;
    sink?.onError(error);
  }

  #finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    const sink = this.#sink;
    this.#sink = null;
    sink?.onEnd(this.#chunked?.trailers ?? null);
  }
}
