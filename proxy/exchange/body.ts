import type { Headers } from './headers.ts';

/** Receives a body. Nothing is called after `onEnd` or `onError`. */
export interface BodySink {
  onData(chunk: Uint8Array): void;
  /** The body is complete; trailers when the message had any. */
  onEnd(trailers: Headers | null): void;
  /** The body was cut: the peer reset, broke the framing, or a deadline passed. */
  onError(error: Error): void;
}

/**
 * A message body that flows to one sink. Nothing flows before `pipe`; `pipe` may deliver what is already there
 * before it returns. A sink that is full calls `pause` and later `resume`, down to the peer's socket.
 */
export interface Body {
  /** Bytes, when the framing tells; null for chunked and HTTP/2 bodies without a length. */
  readonly length: number | null;
  pipe(sink: BodySink): void;
  pause(): void;
  resume(): void;
  /** The consumer has lost interest; the source may discard what is left or give up its connection. */
  cancel(): void;
}

/** No body at all (length 0). */
export const emptyBody: Body = {
  length: 0,
  pipe: (sink) => sink.onEnd(null),
  pause() {},
  resume() {},
  cancel() {},
};

/** A body that is wholly in memory; may be piped again and again (replays, mirrors). */
export class BufferedBody implements Body {
  /** None with trailers: they follow only where the framing tells no length (RFC 9112 section 7.1). */
  readonly length: number | null;
  readonly bytes: Uint8Array;
  readonly trailers: Headers | null;

  constructor(bytes: Uint8Array, trailers: Headers | null = null) {
    this.bytes = bytes;
    this.length = trailers === null || trailers.size === 0 ? bytes.byteLength : null;
    this.trailers = trailers;
  }

  pipe(sink: BodySink): void {
    if (this.bytes.byteLength > 0) sink.onData(this.bytes);
    sink.onEnd(this.trailers);
  }

  pause(): void {}
  resume(): void {}
  cancel(): void {}
}
