import { Recorder, type TraceLife, type TracePlace } from '../../../telemetry/recorder.ts';
import type { FromOwner, Way } from './messages.ts';

/** The trace of a request of another thread: what is recorded here goes there. */
export class RelayedTrace implements TraceLife {
  readonly recorder: Recorder;
  readonly #say: (message: FromOwner) => void;
  readonly #id: number;
  #holders = 1;

  constructor(place: TracePlace, id: number, way: Pick<Way<FromOwner, never>, 'postMessage'>) {
    this.#id = id;
    this.#say = (message) => way.postMessage(message);
    this.recorder = Recorder.at(place, (event) => this.#holders > 0 && this.#say({ kind: 'trace', id, event }), this);
  }

  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#say({ kind: 'traced', id: this.#id });
  }
}
