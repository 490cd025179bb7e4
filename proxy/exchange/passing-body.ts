import type { Body, BodySink } from './body.ts';

/** What stands between a body and the sink that it flows to: is given what the sink would get, and hands on what it likes. */
export type Between = (sink: BodySink) => BodySink;

/** A body that passes through something on its way. Back-pressure and giving up go to the source as they are. */
export class PassingBody implements Body {
  readonly length: number | null;
  readonly #source: Body;
  readonly #between: Between;
  readonly #onCancel: (() => void) | null;

  /** `between` is asked when the body begins to flow; `onCancel` is told before the source is. */
  constructor(source: Body, between: Between, onCancel: (() => void) | null = null) {
    this.length = source.length;
    this.#source = source;
    this.#between = between;
    this.#onCancel = onCancel;
  }

  pipe(sink: BodySink): void {
    this.#source.pipe(this.#between(sink));
  }

  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  cancel(): void {
    this.#onCancel?.();
    this.#source.cancel();
  }
}
