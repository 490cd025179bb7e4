/**
 * The memory that all threads of a replica share: one row per endpoint, so that every data thread balances on the same
 * truth and the control thread can show it. 32-bit words, changed by `Atomics`; floats live in them as bit patterns.
 */
export const HEADER_WORDS = 16;
export const ROW_WORDS = 24;

export const header = {
  /** How many rows are evicted right now; zero spares the pick its scan. */
  evictedRows: 0,
} as const;

export const field = {
  /** float: moving average of outcomes, 0..1 */
  health: 0,
  /** float: moving average of seconds until the end of the body */
  latency: 1,
  pending: 2,
  requestsLow: 3,
  requestsHigh: 4,
  consecutiveFailures: 5,
  /** Ejections since the last healthy outcome. */
  timesEjected: 6,
  /** 0 active, 1 evicted, 2 being evicted (its end is not written yet) */
  evicted: 7,
  /** Two words: epoch milliseconds. */
  evictedUntil: 8,
  /** Two words: epoch milliseconds. */
  lastErrorAt: 10,
  /** Index into `errorKinds`. */
  lastErrorKind: 12,
  failures: 13,
  evictions: 14,
  /** Two words each: what calls of a language model used, and trillionths of a dollar. */
  inputTokens: 16,
  outputTokens: 18,
  cost: 20,
} as const;

export type EndpointErrorKind =
  | 'none'
  | 'dns'
  | 'connect'
  | 'connectTimeout'
  | 'tls'
  | 'reset'
  | 'protocol'
  | 'timeout'
  | 'status'
  | 'grpcStatus';

export const errorKinds: readonly EndpointErrorKind[] = [
  'none',
  'dns',
  'connect',
  'connectTimeout',
  'tls',
  'reset',
  'protocol',
  'timeout',
  'status',
  'grpcStatus',
];

export const INITIAL_HEALTH = 1;

/** Words of one buffer under the views that the fields need. */
export class RowMemory {
  readonly words: Int32Array;
  readonly longs: BigInt64Array;
  readonly #float = new Float32Array(1);
  readonly #bits = new Int32Array(this.#float.buffer);

  constructor(memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory);
    this.longs = new BigInt64Array(memory);
  }

  get rows(): number {
    return (this.words.length - HEADER_WORDS) / ROW_WORDS;
  }

  at(row: number, word: number): number {
    return HEADER_WORDS + row * ROW_WORDS + word;
  }

  load(row: number, word: number): number {
    return Atomics.load(this.words, this.at(row, word));
  }

  store(row: number, word: number, value: number): void {
    Atomics.store(this.words, this.at(row, word), value);
  }

  add(row: number, word: number, delta: number): number {
    return Atomics.add(this.words, this.at(row, word), delta);
  }

  loadFloat(row: number, word: number): number {
    return this.#toFloat(this.load(row, word));
  }

  storeFloat(row: number, word: number, value: number): void {
    this.store(row, word, this.#toBits(value));
  }

  /** Epoch milliseconds of a two-word field. */
  loadTime(row: number, word: number): number {
    return Number(Atomics.load(this.longs, this.at(row, word) >> 1));
  }

  storeTime(row: number, word: number, epochMs: number): void {
    Atomics.store(this.longs, this.at(row, word) >> 1, BigInt(Math.round(epochMs)));
  }

  loadLong(row: number, word: number): bigint {
    return Atomics.load(this.longs, this.at(row, word) >> 1);
  }

  addLong(row: number, word: number, delta: bigint): void {
    Atomics.add(this.longs, this.at(row, word) >> 1, delta);
  }

  /** Records a sample in a moving average: an average of exactly 0 is replaced, others move by three tenths. */
  average(row: number, word: number, sample: number): void {
    const at = this.at(row, word);
    for (;;) {
      const before = Atomics.load(this.words, at);
      const old = this.#toFloat(before);
      const after = this.#toBits(old === 0 ? sample : 0.3 * sample + 0.7 * old);
      if (before === after || Atomics.compareExchange(this.words, at, before, after) === before) return;
    }
  }

  #toFloat(bits: number): number {
    this.#bits[0] = bits;
    return this.#float[0] ?? 0;
  }

  #toBits(value: number): number {
    this.#float[0] = value;
    return this.#bits[0] ?? 0;
  }
}
