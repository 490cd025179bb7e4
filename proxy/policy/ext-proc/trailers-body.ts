import type { Body, BodySink } from '../../exchange/body.ts';
import type { Headers } from '../../exchange/headers.ts';
import { Ended } from './ended.ts';
import type { Turn } from './turn.ts';

/** The body passes without the service; its trailers wait for it. */
export function passTrailers(turn: Turn): void {
  const { message } = turn.parts.direction;
  if (turn.modes.trailers === 'skip' || !mayHaveTrailers(message.body)) turn.done();
  else message.body = new TrailersBody(message.body, (trailers) => lookAt(turn, trailers));
}

/** Only bodies without a length can be followed by trailers that are not known yet. */
export function mayHaveTrailers(body: Body): boolean {
  return body.length === null;
}

async function lookAt(turn: Turn, trailers: Headers | null): Promise<Headers | null> {
  const { conversation, failOpen } = turn.parts;
  if (trailers === null || conversation.skipped) {
    turn.done();
    return trailers;
  }
  try {
    const passed = await turn.trailers(trailers);
    turn.done();
    return passed;
  } catch (error) {
    if (failOpen && !turn.bodySent && error instanceof Ended && error.immediate === null) {
      conversation.skipped = true;
      return trailers;
    }
    conversation.cut = true;
    throw error;
  }
}

/** A body that passes as it is, but whose trailers are looked at before they pass. */
export class TrailersBody implements Body, BodySink {
  readonly length: number | null;
  readonly #source: Body;
  readonly #look: (trailers: Headers | null) => Promise<Headers | null>;
  #sink: BodySink | null = null;

  /** `look` gives the trailers that pass; when it rejects, the body is cut. It is called once, unless the body is cut. */
  constructor(source: Body, look: (trailers: Headers | null) => Promise<Headers | null>) {
    this.length = source.length;
    this.#source = source;
    this.#look = look;
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
    this.#sink = null;
    this.#source.cancel();
  }

  onData(chunk: Uint8Array): void {
    this.#sink?.onData(chunk);
  }

  onEnd(trailers: Headers | null): void {
    this.#look(trailers).then(
      (passed) => this.#sink?.onEnd(passed),
      (error: unknown) => this.#sink?.onError(error instanceof Error ? error : new Error(String(error))),
    );
  }

  onError(error: Error): void {
    this.#sink?.onError(error);
  }
}
