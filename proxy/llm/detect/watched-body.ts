import type { Transform } from 'node:stream';

import type { Body, BodySink } from '../../exchange/body.ts';

/** Looks at bytes that go by. */
export interface Onlooker {
  push(chunk: Uint8Array): void;
  /** Nothing more comes; `whole`: nothing is missing. */
  end(whole: boolean): void;
}

/** A body that passes as it is while somebody looks at it; what the onlooker makes of it never changes or cuts it. */
export class WatchedBody implements Body {
  readonly length: number | null;
  readonly #body: Body;
  readonly #onlooker: Onlooker;
  /** Takes the coding off for the onlooker. */
  readonly #decoder: Transform | null;
  #over = false;

  constructor(body: Body, onlooker: Onlooker, decoder: Transform | null) {
    this.length = body.length;
    this.#body = body;
    this.#onlooker = onlooker;
    this.#decoder = decoder;
    decoder?.on('data', (chunk: Buffer) => onlooker.push(chunk));
  }

  pipe(sink: BodySink): void {
    this.#body.pipe({
      onData: (chunk) => {
        if (this.#decoder === null) this.#onlooker.push(chunk);
        else if (!this.#decoder.destroyed) this.#decoder.write(chunk);
        sink.onData(chunk);
      },
      // What is told has to be known when the body is over.
      onEnd: (trailers) => this.#end(true, () => sink.onEnd(trailers)),
      onError: (error) => {
        this.#end(false, () => {});
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
    this.#body.cancel();
    this.#end(false, () => {});
  }

  #end(whole: boolean, then: () => void): void {
    if (this.#over) return;
    this.#over = true;
    const decoder = this.#decoder;
    if (decoder === null || !whole || decoder.destroyed) {
      decoder?.destroy();
      this.#onlooker.end(whole);
      then();
      return;
    }
    const done = (complete: boolean): void => {
      decoder.removeAllListeners();
      decoder.on('error', () => {});
      this.#onlooker.end(complete);
      then();
    };
    decoder.once('end', () => done(true));
    decoder.once('error', () => done(false));
    decoder.end();
  }
}
