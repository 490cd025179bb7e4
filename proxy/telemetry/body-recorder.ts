import type { Body, BodySink } from '../exchange/body.ts';
import type { Headers } from '../exchange/headers.ts';
import type { Recorder } from './recorder.ts';

/** A body that passes through unchanged and is reported, once, when it has ended or was cut. */
export function recordBody(body: Body, trace: Recorder, options: { stage: string; limit: number }): Body {
  return new RecordedBody(body, trace, options);
}

class RecordedBody implements Body {
  readonly length: number | null;
  readonly #body: Body;
  readonly #trace: Recorder;
  readonly #stage: string;
  readonly #limit: number;
  readonly #release: () => void;
  #chunks: Uint8Array[] = [];
  #kept = 0;
  #truncated = 0;
  #reported = false;

  constructor(body: Body, trace: Recorder, options: { stage: string; limit: number }) {
    this.length = body.length;
    this.#body = body;
    this.#trace = trace;
    this.#stage = options.stage;
    this.#limit = options.limit;
    this.#release = trace.hold();
  }

  pipe(sink: BodySink): void {
    this.#body.pipe({
      onData: (chunk: Uint8Array) => {
        this.#keep(chunk);
        sink.onData(chunk);
      },
      // Reported before the sink hears of the end: the sink's end may finish the whole request.
      onEnd: (trailers: Headers | null) => {
        this.#report();
        sink.onEnd(trailers);
      },
      onError: (error: Error) => {
        this.#report();
        sink.onError(error);
      },
    });
  }

  pause(): void {
    this.#body.pause();
  }

  resume(): void {
    this.#body.resume();
  }

  cancel(): void {
    this.#report();
    this.#body.cancel();
  }

  #keep(chunk: Uint8Array): void {
    const room = Math.min(chunk.byteLength, this.#limit - this.#kept);
    // A copy: the transport may use the chunk's memory again.
    if (room > 0) this.#chunks.push(Uint8Array.prototype.slice.call(chunk, 0, room));
    this.#kept += Math.max(0, room);
    this.#truncated += chunk.byteLength - Math.max(0, room);
  }

  #report(): void {
    if (this.#reported) return;
    this.#reported = true;
    const body = Buffer.concat(this.#chunks).toString('base64');
    this.#chunks = [];
    this.#trace.emit({
      type: 'bodySnapshot',
      stage: this.#stage,
      body,
      ...(this.#truncated > 0 ? { truncated: this.#truncated } : {}),
    });
    this.#release();
  }
}
