import type { Body } from './body.ts';
import { PassingBody } from './passing-body.ts';

/** What was recorded of a body by the time it ended, was cut or was given up. */
export interface Recording {
  /** At most the limit. */
  readonly bytes: Uint8Array;
  /** Bytes that passed beyond the limit. */
  readonly truncated: number;
  /** All of the body has passed. */
  readonly complete: boolean;
}

/** A body that passes through unchanged while its beginning is recorded; `onDone` is called once. */
export function recordedBody(body: Body, limitBytes: number, onDone: (recording: Recording) => void): Body {
  const recorder = new BeginningRecorder(limitBytes, onDone);
  return new PassingBody(
    body,
    (sink) => ({
      onData(chunk) {
        recorder.keep(chunk);
        sink.onData(chunk);
      },
      // Told before the sink hears of the end: the sink's end may finish the whole request.
      onEnd(trailers) {
        recorder.done(true);
        sink.onEnd(trailers);
      },
      onError(error) {
        recorder.done(false);
        sink.onError(error);
      },
    }),
    () => recorder.done(false),
  );
}

class BeginningRecorder {
  readonly #limitBytes: number;
  #onDone: ((recording: Recording) => void) | null;
  #chunks: Uint8Array[] = [];
  #kept = 0;
  #truncated = 0;

  constructor(limitBytes: number, onDone: (recording: Recording) => void) {
    this.#limitBytes = limitBytes;
    this.#onDone = onDone;
  }

  keep(chunk: Uint8Array): void {
    const room = Math.max(0, Math.min(chunk.byteLength, this.#limitBytes - this.#kept));
    // A copy: the transport may use the chunk's memory again.
    if (room > 0) this.#chunks.push(Uint8Array.prototype.slice.call(chunk, 0, room));
    this.#kept += room;
    this.#truncated += chunk.byteLength - room;
  }

  done(complete: boolean): void {
    const onDone = this.#onDone;
    if (onDone === null) return;
    this.#onDone = null;
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    onDone({ bytes, truncated: this.#truncated, complete });
  }
}
