import type { Transform } from 'node:stream';

import type { Body } from './body.ts';
import { PassingBody } from './passing-body.ts';

/** Looks at bytes that go by. */
export interface Onlooker {
  push(chunk: Uint8Array): void;
  /** Nothing more comes; `whole`: nothing is missing. */
  end(whole: boolean): void;
}

/**
 * A body that passes as it is while somebody looks at it; what the onlooker makes of it never changes or cuts it. The
 * decoder takes the coding off for the onlooker.
 */
export function lookedAtBody(body: Body, onlooker: Onlooker, decoder: Transform | null): Body {
  const look = new Look(onlooker, decoder);
  return new PassingBody(
    body,
    (sink) => ({
      onData(chunk) {
        look.push(chunk);
        sink.onData(chunk);
      },
      // What is told has to be known when the body is over.
      onEnd: (trailers) => look.end(true, () => sink.onEnd(trailers)),
      onError(error) {
        look.end(false, () => {});
        sink.onError(error);
      },
    }),
    () => look.end(false, () => {}),
  );
}

class Look {
  readonly #onlooker: Onlooker;
  readonly #decoder: Transform | null;
  #over = false;

  constructor(onlooker: Onlooker, decoder: Transform | null) {
    this.#onlooker = onlooker;
    this.#decoder = decoder;
    decoder?.on('data', (chunk: Buffer) => onlooker.push(chunk));
  }

  push(chunk: Uint8Array): void {
    if (this.#decoder === null) this.#onlooker.push(chunk);
    else if (!this.#decoder.destroyed) this.#decoder.write(chunk);
  }

  end(whole: boolean, then: () => void): void {
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
