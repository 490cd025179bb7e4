import { GwError } from '../../src/shared/errors.ts';
import { RowLedger } from '../shared-rows/row-ledger.ts';
import { field, header, HEADER_WORDS, INITIAL_HEALTH, ROW_WORDS, RowMemory } from './endpoint-rows.ts';
import { EndpointView, type EndpointInfo, type EndpointSpending } from './endpoint-view.ts';

/** 4 MiB of address space; pages are only backed once their rows are used. */
const DEFAULT_CAPACITY = 65_536;

/**
 * The endpoint state of a replica, owned by the control thread. A row belongs to an identity (who the endpoint is), not
 * to a configuration: a reload that keeps the definition keeps its numbers.
 */
export class EndpointStore {
  /** Handed to the data threads, which see it through an `EndpointView`. */
  readonly buffer: SharedArrayBuffer;
  readonly #memory: RowMemory;
  readonly #view: EndpointView;
  readonly #ledger: RowLedger;

  constructor(capacity: number = DEFAULT_CAPACITY) {
    this.buffer = new SharedArrayBuffer((HEADER_WORDS + capacity * ROW_WORDS) * Int32Array.BYTES_PER_ELEMENT);
    this.#memory = new RowMemory(this.buffer);
    this.#view = new EndpointView(this.buffer);
    this.#ledger = new RowLedger({
      rows: this.#memory.rows,
      reset: (row) => this.#reset(row),
      released: (row) => this.#endEviction(row),
      full: (rows) =>
        new GwError(`the configuration has more than ${rows} backend endpoints`, {
          code: 'GW_TOO_MANY_ENDPOINTS',
          hint: 'split the configuration over several gateways',
        }),
    });
  }

  /** The row of an identity, made on first use; `release` gives it back. Throws `GW_TOO_MANY_ENDPOINTS`. */
  acquire(identity: string): number {
    return this.#ledger.acquire(identity);
  }

  /** All or nothing: when the rows do not suffice, none is taken. */
  acquireAll(identities: Iterable<string>): Map<string, number> {
    return this.#ledger.acquireAll(identities);
  }

  release(identity: string): void {
    this.#ledger.release(identity);
  }

  releaseAll(identities: Iterable<string>): void {
    this.#ledger.releaseAll(identities);
  }

  /** Undefined for an identity that no configuration uses. */
  describe(identity: string, nowMs: number): EndpointInfo | undefined {
    const row = this.#ledger.rowOf(identity);
    return row === undefined ? undefined : this.#view.describe(row, nowMs);
  }

  spending(identity: string): EndpointSpending | undefined {
    const row = this.#ledger.rowOf(identity);
    return row === undefined ? undefined : this.#view.spending(row);
  }

  #reset(row: number): void {
    const memory = this.#memory;
    this.#endEviction(row);
    for (let word = 0; word < ROW_WORDS; word++) memory.store(row, word, 0);
    memory.storeFloat(row, field.health, INITIAL_HEALTH);
  }

  #endEviction(row: number): void {
    const memory = this.#memory;
    const was = Atomics.exchange(memory.words, memory.at(row, field.evicted), 0);
    if (was === 1) Atomics.sub(memory.words, header.evictedRows, 1);
  }
}
