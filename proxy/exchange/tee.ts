import type { Body, BodySink } from './body.ts';
import { BufferedBody } from './body.ts';
import { joinChunks } from './collect.ts';
import type { Headers } from './headers.ts';

/** What became of the copy. */
export type TeeCopy =
  | { readonly kind: 'whole'; readonly body: BufferedBody }
  | { readonly kind: 'dropped'; readonly reason: string };

/**
 * Gives a body that streams on as before while a copy is kept, up to a limit. `onCopy` is called once: with the whole
 * copy when the body ends, or when it is clear that there will be none. The stream itself never waits for the copy.
 */
export function teeBody(body: Body, limitBytes: number, onCopy: (copy: TeeCopy) => void): Body {
  if ((body.length ?? 0) > limitBytes) {
    onCopy(tooLarge(limitBytes));
    return body;
  }
  if (body.length === 0 || body instanceof BufferedBody) {
    onCopy({ kind: 'whole', body: body instanceof BufferedBody ? body : new BufferedBody(new Uint8Array(0)) });
    return body;
  }
  return new TeeBody(body, limitBytes, onCopy);
}

class TeeBody implements Body, BodySink {
  readonly length: number | null;
  readonly #source: Body;
  readonly #limitBytes: number;
  #onCopy: ((copy: TeeCopy) => void) | null;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #sink: BodySink | null = null;

  constructor(source: Body, limitBytes: number, onCopy: (copy: TeeCopy) => void) {
    this.length = source.length;
    this.#source = source;
    this.#limitBytes = limitBytes;
    this.#onCopy = onCopy;
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
    this.#settle({ kind: 'dropped', reason: 'the request ended before its body was read' });
  }

  onData(chunk: Uint8Array): void {
    if (this.#onCopy !== null) {
      this.#bytes += chunk.byteLength;
      if (this.#bytes > this.#limitBytes) this.#settle(tooLarge(this.#limitBytes));
      else this.#chunks.push(chunk);
    }
    this.#sink?.onData(chunk);
  }

  onEnd(trailers: Headers | null): void {
    this.#sink?.onEnd(trailers);
    if (this.#onCopy !== null)
      this.#settle({ kind: 'whole', body: new BufferedBody(joinChunks(this.#chunks), trailers) });
  }

  onError(error: Error): void {
    this.#sink?.onError(error);
    this.#settle({ kind: 'dropped', reason: `the body was cut: ${error.message}` });
  }

  #settle(copy: TeeCopy): void {
    const onCopy = this.#onCopy;
    this.#onCopy = null;
    this.#chunks = [];
    onCopy?.(copy);
  }
}

function tooLarge(limitBytes: number): TeeCopy {
  return { kind: 'dropped', reason: `the body is larger than ${limitBytes} bytes` };
}
