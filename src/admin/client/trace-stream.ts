import { GwError, messageOf } from '../../shared/errors.ts';
import { readTraceFrames, type TraceFrame } from './trace-frames.ts';

interface TraceStreamOptions {
  /** How messages name the server. */
  readonly where: string;
  /** Ends the request when aborted. */
  readonly abort: AbortController;
}

/** An open `/debug/trace`: frames as they arrive, until the server ends the stream or `close` is called. */
export class TraceStream implements AsyncIterable<TraceFrame> {
  readonly #body: AsyncIterable<unknown>;
  readonly #options: TraceStreamOptions;
  #closed = false;

  constructor(body: AsyncIterable<unknown>, options: TraceStreamOptions) {
    this.#body = body;
    this.#options = options;
  }

  /** Ends the stream from this side; the reader sees a normal end. */
  close(): void {
    this.#closed = true;
    this.#options.abort.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TraceFrame> {
    let events = 0;
    try {
      // undici bodies deliver buffers.
      for await (const frame of readTraceFrames(this.#body as AsyncIterable<Uint8Array>)) {
        events += 1;
        yield frame;
      }
    } catch (error) {
      if (this.#closed) return;
      if (error instanceof GwError) throw error;
      throw new GwError(
        `the trace stream from ${this.#options.where} broke after ${events} events: ${messageOf(error)}`,
        {
          code: 'GW_TRACE_BROKEN',
          cause: error,
        },
      );
    } finally {
      this.close();
    }
  }
}
