import { type Body, BufferedBody } from './body.ts';
import { joinChunks } from './collect.ts';
import type { Headers } from './headers.ts';
import { PassingBody } from './passing-body.ts';

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
  const copying = new Copying(limitBytes, onCopy);
  return new PassingBody(
    body,
    (sink) => ({
      onData(chunk) {
        copying.add(chunk);
        sink.onData(chunk);
      },
      onEnd(trailers) {
        sink.onEnd(trailers);
        copying.end(trailers);
      },
      onError(error) {
        sink.onError(error);
        copying.drop(`the body was cut: ${error.message}`);
      },
    }),
    () => copying.drop('the request ended before its body was read'),
  );
}

/** The copy of a body that is on its way. */
class Copying {
  readonly #limitBytes: number;
  #onCopy: ((copy: TeeCopy) => void) | null;
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  constructor(limitBytes: number, onCopy: (copy: TeeCopy) => void) {
    this.#limitBytes = limitBytes;
    this.#onCopy = onCopy;
  }

  add(chunk: Uint8Array): void {
    if (this.#onCopy === null) return;
    this.#bytes += chunk.byteLength;
    if (this.#bytes > this.#limitBytes) this.#settle(tooLarge(this.#limitBytes));
    else this.#chunks.push(chunk);
  }

  end(trailers: Headers | null): void {
    if (this.#onCopy !== null)
      this.#settle({ kind: 'whole', body: new BufferedBody(joinChunks(this.#chunks), trailers) });
  }

  drop(reason: string): void {
    this.#settle({ kind: 'dropped', reason });
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
