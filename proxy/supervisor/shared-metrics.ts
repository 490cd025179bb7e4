/** Where the numbers of one series lie: `size` cells of a page from `offset`. */
export interface SeriesPlace {
  /** Identity of the page within its thread. */
  readonly page: number;
  readonly offset: number;
  readonly size: number;
}

/** Tells the control thread of a new series; `buffer` comes with the first series of a page. */
export interface SeriesRegistration extends SeriesPlace {
  readonly metric: string;
  /** Label values, in the order of the metric's label names. */
  readonly labels: readonly string[];
  readonly buffer?: SharedArrayBuffer | undefined;
}

const PAGE_CELLS = 8192;

/** Numbers of one thread, written by that thread alone: aligned 8-byte writes need no lock for readers elsewhere. */
export class SeriesSlab {
  readonly #register: (registration: SeriesRegistration) => void;
  #page = -1;
  #cells: Float64Array = new Float64Array(0);
  #used = 0;
  #fresh: SharedArrayBuffer | undefined;

  constructor(register: (registration: SeriesRegistration) => void) {
    this.#register = register;
  }

  /** Room for a new series, zeroed, and known to the control thread from now on. */
  allocate(metric: string, labels: readonly string[], size: number): { cells: Float64Array; offset: number } {
    if (this.#used + size > this.#cells.length) this.#turnPage(size);
    const offset = this.#used;
    this.#used += size;
    const buffer = this.#fresh;
    this.#fresh = undefined;
    this.#register({ metric, labels, page: this.#page, offset, size, ...(buffer === undefined ? {} : { buffer }) });
    return { cells: this.#cells, offset };
  }

  #turnPage(size: number): void {
    this.#fresh = new SharedArrayBuffer(Math.max(PAGE_CELLS, size) * Float64Array.BYTES_PER_ELEMENT);
    this.#cells = new Float64Array(this.#fresh);
    this.#page += 1;
    this.#used = 0;
  }
}

/** The sum of one series over all threads. */
export interface SeriesTotal {
  readonly metric: string;
  readonly labels: readonly string[];
  readonly values: Float64Array;
}

/** The control thread's view of every slab: knows where series lie and adds them up when asked. */
export class SeriesTotals {
  readonly #pages = new Map<string, Float64Array>();
  readonly #series = new Map<
    string,
    { readonly total: SeriesTotal; readonly places: { readonly thread: number; readonly cells: Float64Array }[] }
  >();

  /** `thread` is unique over the life of the process: a restarted thread has another one. */
  register(thread: number, registration: SeriesRegistration): void {
    const pageKey = `${thread}/${registration.page}`;
    if (registration.buffer !== undefined) this.#pages.set(pageKey, new Float64Array(registration.buffer));
    const page = this.#pages.get(pageKey);
    if (page === undefined) return;
    const cells = page.subarray(registration.offset, registration.offset + registration.size);
    this.#entry(registration).places.push({ thread, cells });
  }

  /** A thread is gone: its counts stay, its memory does not. */
  retire(thread: number): void {
    for (const { total, places } of this.#series.values()) {
      for (let at = places.length - 1; at >= 0; at--) {
        const place = places[at];
        if (place?.thread !== thread) continue;
        addTo(total.values, place.cells);
        places.splice(at, 1);
      }
    }
    for (const key of this.#pages.keys()) if (key.startsWith(`${thread}/`)) this.#pages.delete(key);
  }

  *totals(): Generator<SeriesTotal> {
    for (const { total, places } of this.#series.values()) {
      const values = total.values.slice();
      for (const { cells } of places) addTo(values, cells);
      yield { metric: total.metric, labels: total.labels, values };
    }
  }

  #entry(registration: SeriesRegistration) {
    const key = JSON.stringify([registration.metric, ...registration.labels]);
    let entry = this.#series.get(key);
    if (entry === undefined) {
      const { metric, labels, size } = registration;
      entry = { total: { metric, labels, values: new Float64Array(size) }, places: [] };
      this.#series.set(key, entry);
    }
    return entry;
  }
}

function addTo(target: Float64Array, source: Float64Array): void {
  for (let at = 0; at < target.length; at++) target[at] = (target[at] ?? 0) + (source[at] ?? 0);
}
