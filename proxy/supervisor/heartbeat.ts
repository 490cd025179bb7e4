/** Beats that a data thread may miss before it counts as stuck. */
const PATIENCE = 5;
const CHECK_MS = 1000;

/** Watches the counters that live data threads bump every second. Counted in checks, so that a suspended process is no fault. */
export class HeartbeatWatch {
  readonly buffer: SharedArrayBuffer;
  readonly #beats: Int32Array;
  readonly #seen: Int32Array;
  readonly #missed: number[];
  readonly #timer: NodeJS.Timeout;

  constructor(threads: number) {
    this.buffer = new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT);
    this.#beats = new Int32Array(this.buffer);
    this.#seen = new Int32Array(threads);
    this.#missed = Array.from({ length: threads }, () => 0);
    this.#timer = setInterval(() => this.check(), CHECK_MS).unref();
  }

  check(): void {
    for (let index = 0; index < this.#missed.length; index++) {
      const beat = Atomics.load(this.#beats, index);
      this.#missed[index] = beat === this.#seen[index] ? (this.#missed[index] ?? 0) + 1 : 0;
      this.#seen[index] = beat;
    }
  }

  /** Indexes of the threads that are stuck. */
  get stale(): readonly number[] {
    return this.#missed.flatMap((missed, index) => (missed > PATIENCE ? [index] : []));
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
